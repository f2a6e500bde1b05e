import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type ScriptedAnswer, type TestGateway } from '../../../test/support/gateway.js';

const results = '/messages/batches/msgbatch_1/results';
const API = 'https://api.anthropic.com/v1';

let gateway: TestGateway;
afterEach(() => gateway.close());

async function asked(answer: ScriptedAnswer, path = '/v1/messages/batches/msgbatch_1', method = 'GET') {
  const pinned = { providerId: 'anthropic', customHost: 'https://models.example/claude/v1', fields: {} };
  const virtualKeys = { claude: 'anthropic', pinned };
  gateway = await aGateway({ answers: [answer], virtualKeys });
  return (slug = 'claude', headers: Record<string, string> = {}) =>
    gateway.request(path, { method, headers: { 'x-gateway-virtual-key': slug, ...headers } });
}
const told = (url: string | null): string =>
  `{ "id":"msgbatch_1",\n "results_url" : ${JSON.stringify(url)}, "note":"\\"results_url\\":\\"${API}/x\\" ü\\ud800", "big": 12345678901234567890 }`;

describe('the address of the results of a batch', () => {
  it.each([
    ['as it is told', told(API + results)],
    ['with escaped slashes', told('LINK').replace('LINK', (API + results).replaceAll('/', '\\/'))],
    ['in a list', `{"data":[${told(API + results)},${told(null)},${told(API + results)}]}`],
  ])('leads to the gateway, %s, and no other byte changes', async (_, body) => {
    const ask = await asked({ chunks: [body] });
    const answer = await ask('claude', { 'accept-encoding': 'gzip' });
    const here = `"${gateway.url}/v1${results}"`;
    const expected = [API + results, (API + results).replaceAll('/', '\\/')].reduce(
      (text, link) => text.replaceAll(`"${link}"`, here),
      body,
    );

    expect(expected).toContain(here);
    expect(await answer.text()).toBe(expected);
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(expected)));
    expect(gateway.calls[0]?.headers.join(' ')).toContain('accept-encoding identity');
    expect(gateway.logs[0]?.record).toMatchObject({ status: 200, ending: 'completed' });
  });

  it.each([API, 'https://models.example/claude/v1'])(
    "leads here from the provider's own host and from the pinned one: %s",
    async (base) => {
      const ask = await asked({ chunks: [told(base + results)] }, '/v1/messages/batches', 'POST');

      expect(await (await ask('pinned')).json()).toMatchObject({
        results_url: `${gateway.url}/v1${results}`,
      });
    },
  );

  it('is of the scheme by which the client came to the proxy in front', async () => {
    const ask = await asked({ chunks: [told(API + results)] });
    const answer = await ask('claude', { 'x-forwarded-proto': 'https' });

    expect(await answer.json()).toMatchObject({
      results_url: `${gateway.url.replace('http:', 'https:')}/v1${results}`,
    });
  });

  it.each([
    ['leads elsewhere', '/v1/messages/batches/1', 200, 'https://elsewhere.example/v1/x'],
    ['only begins alike', '/v1/messages/batches/1', 200, 'https://api.anthropic.com.example/v1/x'],
    ['stands in another answer', '/v1/models/1', 200, API + results],
    ['stands in a refusal', '/v1/messages/batches/1', 400, API + results],
    ['is not there yet', '/v1/messages/batches/1', 200, null],
  ] as const)('is left as it is where it %s', async (_, path, status, url) => {
    const ask = await asked({ status, chunks: [told(url)] }, path);

    expect(await (await ask()).text()).toBe(told(url));
  });

  it('is not mentioned by a response that breaks off', async () => {
    const ask = await asked({ chunks: ['{"results_url":'], error: new Error('gone'), status: 200 });
    const answer = await ask();

    expect([answer.status, await answer.json()]).toMatchObject([502, { error: { code: 'upstream_error' } }]);
    expect(gateway.logs.map(({ record }) => record)).toMatchObject([
      { status: 502, ending: 'upstream_truncated' },
    ]);
  });
});
