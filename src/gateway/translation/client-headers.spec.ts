import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

let gateway: TestGateway;
afterEach(() => gateway.close());

const PROVIDERS = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'google',
  cohere: 'cohere',
  router: 'openrouter',
};
type HeaderTestProvider = keyof typeof PROVIDERS;
const BODIES: Readonly<Record<string, object>> = {
  'chat/completions': { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  responses: { model: 'm', input: 'Hi' },
};
const OF_ANTHROPIC = { 'anthropic-beta': 'a', 'x-claude-code-session-id': 'b', 'x-app': 'cli' };
const OF_OPENAI = {
  'openai-beta': 'c',
  'openai-project': 'd',
  originator: 'codex_exec',
  'x-client-request-id': 'h',
  'thread-id': 'e',
};
const OF_OPENCODE = { 'x-session-id': 'f', 'x-session-affinity': 'g' };
const OF_SDKS = { 'x-stainless-lang': 'js' };
const OWN = { 'x-team': 'blue' };
const OF_TRACES = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
  baggage: 'tenant=blue',
};
const PASSED = { ...OF_ANTHROPIC, ...OF_OPENAI, ...OF_OPENCODE, ...OF_SDKS, ...OWN };
const SENT = { ...PASSED, ...OF_TRACES };

/** The headers of the request that reach the provider. */
async function received(
  path: string,
  slug: HeaderTestProvider,
  config?: object,
): Promise<Readonly<Record<string, string>>> {
  gateway = await aGateway({ virtualKeys: PROVIDERS });
  await gateway.request(`/v1/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-virtual-key': slug,
      ...(config && { 'x-gateway-config': JSON.stringify({ ...config, virtual_key: slug }) }),
      ...SENT,
    },
    body: JSON.stringify(BODIES[path]),
  });
  const names = gateway.calls[0]?.headers ?? [];
  const pairs = names.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), names[at + 1] ?? '']] : [],
  );
  return Object.fromEntries(pairs.filter(([name = '']) => Object.hasOwn(SENT, name))) as Record<
    string,
    string
  >;
}

describe("the headers of a client's own API", () => {
  it.each([
    ['messages', 'openai', { ...OF_OPENAI, ...OF_OPENCODE }],
    ['messages', 'google', {}],
    ['messages', 'cohere', {}],
    ['chat/completions', 'anthropic', OF_ANTHROPIC],
    ['chat/completions', 'google', {}],
    ['responses', 'anthropic', OF_ANTHROPIC],
    ['responses', 'cohere', {}],
  ] as const)('go from %s only to a provider that reads them: %s', async (path, slug, known) => {
    expect(await received(path, slug)).toEqual({ ...known, ...OWN });
  });

  it.each([
    ['messages', 'anthropic'],
    ['messages', 'router'],
    ['chat/completions', 'openai'],
    ['responses', 'openai'],
  ] as const)('pass with an untranslated request of %s to %s', async (path, slug) => {
    expect(await received(path, slug)).toEqual(PASSED);
  });

  it('pass where the config forwards them', async () => {
    const forwarded = await received('messages', 'google', { forward_headers: ['x-app', 'anthropic-beta'] });
    expect(forwarded).toEqual({ ...OWN, 'x-app': 'cli', 'anthropic-beta': 'a' });
  });

  it.each(['chat/completions', 'messages'])(
    'of traces leave with %s only if the config forwards them',
    async (path) => {
      expect(await received(path, 'openai')).not.toHaveProperty('traceparent');
      await gateway.close();
      const forward_headers = Object.keys(OF_TRACES);
      expect(await received(path, 'openai', { forward_headers })).toMatchObject(OF_TRACES);
    },
  );
});
