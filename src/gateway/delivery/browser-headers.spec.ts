import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type ScriptedAnswer, type TestGateway } from '../../../test/support/gateway.js';
import { ORIGIN_HEADERS, originHeadersTable } from '../upstream/origin-headers.js';

let gateway: TestGateway | null = null;
afterEach(async () => {
  await gateway?.close();
  gateway = null;
});

const HOSTILE = Object.fromEntries([...ORIGIN_HEADERS].map((name) => [name, 'x']));
const said = JSON.stringify({ model: 'm', choices: [{ message: { role: 'assistant', content: 'Fine' } }] });
const answer = (more: Partial<ScriptedAnswer> = {}): ScriptedAnswer => ({
  chunks: [said],
  ...more,
  headers: { 'content-type': 'application/json', 'x-theirs': 'kept', ...HOSTILE, ...more.headers },
});
const BODY = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const config = (value: object) => ({ 'x-gateway-config': JSON.stringify(value) });
const TARGET = { virtual_key: 'openai-prod' };
const DENYING = { 'default.contains': { operator: 'none', words: ['Fine'] }, deny: true };

describe("a provider's headers for the whole origin", () => {
  it.each<[string, ScriptedAnswer, Record<string, string>]>([
    ['a plain response', answer(), {}],
    ['a refusal', answer({ status: 429 }), {}],
    [
      'a stream',
      answer({ headers: { 'content-type': 'text/event-stream' }, chunks: ['data: {"choices":[]}\n\n'] }),
      {},
    ],
    ['a translated response', answer(), { 'x-gateway-virtual-key': 'claude' }],
    ['a judged response', answer(), config({ ...TARGET, output_guardrails: [{ 'default.pii': {} }] })],
    ['a withheld response', answer(), config({ ...TARGET, output_guardrails: [DENYING] })],
    ['a response that is cached', answer(), { 'x-gateway-cache': 'simple' }],
  ])('do not reach the client: %s', async (_, given, headers) => {
    gateway = await aGateway({ answers: [given], virtualKeys: { claude: 'anthropic' } });
    for (let round = 0; round < 2; round++) {
      const response = await gateway.chat(BODY, headers);
      await response.text();

      expect([...response.headers.keys()].filter((name) => ORIGIN_HEADERS.has(name))).toEqual([]);
      expect(response.headers.get('x-theirs')).toBe('kept');
    }
  });
});

describe('an error of the gateway', () => {
  it('is never taken for a page by a browser; a response of a provider gets no header that it lacks', async () => {
    gateway = await aGateway({ answers: [answer({ status: 400 })] });
    const { chat, request } = gateway;
    const sniffing = (response: Response): string | null => response.headers.get('x-content-type-options');

    expect(sniffing(await request('/v1/chat/completions', { method: 'POST', body: '{' }))).toBe('nosniff');
    expect(sniffing(await chat(BODY, { 'x-gateway-api-key': 'gw_ws_wrong' }))).toBe('nosniff');
    const withheld = await chat(BODY, config({ ...TARGET, output_guardrails: [DENYING] }));
    expect([withheld.status, sniffing(withheld)]).toEqual([446, 'nosniff']);
    expect(sniffing(await chat(BODY))).toBeNull();
  });
});

describe('a withheld response', () => {
  it("is final for clients that retry, whatever the provider's header says", async () => {
    gateway = await aGateway({ answers: [answer({ headers: { 'x-should-retry': 'true' } })] });
    const withheld = await gateway.chat(BODY, config({ ...TARGET, output_guardrails: [DENYING] }));

    expect([withheld.status, withheld.headers.get('x-should-retry')]).toEqual([446, 'false']);
  });
});

describe('the table of headers in docs/clients.md', () => {
  it('is the one whose headers are tested here', async () => {
    const page = await readFile(new URL('../../../docs/clients.md', import.meta.url), 'utf8');

    expect(page).toContain(`\n${originHeadersTable()}\n`);
  });
});
