import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

const GOOGLE = 'https://generativelanguage.googleapis.com';
const OWN_HOST = { providerId: 'openai', customHost: 'https://models.example/v1', fields: {} };
const USAGE = '{"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":10,"totalTokenCount":110}}';
const BODY = '{"contents":[{"parts":[{"text":"Hi"}]}]}';

let gateway: TestGateway;
afterEach(() => gateway.close());

/** Sends a request in Google's format, without a header that names a provider unless `headers` has one. */
async function send(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  gateway = await aGateway({
    virtualKeys: { goo: 'google', claude: 'anthropic', own: OWN_HOST, raw: 'palm' },
    answers: [{ headers: { 'content-type': 'application/json' }, chunks: [USAGE] }],
  });
  return gateway.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': '', ...headers },
    body: BODY,
  });
}

const METHODS = ['generateContent', 'streamGenerateContent', 'countTokens', 'embedContent', 'predict'];
const VERSIONS = ['/v1', '/v1beta', '/v1alpha'];

describe("@slug/model in the path of Google's clients", () => {
  it.each(
    VERSIONS.flatMap((version) =>
      METHODS.flatMap((method) =>
        ['@goo/', '%40goo%2F', '@goo%2f'].map((slug) => [version, slug, method] as const),
      ),
    ),
  )('chooses the virtual key, and the model is sent without it: %s/models/%sm:%s', async (...call) => {
    const [version, slug, method] = call;
    const response = await send(`${version}/models/${slug}gpt-4o-mini:${method}?alt=sse`);

    expect(response.status).toBe(200);
    expect(`${gateway.calls[0]?.target.origin}${gateway.calls[0]?.path}`).toBe(
      `${GOOGLE}${version}/models/gpt-4o-mini:${method}?alt=sse`,
    );
    expect(gateway.calls[0]?.body).toEqual(Buffer.from(BODY));
  });

  it('is metered as the plain model', async () => {
    await send('/v1beta/models/@goo/gpt-4o-mini:generateContent');

    expect(await gateway.logged()).toMatchObject({
      endpoint: 'generate-content',
      model: 'gpt-4o-mini',
      usage: { input_tokens: 100, output_tokens: 10 },
    });
  });

  it.each([
    ['/v1/proxy/models/@goo/m:generateContent', '/v1beta/models/@goo/m:generateContent'],
    ['/v1beta/models/@cf/meta/m:run', '/v1beta/models/@cf/meta/m:run'],
  ])('is left as it is where it is none: %s', async (path, sent) => {
    await send(path, { 'x-gateway-virtual-key': 'goo' });

    expect(gateway.calls[0]?.path).toBe(sent);
  });
});

describe("a request in Google's format", () => {
  it.each(
    ['openai-prod', 'claude', 'own'].flatMap((slug) => [
      [slug, '/v1beta', 'generateContent'],
      [slug, '/v1', 'streamGenerateContent'],
      [slug, '/v1alpha', 'countTokens'],
      [slug, '/v1beta', 'embedContent'],
      [slug, '/v1beta', 'batchEmbedContents'],
    ]),
  )('is never sent to a provider of another format: %s%s:%s', async (slug, version, method) => {
    for (const [path, key] of [
      [`${version}/models/m:${method}`, slug],
      [`${version}/models/@${slug}/m:${method}`, ''],
    ] as const) {
      const response = await send(path, { 'x-gateway-virtual-key': key ?? '' });
      const text = await response.text();

      expect([response.status, gateway.calls.length]).toEqual([400, 0]);
      expect(text).toContain('endpoint_unsupported');
      expect(text).toMatch(
        /Use a virtual key of Google, .* or send it to \/v1\/(chat\/completions|embeddings)/,
      );
    }
  });

  it('is forwarded to a provider whose own API the catalogue does not describe', async () => {
    const response = await send('/v1beta/models/m:generateContent', { 'x-gateway-virtual-key': 'raw' });

    expect([response.status, gateway.calls.length]).toEqual([200, 1]);
  });

  it('moves a fallback to Google', async () => {
    const targets = [{ virtual_key: 'claude' }, { virtual_key: 'goo' }];
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets });
    const response = await send('/v1beta/models/m:generateContent', { 'x-gateway-config': config });

    expect([response.status, gateway.calls.map(({ target }) => target.origin)]).toEqual([200, [GOOGLE]]);
  });
});
