import { jsonText } from '../../src/common/json/deep-json.js';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/common/errors/app-error.js';
import type { Dialect } from '../../src/providers/dialect.js';
import { cohere } from '../../src/providers/dialects/cohere/index.js';
import { jina, voyage } from '../../src/providers/dialects/rerankers/index.js';
import type { EndpointId, Json } from '../../src/providers/endpoint.js';
import { responsesFormat } from '../../src/providers/client-formats/responses/index.js';
import { chatCompletionsUsage } from '../../src/providers/endpoints/chat-completions.js';
import type { Context, HubError, TranslatedEvent, Translator } from '../../src/providers/translation.js';

/** What was parsed from JSON, for tests that reach deep into it. */
type Loose = ReturnType<typeof JSON.parse>;

interface Recording {
  readonly title: string;
  readonly dialect?: 'jina' | 'voyage';
  readonly endpoint?: EndpointId;
  readonly hub?: Json;
  readonly path?: string;
  readonly request?: Json;
  readonly answer?: Json;
  readonly hubAnswer?: Json;
  readonly events?: readonly Json[];
  readonly deltas?: readonly Json[];
  readonly finish?: string;
  readonly usage?: Json;
  readonly refusals?: readonly Refusal[];
}

interface Refusal {
  readonly dialect: 'cohere' | 'jina' | 'voyage';
  readonly status: number;
  readonly body: Json | null;
  readonly error: HubError;
}

const folder = new URL('recordings/cohere/', import.meta.url);
const recordings = readdirSync(folder).map(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Recording,
);
const dialects: Readonly<Record<string, Dialect>> = { cohere, jina, voyage };

const context: Context = {
  id: '0199-x',
  created: 1741476542,
  model: 'command-a-03-2025',
  isStreamed: false,
  fields: {},
  isStrict: true,
};
const loose: Context = { ...context, isStrict: false };

function translator(endpoint: EndpointId, dialect: string = 'cohere'): Translator {
  const found = dialects[dialect]?.translators?.[endpoint];
  if (!found) throw new Error('there is none');
  return found;
}

const chat = translator('chat-completions');
const body = (hub: Json, given = context): Loose =>
  chat.request({ messages: [{ role: 'user', content: 'hi' }], ...hub }, given).body;
const turns = (messages: readonly Json[]): Loose => body({ messages }).messages;
const answer = (fields: Json, given = context): Loose => chat.answer(fields, given, {});

function stream(events: readonly Json[], given = context): TranslatedEvent[] {
  const state = chat.stream?.open(given);
  if (!state) throw new Error('does not stream');
  return [...events.map((event) => state.event({ event: null, data: JSON.stringify(event) })), state.end()];
}

const chunksOf = (events: readonly Json[], given = context): Loose[] =>
  stream(events, given).flatMap(({ chunks }) => chunks);

describe('the recordings', () => {
  const calls = recordings.filter(({ hub }) => hub);

  it.each(calls)('become requests: $title', ({ dialect, endpoint = 'rerank', hub = {}, path, request }) => {
    const asked = { ...context, model: hub.model as string };

    expect(translator(endpoint, dialect).request(hub, asked)).toStrictEqual({ path, body: request });
  });

  it.each(calls)(
    'become responses of the hub: $title',
    ({ dialect, endpoint = 'rerank', hub = {}, ...it }) => {
      const asked = { ...context, model: hub.model as string };

      expect(translator(endpoint, dialect).answer(it.answer ?? {}, asked, hub)).toStrictEqual(it.hubAnswer);
    },
  );

  it.each(recordings.filter(({ events }) => events))('are streamed: $title', ({ events = [], ...it }) => {
    const told = stream(events);
    const chunks: Loose[] = told.flatMap(({ chunks }) => chunks);
    const choices = chunks.flatMap((chunk) => chunk.choices);

    expect(choices.map(({ delta }) => delta)).toEqual(it.deltas);
    expect(choices.at(-1).finish_reason).toBe(it.finish);
    expect(chunks.at(-1)).toMatchObject({ object: 'chat.completion.chunk', choices: [], usage: it.usage });
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set([events[0]?.id]));
    expect(told.filter(({ isDone }) => isDone)).toEqual([told.at(-2)]);
  });

  it.each(recordings.flatMap(({ refusals = [] }) => refusals))(
    'are refusals: $dialect says $status',
    ({ dialect, status, body: refused, error }) => {
      for (const one of Object.values(dialects[dialect]?.translators ?? {}))
        expect(one.error(status, refused)).toEqual(error);
    },
  );
});

describe('a chat request to Cohere', () => {
  it.each<[string, Json, Json]>([
    [
      'documents and citations',
      { documents: ['a'], citation_options: { mode: 'FAST' } },
      { documents: ['a'], citation_options: { mode: 'FAST' } },
    ],
    ['stop sequences', { stop: ['a', 'b'] }, { stop_sequences: ['a', 'b'] }],
    ['JSON', { response_format: { type: 'json_object' } }, { response_format: { type: 'json_object' } }],
    ['no format for text', { response_format: { type: 'text' } }, {}],
    ['no effort', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    ['an effort, which is what the models do', { reasoning_effort: 'high' }, {}],
    [
      'a budget',
      { thinking: { type: 'enabled', budget_tokens: 99 } },
      { thinking: { type: 'enabled', token_budget: 99 } },
    ],
    ['no thinking', { thinking: { type: 'disabled' } }, { thinking: { type: 'disabled' } }],
    [
      'nothing for what changes no answer',
      { user: 'u', metadata: {}, store: false, n: 1, service_tier: 'auto', logprobs: false, top_logprobs: 0 },
      {},
    ],
    ['nothing for null', { temperature: null, n: null, tools: null }, {}],
    ['no choice where there are no tools', { tool_choice: 'required', parallel_tool_calls: true }, {}],
  ])('brings %s', (_, hub, expected) => {
    expect(body(hub)).toStrictEqual({
      model: context.model,
      messages: [{ role: 'user', content: 'hi' }],
      stream: false,
      ...expected,
    });
  });

  const tool = (name: string) => ({ type: 'function', function: { name } });

  it.each<[unknown, string | undefined, string[]]>([
    ['auto', undefined, ['a', 'b']],
    ['none', 'NONE', ['a', 'b']],
    ['required', 'REQUIRED', ['a', 'b']],
    [tool('b'), 'REQUIRED', ['b']],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool('a')] } }, undefined, ['a']],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [tool('a')] } }, 'REQUIRED', ['a']],
  ])('says the choice %j', (tool_choice, mode, names) => {
    const made = body({ tools: [tool('a'), tool('b')], tool_choice });

    expect(made.tool_choice).toBe(mode);
    expect(made.tools.map((it: Loose) => it.function.name)).toEqual(names);
    expect(made.tools[0].function.parameters).toEqual({ type: 'object', properties: {} });
  });

  it.each<[string, Json]>([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['top_logprobs', { top_logprobs: 2 }],
    ['logit_bias', { logit_bias: { 5: 1 } }],
    ['parallel_tool_calls', { parallel_tool_calls: false }],
    ['audio', { audio: { voice: 'x' } }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['web_search_options', { web_search_options: {} }],
    ['tools', { tools: [{ type: 'custom', custom: { name: 'c' } }] }],
    [
      'messages[].content[].type',
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
    ],
    ['messages[].content[].type', { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] }],
    ['messages', { messages: [{ role: 'function', content: 'x' }] }],
  ])('is refused by name for %s', (parameter, hub) => {
    expect(() => body(hub)).toThrow(
      expect.objectContaining({
        code: 'parameter_unsupported',
        details: expect.objectContaining({ parameter }),
      }),
    );
  });

  it('gives the reasoning of earlier turns back', () => {
    const blocks = [
      { type: 'thinking', thinking: 'why' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'so' },
    ];
    const expected = [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'why' },
          { type: 'text', text: 'so' },
        ],
      },
    ];

    expect(turns([{ role: 'assistant', content: 'so', content_blocks: blocks }])).toEqual(expected);
    expect(turns([{ role: 'assistant', content: 'so', reasoning_content: 'why' }])).toEqual(expected);
    expect(turns([{ role: 'assistant', content: blocks }])).toEqual(expected);
  });

  it('keeps thinking and plan beside calls, and documents in results of tools', () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const document = { type: 'document', document: { data: { a: 1 } } };

    expect(
      turns([
        { role: 'assistant', content: 'I look.', reasoning_content: 'why', tool_calls: calls },
        { role: 'tool', tool_call_id: 'a', content: [document, { type: 'text', text: 'x' }] },
      ]),
    ).toEqual([
      {
        role: 'assistant',
        tool_plan: 'I look.',
        content: [{ type: 'thinking', thinking: 'why' }],
        tool_calls: calls,
      },
      { role: 'tool', tool_call_id: 'a', content: [document, { type: 'text', text: 'x' }] },
    ]);
  });
});

describe("Cohere's response", () => {
  it.each([
    ['COMPLETE', 'stop'],
    ['STOP_SEQUENCE', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['TOOL_CALL', 'tool_calls'],
    ['ERROR', 'length'],
    ['TIMEOUT', 'length'],
    ['NEVER_HEARD', 'stop'],
  ])('that ended with %s ended with %s', (finish_reason, hub) => {
    expect(answer({ finish_reason }).choices[0].finish_reason).toBe(hub);
    expect(answer({ finish_reason }, loose).choices[0].native_finish_reason).toBe(finish_reason);
  });

  const web = {
    start: 0,
    end: 2,
    sources: [{ type: 'document', document: { url: 'https://a', title: 'A' } }],
  };
  const tool = { start: 3, end: 4, sources: [{ type: 'tool', id: 't', tool_output: { a: 1 } }] };
  const plan = { ...web, type: 'PLAN' };

  it('cites documents on the web as the hub does, and everything when not strict', () => {
    const message = { content: [{ type: 'text', text: 'so it is' }], citations: [web, tool, plan] };
    const annotations = [
      { type: 'url_citation', url_citation: { url: 'https://a', title: 'A', start_index: 0, end_index: 2 } },
    ];

    expect(answer({ message }).choices[0].message).toEqual({
      role: 'assistant',
      refusal: null,
      content: 'so it is',
      annotations,
    });
    expect(answer({ message }, loose).choices[0].message).toMatchObject({
      annotations,
      citations: [web, tool, plan],
    });
  });

  it('has thinking as reasoning, and as blocks when not strict', () => {
    const content = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'so' },
    ];
    const { message } = answer({ message: { content } }, loose).choices[0];

    expect(message).toMatchObject({ content: 'so', reasoning_content: 'hm', content_blocks: content });
    expect(answer({ message: { content } }).choices[0].message).not.toHaveProperty('content_blocks');
    expect(turns([message])).toEqual([{ role: 'assistant', content }]);
  });

  it('has the billed usage', () => {
    const usage = {
      billed_units: { input_tokens: 5, output_tokens: 7 },
      tokens: { input_tokens: 90, output_tokens: 80 },
    };

    expect(chatCompletionsUsage.fromAnswer(answer({ usage }))).toEqual({ input_tokens: 5, output_tokens: 7 });
    expect(answer({ usage: { billed_units: { input_tokens: -1, output_tokens: 7 } } })).not.toHaveProperty(
      'usage',
    );
  });
});

describe("Cohere's stream", () => {
  it('breaks off with what Cohere says', () => {
    const end = { type: 'message-end', delta: { error: 'no luck', finish_reason: 'ERROR' } };

    expect(stream([end])[0]).toEqual({
      chunks: [],
      error: { message: 'no luck', type: 'server_error', code: null, param: null },
    });
    expect(stream([{ message: 'too many tokens' }])[0]?.error?.message).toBe('too many tokens');
    expect(stream([{ type: 'message-end', delta: { finish_reason: 'TIMEOUT' } }])[0]?.error).toMatchObject({
      message: 'Cohere returned status 504.',
      type: 'timeout_error',
    });
  });

  it('is not done before Cohere ends it', () => {
    expect(stream([{ type: 'message-start', id: 'a' }]).some(({ isDone }) => isDone)).toBe(false);
  });

  it('skips what is no JSON, and events that it does not know', () => {
    const state = chat.stream?.open(context);

    for (const data of [
      '[DONE]',
      '',
      '{',
      '[]',
      '{"type":"debug","prompt":"x"}',
      '{"type":"tool-call-delta","index":9}',
    ])
      expect(state?.event({ event: null, data }).chunks).toEqual([]);
  });

  it('has blocks, citations and its own word for the end when not strict', () => {
    const recording = recordings.find(
      ({ title }) => title === 'a streamed chat with thinking and a citation',
    );
    const choices = chunksOf(recording?.events ?? [], loose).flatMap(({ choices }) => choices);

    expect(choices[1].delta).toEqual({
      reasoning_content: 'Soft drink?',
      content_blocks: [{ index: 0, delta: { thinking: 'Soft drink?' } }],
    });
    expect(choices[3].delta.citations).toHaveLength(1);
    expect(choices.at(-1).native_finish_reason).toBe('COMPLETE');
  });
});

describe("OpenAI's responses requested from Cohere", () => {
  const asked = {
    model: 'command-a-03-2025',
    stream: true,
    instructions: 'Be brief.',
    max_output_tokens: 9,
    parallel_tool_calls: true,
    tools: [{ type: 'function', name: 'get_weather', parameters: { type: 'object' }, strict: false }],
    input: [
      { role: 'user', content: 'Madrid?' },
      { type: 'function_call', call_id: 'a', name: 'get_weather', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: '20C' },
    ],
  };

  it('go there', () => {
    const hub = responsesFormat.request(asked, loose);

    expect(
      chat.request({ ...hub, stream_options: { include_usage: true } }, { ...loose, isStreamed: true }).body,
    ).toEqual({
      model: 'command-a-03-2025',
      stream: true,
      max_tokens: 9,
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Madrid?' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: '20C' },
      ],
    });
  });

  it('come back', () => {
    const recording = recordings.find(
      ({ title }) => title === 'a streamed chat with thinking and a citation',
    );
    const state = responsesFormat.open(asked, loose);
    const events = [
      ...chunksOf(recording?.events ?? [], loose).flatMap((chunk) => state.chunk(chunk)),
      ...state.end(),
    ];

    expect(JSON.parse(events.at(-1)?.data ?? '').response).toMatchObject({
      status: 'completed',
      output: [
        { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Soft drink?' }] },
        { type: 'message', content: [{ text: 'Coca-Cola', annotations: [{ url: 'https://coke.example' }] }] },
      ],
      usage: { input_tokens: 21, output_tokens: 105 },
    });
  });
});

describe('embeddings and rankings', () => {
  it.each(['cohere', 'jina', 'voyage'])('take no tokens: %s', (dialect) => {
    for (const input of [[1, 2], [[1, 2]]])
      expect(() => translator('embeddings', dialect).request({ input }, context)).toThrow(
        expect.objectContaining({ code: 'parameter_unsupported' }),
      );
  });

  it('request numbers from Cohere, in the configured type', () => {
    const request = (hub: Json) => translator('embeddings').request(hub, context).body;

    expect(request({ input: 'a', encoding_format: 'base64' })).toEqual({
      model: context.model,
      texts: ['a'],
      input_type: 'search_document',
      embedding_types: ['float'],
    });
    expect(
      request({ images: ['data:image/png;base64,AA'], input_type: 'image', embedding_types: ['int8'] }),
    ).toEqual({
      model: context.model,
      images: ['data:image/png;base64,AA'],
      input_type: 'image',
      embedding_types: ['int8'],
    });
  });

  it('have the kind that Cohere sent', () => {
    const data = (embeddings: Json): Loose =>
      translator('embeddings').answer({ embeddings }, context, {}).data;

    expect(data({ base64: ['AAAA'] })).toEqual([{ object: 'embedding', index: 0, embedding: 'AAAA' }]);
    expect(data({ float: null, int8: [[1]] })).toEqual([{ object: 'embedding', index: 0, embedding: [1] }]);
  });

  it("come as base64 in the bytes that OpenAI's clients read", () => {
    const hub = { encoding_format: 'base64' };
    const read: Loose = translator('embeddings').answer({ embeddings: { float: [[1, -0.5]] } }, context, hub);
    const bytes = Buffer.from(read.data[0].embedding as string, 'base64');

    expect([bytes.length, bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([8, 1, -0.5]);
  });

  it('request base64 from Voyage by the only format that it knows', () => {
    const { body: made } = translator('embeddings', 'voyage').request(
      { input: 'a', encoding_format: 'base64' },
      context,
    );

    expect(made).toEqual({ model: context.model, input: 'a', encoding_format: 'base64' });
  });
});

const names = [
  'message', 'content', 'text', 'thinking', 'tool_plan', 'tool_calls', 'function', 'name', 'arguments', 'id', 'index', 'delta', 'citations',
  'sources', 'document', 'url', 'start', 'end', 'usage', 'billed_units', 'tokens', 'input_tokens', 'output_tokens', 'finish_reason', 'error',
  'embeddings', 'float', 'results', 'data', 'relevance_score', 'meta', 'messages', 'role', 'tools', 'tool_choice', 'input', 'documents',
  'detail', 'errors', 'type', '__proto__',
]; // prettier-ignore
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.jsonValue(),
    fc.constantFrom('text', 'thinking', 'user', 'assistant', 'tool', 0),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }),
}));
const types = [
  'message-start', 'content-start', 'content-delta', 'tool-plan-delta', 'tool-call-start', 'tool-call-delta', 'citation-start', 'message-end',
]; // prettier-ignore
const every = Object.values(dialects).flatMap(({ translators = {} }) => Object.values(translators));

describe('whatever comes', () => {
  it('never throws on a response or a refusal', () => {
    fc.assert(
      fc.property(anything.object, fc.nat(599), fc.boolean(), (json, status, isStrict) => {
        for (const it of every) {
          expect(JSON.parse(JSON.stringify(it.answer(json, { ...context, isStrict }, json)))).toBeTypeOf(
            'object',
          );
          expect(it.error(status, json).message).toBeTypeOf('string');
        }
      }),
      { numRuns: 300 },
    );
  });

  it('never throws on an event, and makes chunks of the hub', () => {
    const event = fc
      .tuple(fc.constantFrom(...types), anything.object)
      .map(([type, json]) => ({ ...json, type }));

    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), fc.boolean(), (events, isStrict) => {
        for (const chunk of chunksOf(events, { ...context, isStrict })) {
          expect(chunk).toMatchObject({ object: 'chat.completion.chunk', model: context.model });
          expect(JSON.stringify(chunk)).toBeTypeOf('string');
        }
      }),
      { numRuns: 300 },
    );
  });

  it('throws nothing but the documented refusals on a request', () => {
    fc.assert(
      fc.property(anything.object, (hub) => {
        for (const it of every) {
          try {
            expect(it.request(hub, context).path.startsWith('/')).toBe(true);
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(AppError);
            expect(['invalid_request', 'parameter_unsupported']).toContain((thrown as AppError).code);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('survives nesting without end', () => {
    const deep = JSON.parse('[{"text":'.repeat(50_000) + '1' + '}]'.repeat(50_000));
    const hostile = {
      message: { content: deep, citations: deep, tool_calls: deep },
      embeddings: { float: deep },
      results: deep,
      meta: { deep },
    };

    for (const it of every) expect(jsonText(it.answer(hostile, loose, {}))).toBeTypeOf('string');
  });
});
