import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

/** Beyond what `JSON.stringify` can write. */
const TOO_DEEP = 20_000;
const deepText = (levels: number): string => '{"a":'.repeat(levels) + '{}' + '}'.repeat(levels);

const CUSTOM = { customHost: 'https://models.example', fields: {} };
const VERTEX = { 'vertex-project-id': 'my-project-1', 'vertex-region': 'europe-west4' };
const PROVIDERS = {
  anthropic: 'anthropic',
  google: 'google',
  cohere: 'cohere',
  bedrock: 'bedrock',
  vertex: { providerId: 'vertex-ai', customHost: null, fields: VERTEX },
  ollama: { providerId: 'ollama-native', ...CUSTOM },
  openai: 'openai',
} as const;
type DeepBodyProvider = keyof typeof PROVIDERS;
const SLUGS = Object.keys(PROVIDERS) as DeepBodyProvider[];

let gateway: TestGateway;
afterEach(() => gateway.close());

async function post(slug: DeepBodyProvider, path: string, body: string): Promise<Response> {
  return gateway.request(`/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': slug },
    body,
  });
}

const bodySent = (): string => (gateway.calls[0]?.body as Buffer).toString();

interface DeepBodyRefusal {
  readonly error: { readonly message: string; readonly param?: string | null };
}

/** Where a client may nest: the field that the error names, and a body with `DEEP` in its place. */
const PLACES: Readonly<Record<string, readonly (readonly [field: string, body: string])[]>> = {
  'chat/completions': [
    [
      'tools[0].function.parameters',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":DEEP}}]}',
    ],
    [
      'response_format.json_schema.schema.a',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":DEEP}}}',
    ],
    ['unknown.a.a.a', '{"model":"m","messages":[{"role":"user","content":"Hi"}],"unknown":DEEP}'],
    [
      'messages[0].content[0]',
      '{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Hi","x":DEEP}]}]}',
    ],
    [
      'messages[1].tool_calls[0]',
      '{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":DEEP}]}]}',
    ],
  ],
  messages: [
    [
      'tools[0].input_schema.a',
      '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f","input_schema":DEEP}]}',
    ],
    [
      'messages[1].content[0]',
      '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":DEEP}]}]}',
    ],
  ],
  responses: [
    [
      'tools[0].parameters.a',
      '{"model":"m","input":"Hi","tools":[{"type":"function","name":"f","parameters":DEEP}]}',
    ],
    [
      'text.format.schema.a',
      '{"model":"m","input":"Hi","text":{"format":{"type":"json_schema","name":"s","schema":DEEP}}}',
    ],
  ],
};

/** Untranslated pairs: the client's bytes pass, whatever their nesting. */
const NATIVE: readonly string[] = ['messages anthropic', 'chat/completions openai', 'responses openai'];
const isTranslated = (path: string, slug: DeepBodyProvider): boolean => !NATIVE.includes(`${path} ${slug}`);

const cells = Object.entries(PLACES).flatMap(([path, places]) =>
  places.flatMap(([field, body]) => SLUGS.map((slug) => ({ path, slug, field, body }))),
);

describe('a request that is nested too deeply to be translated', () => {
  it.each(cells.filter(({ path, slug }) => isTranslated(path, slug)))(
    'is refused by the name of its field: $path at $slug, $field',
    async ({ path, slug, field, body }) => {
      gateway = await aGateway({ virtualKeys: PROVIDERS });
      for (const levels of [3_000, TOO_DEEP]) {
        const response = await post(slug, path, body.replace('DEEP', deepText(levels)));
        const { error } = (await response.json()) as DeepBodyRefusal;
        expect([response.status, error.message]).toEqual([400, expect.stringContaining(`"${field}`)]);
      }
      expect(gateway.calls).toEqual([]);
    },
  );

  it.each(cells.filter(({ path, slug }) => !isTranslated(path, slug)))(
    'passes byte for byte where nothing is translated: $path at $slug, $field',
    async ({ path, slug, body }) => {
      gateway = await aGateway({ virtualKeys: PROVIDERS });
      const sent = body.replace('DEEP', deepText(TOO_DEEP));
      expect((await post(slug, path, sent)).status).toBe(200);
      expect(bodySent()).toBe(sent);
    },
  );

  it('is sent up to the limit', async () => {
    gateway = await aGateway({ virtualKeys: PROVIDERS });
    for (const slug of SLUGS) {
      const [, body = ''] = PLACES['chat/completions']?.[0] ?? [];
      await post(slug, 'chat/completions', body.replace('DEEP', deepText(2_000)));
    }
    for (const { body: sent } of gateway.calls)
      expect(String(sent as Buffer).split('{"a":').length).toBeGreaterThanOrEqual(2_000);
    expect(gateway.calls).toHaveLength(SLUGS.length);
  });
});

describe('arguments of an earlier tool call that are nested too deeply for a serializer', () => {
  it.each(SLUGS)('reach %s whole', async (slug) => {
    gateway = await aGateway({ virtualKeys: PROVIDERS });
    const called = { id: 'call_1', type: 'function', function: { name: 'f', arguments: deepText(TOO_DEEP) } };
    const turns = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    ];
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const model = slug === 'bedrock' ? 'anthropic.claude-sonnet-4-5' : 'm';
    await post(slug, 'chat/completions', JSON.stringify({ model, messages: turns, tools }));

    const body = bodySent();
    expect(
      body.includes(deepText(TOO_DEEP)) || body.includes(deepText(TOO_DEEP).replaceAll('"', '\\"')),
    ).toBe(true);
  });
});

/** A provider's response with a call whose arguments are `DEEP`. */
const CALLS: Readonly<Partial<Record<DeepBodyProvider, string>>> = {
  anthropic:
    '{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c","name":"f","input":DEEP}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}',
  google:
    '{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":DEEP}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}',
  vertex:
    '{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":DEEP}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}',
  bedrock:
    '{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"f","input":DEEP}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}',
  ollama:
    '{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":DEEP}}]},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":1}',
  cohere: `{"id":"c","finish_reason":"TOOL_CALL","message":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify('DEEP')}}}]},"usage":{"tokens":{"input_tokens":1,"output_tokens":1}}}`,
  openai: `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"DEEP"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
};
const ASKS: Readonly<Record<string, string>> = {
  'chat/completions': '{"model":"m","messages":[{"role":"user","content":"Hi"}]}',
  messages: '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}',
  responses: '{"model":"m","input":"Hi"}',
};
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

describe('the arguments of a call in a response that is nested too deeply for a serializer', () => {
  it.each(Object.keys(ASKS).flatMap((path) => SLUGS.map((slug) => [path, slug] as const)))(
    'reach a client of %s whole from %s',
    async (path, slug) => {
      const deep = deepText(TOO_DEEP);
      const isText = slug === 'cohere' || slug === 'openai';
      const answer = CALLS[slug]?.replace('DEEP', isText ? escaped(deep) : deep) ?? '';
      gateway = await aGateway({ virtualKeys: PROVIDERS, answers: [{ chunks: [answer] }] });
      const response = await post(slug, path, ASKS[path] ?? '');
      const text = await response.text();

      expect(response.status).toBe(200);
      expect(text.includes(path === 'messages' ? deep : escaped(deep)) || text === answer).toBe(true);
    },
  );

  it.each(Object.keys(ASKS))('reach a client of %s whole in a stream', async (path) => {
    const deep = deepText(TOO_DEEP);
    const event = `data: ${CALLS.google?.replace('DEEP', deep) ?? ''}\n\n`;
    const headers = { 'content-type': 'text/event-stream' };
    gateway = await aGateway({ virtualKeys: PROVIDERS, answers: [{ headers, chunks: [event] }] });
    const ask = JSON.stringify({ ...(JSON.parse(ASKS[path] ?? '') as object), stream: true });
    const text = await (await post('google', path, ask)).text();

    // Anthropic's and OpenAI's events have arguments as a text, which is escaped in the event.
    expect(text).toContain(escaped(deep));
  });
});
