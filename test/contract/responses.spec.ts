import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/common/errors/app-error.js';
import type { Json } from '../../src/providers/endpoint.js';
import { responsesFormat } from '../../src/providers/client-formats/responses/index.js';
import type { Context, HubError, StreamEvent } from '../../src/providers/translation.js';

interface Recording {
  readonly title: string;
  readonly asked: Json;
  readonly hubRequest?: Json;
  readonly hubAnswer?: Json;
  readonly answer?: Json;
  readonly chunks?: readonly Json[];
  readonly error?: HubError;
  readonly events?: readonly Json[];
}

/** What was parsed from JSON, for tests that reach deep into it. */
type Loose = ReturnType<typeof JSON.parse>;

const folder = new URL('recordings/responses/', import.meta.url);
const recordings = readdirSync(folder).map(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Recording,
);

const context: Context = {
  id: '0199-x',
  created: 1741476542,
  model: 'llama',
  isStreamed: false,
  fields: {},
  isStrict: false,
};

const request = (body: Json): Loose => responsesFormat.request({ model: 'm', input: 'hi', ...body }, context);
const messages = (input: unknown): Loose => request({ input }).messages;
const answer = (hub: Json, asked: Json = {}): Loose => responsesFormat.answer(hub, asked, context);
const said = (message: Json, finish_reason = 'stop', asked: Json = {}): Loose =>
  answer({ choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }] }, asked);

function stream(chunks: readonly Json[], asked: Json = {}, error?: HubError): StreamEvent[] {
  const state = responsesFormat.open(asked, context);
  const events = chunks.flatMap((chunk) => state.chunk(chunk));
  return [...events, ...(error ? state.fail(error) : state.end())];
}

const delta = (fields: Json, finish_reason: string | null = null): Json => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const parsed = (events: readonly StreamEvent[]): Loose[] => events.map(({ data }) => JSON.parse(data));

function refusal(body: Json): AppError {
  try {
    responsesFormat.request({ model: 'm', input: 'hi', ...body }, context);
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
  }
  throw new Error('was not refused');
}

describe('the recordings', () => {
  it.each(recordings.filter(({ hubRequest }) => hubRequest))(
    'become requests of the hub: $title',
    (recording) => {
      expect(responsesFormat.request(recording.asked, context)).toStrictEqual(recording.hubRequest);
    },
  );

  it.each(recordings.filter(({ hubAnswer }) => hubAnswer))('get responses: $title', (recording) => {
    expect(answer(recording.hubAnswer ?? {}, recording.asked)).toMatchObject(recording.answer ?? {});
  });

  it.each(recordings.filter(({ chunks }) => chunks))('are streamed: $title', (recording) => {
    const { chunks = [], asked, error, events = [] } = recording;
    const told = stream(chunks, asked, error);

    expect(told.map(({ event }) => event)).toEqual(events.map(({ type }) => type));
    expect(parsed(told)).toMatchObject(events as Loose);
    expectWellFormed(told);
  });

  it('have every field of a response, and no other', () => {
    const whole = recordings.find(({ title }) => title === 'a text answer');

    expect(answer(whole?.hubAnswer ?? {}, whole?.asked)).toStrictEqual(whole?.answer);
  });
});

describe('a request', () => {
  it.each<[string, Json, Json]>([
    ['effort', { reasoning: { effort: 'high', summary: 'auto' } }, { reasoning_effort: 'high' }],
    ['verbosity', { text: { verbosity: 'low' } }, { verbosity: 'low' }],
    ['plain text', { text: { format: { type: 'text' } } }, {}],
    ['JSON', { text: { format: { type: 'json_object' } } }, { response_format: { type: 'json_object' } }],
    [
      'a schema',
      { text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } } },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', schema: { type: 'object' }, strict: true },
        },
      },
    ],
    [
      'log probabilities',
      { include: ['message.output_text.logprobs'], top_logprobs: 3 },
      { logprobs: true, top_logprobs: 3 },
    ],
    ['other included things', { include: ['reasoning.encrypted_content'] }, {}],
    ['the limit', { max_output_tokens: 5 }, { max_tokens: 5 }],
    ['sampling', { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
    [
      'what goes along',
      {
        metadata: { a: 'b' },
        user: 'u',
        safety_identifier: 's',
        service_tier: 'flex',
        prompt_cache_key: 'k',
      },
      {
        metadata: { a: 'b' },
        user: 'u',
        safety_identifier: 's',
        service_tier: 'flex',
        prompt_cache_key: 'k',
      },
    ],
    ['unknown parameters', { seed: 7, top_k: 40 }, { seed: 7, top_k: 40 }],
    ['nothing for null', { temperature: null, tools: null, text: null, reasoning: null, store: null }, {}],
    [
      'nothing for what is not kept or has no meaning',
      { store: false, truncation: 'disabled', background: false },
      {},
    ],
    [
      'no words about tools that are not there',
      { tools: [], tool_choice: 'auto', parallel_tool_calls: true },
      {},
    ],
  ])('brings %s', (_, body, hub) => {
    expect(request(body)).toStrictEqual({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...hub });
  });

  it.each<[unknown, unknown]>([
    ['none', 'none'],
    ['required', 'required'],
    [
      { type: 'custom', name: 'c' },
      { type: 'function', function: { name: 'c' } },
    ],
    [
      { type: 'function', namespace: 'agents', name: 'close' },
      { type: 'function', function: { name: 'agents__close' } },
    ],
    [
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
    ],
  ])('says the choice %j as the hub does', (tool_choice, hub) => {
    const tools = [{ type: 'function', name: 'f', parameters: null, strict: null }];

    expect(request({ tools, tool_choice, parallel_tool_calls: false })).toMatchObject({
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: hub,
      parallel_tool_calls: false,
    });
  });

  it('has custom tools as functions of one text, with their grammar in the description', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
    const tools = [{ type: 'custom', name: 'c', description: 'Does it.', format }];

    expect(request({ tools }).tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'c',
          description: 'Does it.\n\nThe argument "input" must match this grammar (lark):\nstart: "x"',
          parameters: {
            type: 'object',
            properties: {
              input: { type: 'string', description: 'The whole input of the tool, as plain text.' },
            },
            required: ['input'],
            additionalProperties: false,
          },
        },
      },
    ]);
  });

  it.each<[string, Json, string]>([
    ['previous_response_id', { previous_response_id: 'resp_1' }, 'previous_response_id'],
    ['conversation', { conversation: 'conv_1' }, 'conversation'],
    ['store', { store: true }, 'store'],
    ['background', { background: true }, 'background'],
    ['prompt', { prompt: { id: 'pmpt_1' } }, 'prompt'],
    ['truncation', { truncation: 'auto' }, 'truncation'],
    ['context_management', { context_management: [] }, 'context_management'],
    ['the mode pro', { reasoning: { mode: 'pro' } }, 'reasoning.mode'],
    ['a chosen built-in tool', { tool_choice: { type: 'file_search' } }, 'tool_choice'],
    ['a reference', { input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0]'],
    ['a reference without a type', { input: [{ id: 'msg_1' }] }, 'input[0]'],
    ['an item of a built-in tool', { input: [{ type: 'file_search_call', id: 'fs_1' }] }, 'input[0]'],
    ['a tool search at OpenAI', { tools: [{ type: 'tool_search' }] }, 'tools[0]'],
    [
      'an image at OpenAI',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'input[0].content[0].file_id',
    ],
    ['an unknown part', { input: [{ role: 'user', content: [{ type: 'x' }] }] }, 'input[0].content[0].type'],
  ])('is refused by name when it requests %s', (_, body, parameter) => {
    const error = refusal(body);

    expect(error.code).toBe('parameter_unsupported');
    expect(error.details.parameter).toBe(parameter);
  });

  it.each([
    'web_search',
    'file_search',
    'code_interpreter',
    'mcp',
    'computer_use_preview',
    'image_generation',
  ])('is refused by name when it brings the built-in tool %s', (type) => {
    const error = refusal({ tools: [{ type: 'function', name: 'f' }, { type }] });

    expect(error.code).toBe('parameter_unsupported');
    expect(error.details.parameter).toBe('tools[1]');
    expect(error.message).toContain(type);
  });

  it.each<[string, Json]>([
    ['no input', { input: undefined }],
    ['input of a wrong type', { input: 5 }],
    ['an item that is no object', { input: [null] }],
    ['a role that nobody knows', { input: [{ role: 'wizard', content: 'x' }] }],
    ['a call without an id', { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['an output without an id', { input: [{ type: 'function_call_output', output: 'x' }] }],
    ['instructions that are no text', { instructions: [] }],
    ['tools that are no list', { tools: {} }],
    ['a tool without a name', { tools: [{ type: 'function' }] }],
    ['a format that nobody knows', { text: { format: { type: 'xml' } } }],
    ['a file without data', { input: [{ role: 'user', content: [{ type: 'input_file', filename: 'x' }] }] }],
  ])('is not valid with %s', (_, body) => {
    expect(refusal(body).code).toBe('invalid_request');
  });
});

describe('the input', () => {
  it('has parts of every kind', () => {
    const content = [
      { type: 'input_text', text: 'a', cache_control: { type: 'ephemeral' } },
      { type: 'input_image', image_url: 'https://x/y.png', detail: 'original' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' },
      { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
    ];

    expect(messages([{ type: 'message', role: 'user', content }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
          { type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'high' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' } },
          { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        ],
      },
    ]);
  });

  it('puts thoughts, text and calls of the assistant into one message', () => {
    const items = [
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'why' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      {
        type: 'function_call',
        call_id: 'a',
        name: 'f',
        arguments: '{}',
        extra_content: { google: { sig: 'x' } },
      },
      { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'raw' },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'A' }] },
      { type: 'custom_tool_call_output', call_id: 'b', output: 'B' },
    ];

    expect(messages(items)).toEqual([
      {
        role: 'assistant',
        content: 'I look.',
        reasoning_content: 'why',
        tool_calls: [
          {
            id: 'a',
            type: 'function',
            function: { name: 'f', arguments: '{}' },
            extra_content: { google: { sig: 'x' } },
          },
          { id: 'b', type: 'function', function: { name: 'g', arguments: '{"input":"raw"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
    ]);
  });

  it('separates consecutive outputs, and drops reasoning that led to none', () => {
    const items = [
      { role: 'assistant', content: 'one' },
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
      { role: 'assistant', content: 'two' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'lost' }] },
      { role: 'developer', content: 'go on' },
    ];

    expect(messages(items)).toEqual([
      { role: 'assistant', content: 'one' },
      { role: 'assistant', content: 'two', reasoning_content: 'hm' },
      { role: 'system', content: 'go on' },
    ]);
  });

  it("gives a provider's signed reasoning back as it came", () => {
    const blocks = [
      { type: 'thinking', thinking: 'why', signature: 'sig' },
      { type: 'redacted_thinking', data: 'zzz' },
    ];
    const { output } = said({
      content: 'so',
      reasoning_content: 'why',
      content_blocks: [...blocks, { type: 'text', text: 'so' }],
    });

    expect(messages([...output, { role: 'user', content: 'more' }])).toEqual([
      {
        role: 'assistant',
        content: 'so',
        reasoning_content: 'why',
        content_blocks: [...blocks, { type: 'text', text: 'so' }],
      },
      { role: 'user', content: 'more' },
    ]);
  });

  it.each(['gAAAAA', 'gatehouse.1.', 'gatehouse.1.!!!', 'gatehouse.1.eyJhIjoxfQ', 7, null])(
    'continues without reasoning that it cannot read: %s',
    (encrypted_content) => {
      const items = [
        { type: 'reasoning', summary: [], encrypted_content },
        { role: 'assistant', content: 'so' },
      ];

      expect(messages(items)).toEqual([{ role: 'assistant', content: 'so' }]);
    },
  );
});

describe('a response', () => {
  it.each([
    ['stop', 'completed', null],
    ['tool_calls', 'completed', null],
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
  ])('that ended with %s is %s', (finish, status, incomplete_details) => {
    expect(said({ content: 'x' }, finish)).toMatchObject({
      status,
      incomplete_details,
      output: [{ status }],
    });
  });

  it('has citations, refusals and log probabilities in their places', () => {
    const url_citation = { url: 'https://a', title: 'A', start_index: 0, end_index: 1 };
    const token = {
      token: 'x',
      logprob: -0.1,
      bytes: [120],
      top_logprobs: [{ token: 'x', logprob: -0.1, bytes: [120] }],
    };
    const choice = {
      message: { content: 'x', refusal: 'no', annotations: [{ type: 'url_citation', url_citation }] },
      logprobs: { content: [token] },
    };

    expect(answer({ choices: [choice] }).output[0].content).toEqual([
      {
        type: 'output_text',
        text: 'x',
        annotations: [{ type: 'url_citation', ...url_citation }],
        logprobs: [token],
      },
      { type: 'refusal', refusal: 'no' },
    ]);
  });

  it('has reasoning as text, or as the requested summary', () => {
    const message = { content: 'x', reasoning_content: 'hm' };

    expect(said(message).output[0]).toEqual({
      id: 'rs_0199x0',
      type: 'reasoning',
      status: 'completed',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'hm' }],
    });
    expect(said(message, 'stop', { reasoning: { summary: 'auto' } }).output[0]).toEqual({
      id: 'rs_0199x0',
      type: 'reasoning',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'hm' }],
    });
  });

  it('keeps the order of thoughts and text', () => {
    const content_blocks = [
      { type: 'thinking', thinking: 'a', signature: 's' },
      { type: 'text', text: 'b' },
      { type: 'thinking', thinking: 'c', signature: 't' },
      { type: 'text', text: 'd' },
    ];
    const { output } = said({ content: 'bd', reasoning_content: 'ac', content_blocks });

    expect(output.map(({ type }: Json) => type)).toEqual(['reasoning', 'message', 'reasoning', 'message']);
    expect(messages(output).flatMap((message: Loose) => message.content_blocks)).toEqual(content_blocks);
  });

  it('repeats the request, and never says that it was kept', () => {
    const asked = {
      instructions: 'i',
      metadata: { a: 'b' },
      tools: [{ type: 'function', name: 'f' }],
      temperature: 0.5,
    };

    expect(said({ content: 'x' }, 'stop', asked)).toMatchObject({ ...asked, store: false });
  });

  it('says errors as OpenAI does', () => {
    const error = { message: 'm', type: 't', code: 'c', param: null };

    expect(responsesFormat.error(error, 400)).toEqual({ error });
  });
});

describe('a stream', () => {
  it('keeps calls apart whose pieces come mixed, without ids of their own, or under one index', () => {
    const call = (fields: Json) => delta({ tool_calls: [fields] });
    const events = parsed(
      stream([
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
        call({ index: 1, id: 'b', function: { name: 'g', arguments: '{"b"' } }),
        call({ index: 0, function: { arguments: '{}' } }),
        call({ index: 1, function: { arguments: ':1}' } }),
        call({ index: 0, id: 'c', function: { name: 'h', arguments: '[]' } }),
        call({ index: 2, function: { arguments: '{"la' } }),
        call({ index: 2, function: { name: 'late', arguments: 'te":1}' } }),
      ]),
    );

    expect(events.at(-1).response.output).toMatchObject([
      { call_id: 'a', name: 'f', arguments: '{}' },
      { call_id: 'b', name: 'g', arguments: '{"b":1}' },
      { call_id: 'c', name: 'h', arguments: '[]' },
      { call_id: 'call_2_late', name: 'late', arguments: '{"late":1}' },
    ]);
  });

  it('is a whole response when the provider sent nothing', () => {
    expect(parsed(stream([])).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ]);
  });

  it('is incomplete when the provider cut it', () => {
    const last = parsed(stream([delta({ content: 'x' }), delta({}, 'length')])).at(-1);

    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });

  it("reads Mistral's parts and OpenRouter's reasoning", () => {
    const mistral = {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
        { type: 'text', text: 'x' },
      ],
    };
    const texts = (fields: Json) => parsed(stream([delta(fields)])).at(-1).response.output;

    expect(texts(mistral)).toMatchObject([{ content: [{ text: 'hm' }] }, { content: [{ text: 'x' }] }]);
    expect(texts({ reasoning: 'hm' })).toMatchObject([{ type: 'reasoning', content: [{ text: 'hm' }] }]);
  });
});

/** A client of the official SDK whose network is the shape under test. */
function client(reply: (asked: Json) => Response): OpenAI {
  const fetch = async (_: unknown, init?: RequestInit) => reply(JSON.parse(init?.body as string));
  return new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1:1/v1', fetch, maxRetries: 0 });
}

const sse = (events: readonly StreamEvent[]): Response =>
  new Response(events.map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`).join(''), {
    headers: { 'content-type': 'text/event-stream' },
  });

describe("OpenAI's own client", () => {
  const chunks = [
    delta({ reasoning_content: 'hm' }),
    delta({ content: '{"a":' }),
    delta({ content: '1}' }),
    delta(
      { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{"x":2}' } }] },
      'tool_calls',
    ),
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
  ];

  it('reads a response', async () => {
    const message = { role: 'assistant', content: 'Hello' };
    const openai = client((asked) =>
      Response.json(answer({ choices: [{ message, finish_reason: 'stop' }] }, asked)),
    );
    const response = await openai.responses.create({ model: 'm', input: 'hi' });

    expect(response.output_text).toBe('Hello');
    expect(response.status).toBe('completed');
  });

  it('reads a stream, and puts the same response together', async () => {
    const openai = client((asked) => sse(stream(chunks, asked)));
    const runner = openai.responses.stream({
      model: 'm',
      input: 'hi',
      text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } },
    });
    let text = '';
    runner.on('response.output_text.delta', (event) => (text += event.delta));
    const final = await runner.finalResponse();

    expect(text).toBe('{"a":1}');
    expect(final.output_text).toBe('{"a":1}');
    expect(final.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call']);
    expect(final.usage?.total_tokens).toBe(7);
  });

  it('learns that a stream broke off', async () => {
    const error = { message: 'gone', type: 'server_error', code: null, param: null };
    const openai = client((asked) => sse(stream(chunks.slice(0, 2), asked, error)));
    const final = openai.responses.stream({ model: 'm', input: 'hi' }).finalResponse();

    await expect(final).rejects.toMatchObject({ type: 'error', message: 'gone' });
  });

  it('sends the output of one response back as the input of the next', async () => {
    const seen: Loose[] = [];
    const openai = client((asked) => {
      seen.push(responsesFormat.request(asked, context));
      return sse(stream(chunks, asked));
    });
    const first = await openai.responses.stream({ model: 'm', input: 'hi' }).finalResponse();
    const items = first.output as never[];
    await openai.responses
      .stream({ model: 'm', input: [...items, { type: 'function_call_output', call_id: 'c', output: 'ok' }] })
      .finalResponse();

    expect(seen[1].messages).toEqual([
      {
        role: 'assistant',
        content: '{"a":1}',
        reasoning_content: 'hm',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"x":2}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
    ]);
  });
});

/** All that the reference promises of a sequence of events. */
function expectWellFormed(events: readonly StreamEvent[]): void {
  const told = parsed(events);
  expect(told.map(({ sequence_number }) => sequence_number)).toEqual(told.map((_, index) => index));
  expect(events.map(({ event }) => event)).toEqual(told.map(({ type }) => type));
  expect(told.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress']);
  const last = told.at(-1);
  const ends = told.filter(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type));
  expect(ends).toEqual([last]);
  expect(last.type).toBe(`response.${last.response.status}`);

  const open = new Map<number, { id: string; texts: Map<string, string> }>();
  const finished: Loose[] = [];
  let items = 0;
  for (const event of told) {
    if (event.type === 'response.output_item.added') {
      expect(event.output_index).toBe(items++);
      expect(event.item.status).toBe('in_progress');
      open.set(event.output_index, { id: event.item.id, texts: new Map() });
    } else if (event.type === 'response.output_item.done') {
      expect(event.item.id).toBe(open.get(event.output_index)?.id);
      expect(open.delete(event.output_index)).toBe(true);
      finished[event.output_index] = event.item;
    } else if (event.item_id !== undefined) {
      const item = open.get(event.output_index);
      expect(event.item_id).toBe(item?.id);
      expectPart(event, item?.texts ?? new Map());
    }
  }
  expect(open.size).toBe(0);
  expect(last.response.output).toEqual(finished);
  expect(new Set(finished.map(({ id }) => id)).size).toBe(finished.length);
}

/** Deltas come after their part was added and make what `done` says. */
function expectPart(event: Loose, texts: Map<string, string>): void {
  const part = `${event.content_index ?? event.summary_index ?? ''}`;
  if (event.type.endsWith('_part.added')) {
    expect(texts.has(part)).toBe(false);
    texts.set(part, '');
  } else if (event.type.endsWith('.delta')) {
    if (part !== '') expect(texts.has(part)).toBe(true);
    texts.set(part, `${texts.get(part) ?? ''}${event.delta as string}`);
  } else if (event.type.endsWith('.done') && !event.type.endsWith('_part.done')) {
    expect(event.text ?? event.refusal ?? event.arguments ?? event.input).toBe(texts.get(part) ?? '');
  }
}

const names = [
  'choices', 'index', 'delta', 'message', 'content', 'refusal', 'reasoning_content', 'content_blocks', 'tool_calls', 'function', 'custom',
  'name', 'arguments', 'input', 'id', 'annotations', 'url_citation', 'url', 'type', 'finish_reason', 'usage', 'logprobs', 'signature',
  'thinking', 'text', 'role', 'summary', 'encrypted_content', 'call_id', 'output', 'tools', 'tool_choice', 'reasoning', 'format', '__proto__',
]; // prettier-ignore
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.jsonValue(),
    fc.constantFrom(
      'message',
      'reasoning',
      'function_call',
      'input_text',
      'thinking',
      'user',
      'assistant',
      'stop',
      0,
    ),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }),
}));

const text = fc.string({ maxLength: 4 });
const anyDelta = fc.oneof(
  fc.record({ content: text }),
  fc.record({ refusal: text }),
  fc.record({ reasoning_content: text }),
  fc.record({
    content_blocks: fc.array(
      fc.record({
        index: fc.nat(2),
        delta: fc.oneof(fc.record({ signature: text }), fc.record({ data: text })),
      }),
    ),
  }),
  fc.record({
    annotations: fc.constant([
      { type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 0, end_index: 1 } },
    ]),
  }),
  fc.record({
    tool_calls: fc.array(
      fc.record(
        {
          index: fc.nat(2),
          id: text,
          function: fc.record({ name: text, arguments: text }, { requiredKeys: [] }),
        },
        { requiredKeys: ['index'] },
      ),
      { maxLength: 2 },
    ),
  }),
);

describe('whatever comes', () => {
  it('makes a well-formed sequence of events out of any stream of the hub', async () => {
    const chunks = fc.array(
      fc
        .record({ delta: anyDelta, finish: fc.constantFrom(null, 'stop', 'length', 'tool_calls') })
        .map((it) => delta(it.delta, it.finish)),
      { maxLength: 12 },
    );
    const error = fc.option(fc.constant({ message: 'm', type: 't', code: null, param: null }), {
      nil: undefined,
    });

    fc.assert(
      fc.property(chunks, error, fc.boolean(), (given, broken, isSummary) => {
        expectWellFormed(stream(given, isSummary ? { reasoning: { summary: 'auto' } } : {}, broken));
      }),
      { numRuns: 500 },
    );
  });

  it('makes the same output of a message whether it is streamed or whole', () => {
    const message = fc.record(
      {
        reasoning_content: text,
        content: text,
        refusal: text,
        tool_calls: fc.array(fc.record({ id: text, function: fc.record({ name: text, arguments: text }) })),
      },
      { requiredKeys: [] },
    );

    fc.assert(
      fc.property(message, (given) => {
        expect(parsed(stream([delta(given)])).at(-1).response.output).toEqual(said(given).output);
      }),
    );
  });

  it('never throws on a response or a chunk, and stays well-formed', () => {
    fc.assert(
      fc.property(fc.array(anything.object, { maxLength: 4 }), anything.object, (chunks, asked) => {
        expectWellFormed(stream(chunks, asked));
        for (const chunk of chunks)
          expect(answer(chunk as Json, asked as Json)).toMatchObject({ object: 'response' });
      }),
      { numRuns: 1000 },
    );
  });

  it('survives nesting without end', () => {
    const deep = JSON.parse('[{"thinking":'.repeat(50_000) + '1' + '}]'.repeat(50_000));
    const call = { id: 'a', function: { name: 'f', arguments: '' }, extra_content: { deep } };
    const hostile = { content: deep, annotations: deep, content_blocks: deep, tool_calls: [call] };

    const events = stream([{ choices: [{ delta: hostile, logprobs: { content: deep } }], model: deep }]);
    expect(parsed(events).at(-1)?.type).toBe('response.completed');
    // The matchers would recurse into the content.
    const types = (said(hostile).output as readonly Json[]).map(({ type }) => type);
    expect(types).toContain('function_call');
  });

  it('is refused where a word is an object that cannot be made a text', () => {
    const odd = [{ toString: 1, valueOf: 1 }];
    for (const body of [
      { input: 'hi', tool_choice: { type: odd } },
      { input: 'hi', tools: [{ type: odd }] },
      { input: [{ role: odd, content: 'hi' }] },
      { input: [{ role: 'user', content: [{ type: odd }] }] },
    ])
      expect(() => responsesFormat.request(body, context)).toThrow(AppError);
  });

  it('throws nothing but the documented refusals on a request', () => {
    fc.assert(
      fc.property(anything.object, (body) => {
        try {
          responsesFormat.request(body, context);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(AppError);
          expect(['invalid_request', 'parameter_unsupported']).toContain((thrown as AppError).code);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps the meaning of any conversation of messages and calls', () => {
    const id = fc.stringMatching(/^[a-z]{1,3}$/);
    const item = fc.oneof(
      fc.record({
        type: fc.constant('message'),
        role: fc.constantFrom('user', 'developer', 'assistant'),
        content: text,
      }),
      fc.record({ type: fc.constant('function_call'), call_id: id, name: id, arguments: text }),
      fc.record({ type: fc.constant('function_call_output'), call_id: id, output: text }),
    );

    fc.assert(
      fc.property(fc.array(item), (items: Loose[]) => {
        const hub: Loose[] = messages(items);
        const assistant = items.filter(({ role, type }) => role === 'assistant' && type === 'message');
        const texts = hub
          .filter(({ role }) => role === 'assistant')
          .flatMap(({ content }) => textsOf(content));
        expect(texts).toEqual(assistant.map(({ content }) => content));
        const calls = hub.flatMap(({ tool_calls = [] }) => tool_calls);
        expect(calls.map((call: Loose) => [call.id, call.function.name, call.function.arguments])).toEqual(
          items
            .filter(({ type }) => type === 'function_call')
            .map((call) => [call.call_id, call.name, call.arguments]),
        );
        const others = hub.filter(({ role }) => role !== 'assistant');
        expect(others.map(({ role, content, tool_call_id }) => [role, content, tool_call_id])).toEqual(
          items.flatMap((it) => {
            if (it.type === 'function_call_output') return [['tool', it.output, it.call_id]];
            if (it.type !== 'message' || it.role === 'assistant') return [];
            return [[it.role === 'developer' ? 'system' : it.role, it.content, undefined]];
          }),
        );
      }),
      { numRuns: 500 },
    );
  });
});

const textsOf = (content: Loose): string[] => {
  if (content === null) return [];
  return typeof content === 'string' ? [content] : content.map((part: Loose) => part.text);
};

describe('tools in a namespace', () => {
  const tool = { type: 'function', name: 'close', parameters: { type: 'object' } };
  const tools = [{ type: 'namespace', name: 'agents', description: 'Agents.', tools: [tool] }];
  const called = { id: 'call_1', type: 'function', function: { name: 'agents__close', arguments: '{}' } };
  const apart = {
    type: 'function_call',
    call_id: 'call_1',
    namespace: 'agents',
    name: 'close',
    arguments: '{}',
  };

  it('have its name before their own', () => {
    expect(request({ tools }).tools).toMatchObject([
      { type: 'function', function: { name: 'agents__close' } },
    ]);
    expect(messages([apart])).toMatchObject([{ tool_calls: [called] }]);
  });

  it('are called by both names, in a response and in a stream', () => {
    expect(said({ content: null, tool_calls: [called] }, 'tool_calls', { tools }).output).toMatchObject([
      apart,
    ]);
    const events = parsed(stream([delta({ tool_calls: [{ index: 0, ...called }] })], { tools }));
    expect(events.find(({ type }) => type === 'response.output_item.done')?.item).toMatchObject(apart);
  });
});

it('what a client sends OpenAI about itself stays out of the hub', () => {
  expect(request({ client_metadata: { session_id: 'a' } })).not.toHaveProperty('client_metadata');
});
