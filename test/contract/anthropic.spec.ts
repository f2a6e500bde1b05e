import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropic } from '../../src/providers/dialects/anthropic/index.js';
import type { Json } from '../../src/providers/endpoint.js';
import { messagesFormat } from '../../src/providers/client-formats/messages/index.js';
import type { Context, HubError, StreamEvent, Translator } from '../../src/providers/translation.js';

/** Written after the examples of the page that each names as its `source`; some texts are shorter there. */
const FOLDER = new URL('recordings/anthropic/', import.meta.url);

interface Recording {
  readonly name: string;
  readonly hub: Json;
  readonly sent: Json;
  readonly answer: Json;
  readonly events: readonly { readonly event: string; readonly data: Json }[];
  readonly message: Json;
  readonly blocks?: readonly Json[];
  readonly citations?: readonly Json[];
  readonly finish_reason: string;
  readonly usage: Json;
  readonly error: Json;
  readonly errors: readonly { readonly status: number; readonly body: Json | null; readonly hub: Json }[];
}

const recordings = readdirSync(FOLDER).map((file): Recording => ({
  name: file.replace('.json', ''),
  ...(JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Omit<Recording, 'name'>),
}));
const plain = recordings.filter(({ answer }) => answer);
const streams = recordings.filter(({ events, error }) => events && !error);

const chat = anthropic.translators?.['chat-completions'] as Translator;
const stream = chat.stream as NonNullable<Translator['stream']>;

const strict: Context = {
  id: 'x-1',
  created: 1_700_000_000,
  model: 'claude-opus-5',
  isStreamed: false,
  fields: {},
  isStrict: true,
};
const loose: Context = { ...strict, isStrict: false };

const eventsOf = ({ events }: Recording): StreamEvent[] =>
  events.map(({ event, data }) => ({ event, data: JSON.stringify(data) }));

interface Heard {
  readonly chunks: Json[];
  readonly isDone: boolean;
  readonly error: HubError | undefined;
}

function hear(events: readonly StreamEvent[], context: Context): Heard {
  const translator = stream.open(context);
  const told = [...events.map((event) => translator.event(event)), translator.end()];
  return {
    chunks: told.flatMap(({ chunks }) => chunks),
    isDone: told.some(({ isDone }) => isDone),
    error: told.find(({ error }) => error)?.error,
  };
}

interface Call {
  index: number;
  id?: string;
  function: { arguments: string };
}

/** A message of the hub, or what a chunk adds to it. */
interface Message {
  content?: string;
  reasoning_content?: string;
  refusal?: string;
  annotations?: Json[];
  citations?: Json[];
  content_blocks?: Json[];
  tool_calls?: Call[];
}

interface Choice {
  readonly message: Message;
  readonly delta: Message;
  readonly finish_reason: string | null;
  readonly native_finish_reason?: string;
}

const choicesOf = ({ choices }: Json): readonly Choice[] => choices as readonly Choice[];

/** The hub's chunks put together to what they say. */
function gathered(chunks: readonly Json[]): { message: Message; finish: string | null } {
  const message: Message = { content: '' };
  let finish: string | null = null;
  for (const { delta, finish_reason: reason } of chunks.flatMap(choicesOf)) {
    message.content = (message.content ?? '') + (delta.content ?? '');
    if (delta.reasoning_content)
      message.reasoning_content = (message.reasoning_content ?? '') + delta.reasoning_content;
    if (delta.annotations) message.annotations = [...(message.annotations ?? []), ...delta.annotations];
    if (delta.refusal) message.refusal = delta.refusal;
    for (const call of delta.tool_calls ?? []) gatherCall((message.tool_calls ??= []), call);
    finish = reason ?? finish;
  }
  return { message, finish };
}

function gatherCall(calls: Partial<Call>[], { index, ...call }: Call): void {
  const known = calls[index]?.function;
  if (known) known.arguments += call.function.arguments;
  else calls[index] = structuredClone(call);
}

/** A block of Anthropic as far as it has come. */
interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  text?: string;
  thinking?: string;
  signature?: string;
  citations?: Json[] | null;
  /** Parts of a call's input, one after the other. */
  json?: string;
}

interface Delta extends Json {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
  readonly citation?: Json;
}

interface Told extends Json {
  readonly type: string;
  readonly index?: number;
  readonly message?: Assembled;
  readonly content_block?: Block;
  readonly delta?: Delta;
  readonly usage?: Json;
}

interface Assembled extends Json {
  readonly type: string;
  readonly content: Block[];
  readonly stop_reason: string;
  readonly usage: Json;
}

/** Anthropic's events put together to a message, as its SDK does it; throws where they are out of order. */
function assembled(events: readonly StreamEvent[]): Assembled {
  const all = events.map(({ event, data }) => {
    const parsed = JSON.parse(data) as Told;
    expect(parsed.type).toBe(event);
    return parsed;
  });
  const [first, last] = [all[0], all.at(-2)];
  expect(first?.type).toBe('message_start');
  expect(last?.type).toBe('message_delta');
  expect(all.at(-1)?.type).toBe('message_stop');
  const message = first?.message as Assembled;
  let open: Block | null = null;
  for (const event of all.slice(1, -2)) {
    const isStart = event.type === 'content_block_start';
    expect(open === null).toBe(isStart);
    expect(event.index).toBe(message.content.length - (isStart ? 0 : 1));
    if (isStart) {
      open = { ...(event.content_block as Block) };
      message.content.push(open);
    } else if (event.type === 'content_block_stop') open = null;
    else grow(event, open as Block);
  }
  expect(open).toBeNull();
  return { ...message, ...last?.delta, type: message.type, usage: { ...message.usage, ...last?.usage } };
}

/** Which kind of block each delta belongs to. */
const KINDS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  citations_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'thinking',
  input_json_delta: 'tool_use',
};

function grow({ type, delta }: Told, block: Block): void {
  expect(type).toBe('content_block_delta');
  const said = delta as Delta;
  expect(block.type).toBe(KINDS[said.type]);
  for (const name of ['text', 'thinking', 'signature'] as const)
    if (said[name] !== undefined) block[name] = (block[name] ?? '') + said[name];
  if (said.partial_json !== undefined) block.json = (block.json ?? '') + said.partial_json;
  if (said.citation) block.citations = [...(block.citations ?? []), said.citation];
}

function spoken(chunks: readonly Json[], context = loose): Assembled {
  const translator = messagesFormat.open({}, context);
  return assembled([...chunks.flatMap((chunk) => translator.chunk(chunk)), ...translator.end()]);
}

/** A block without one of its fields. */
const without = (field: string, block: object): Json =>
  Object.fromEntries(Object.entries(block).filter(([name]) => name !== field));

it("a stream has the results of Anthropic's tools so that a client can send them back", () => {
  const recording = streams.find(({ name }) => name === 'stream-search') as Recording;
  const { chunks } = hear(eventsOf(recording), loose);
  const blocks: Block[] = [];
  for (const { index, delta } of chunks.flatMap((chunk) => deltasOf(chunk)))
    blocks[index] = delta.block ?? grown(blocks[index] ?? { type: 'text', text: '' }, delta);
  const turn = { role: 'assistant', content: null, content_blocks: blocks };
  const { body } = chat.request({ messages: [{ role: 'user', content: 'Weather?' }, turn] }, strict);
  const [, said] = (body as unknown as { messages: { content: Block[] }[] }).messages;

  expect(said?.content).toEqual([
    { type: 'server_tool_use', id: 'srvtoolu_014', name: 'web_search', input: { query: 'weather' } },
    expect.objectContaining({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_014' }),
    { type: 'text', text: 'It is ' },
    {
      type: 'text',
      text: 'cloudy',
      citations: [expect.objectContaining({ encrypted_index: 'Eo8B', url: 'https://example.com/w' })],
    },
  ]);
});

interface BlockDelta {
  readonly index: number;
  readonly delta: { readonly text?: string; readonly citation?: Json; readonly block?: Block };
}

const deltasOf = (chunk: Json): readonly BlockDelta[] =>
  choicesOf(chunk).flatMap(({ delta }) => (delta.content_blocks ?? []) as unknown as BlockDelta[]);

const grown = (block: Block, { text = '', citation }: BlockDelta['delta']): Block => ({
  ...block,
  text: (block.text ?? '') + text,
  ...(citation ? { citations: [...(block.citations ?? []), citation] } : {}),
});

describe.each(plain)('the recording "$name"', (recording) => {
  const { hub, sent, answer, message, blocks, citations, finish_reason: finish, usage } = recording;

  it('is requested as documented', () => {
    expect(chat.request(hub, strict)).toEqual({
      path: '/messages',
      body: sent,
      headers: ['anthropic-version', '2023-06-01'],
    });
  });

  it('becomes a response of the hub and nothing else, when strict', () => {
    expect(chat.answer(answer, strict)).toEqual({
      id: answer.id,
      object: 'chat.completion',
      created: 1_700_000_000,
      model: answer.model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
      usage,
      ...((answer.usage as Json).service_tier === 'standard' ? { service_tier: 'default' } : {}),
    });
  });

  it('keeps its blocks, citations and own reason, when not strict', () => {
    const [choice] = choicesOf(chat.answer(answer, loose));

    expect(choice?.native_finish_reason).toBe(answer.stop_reason);
    if (blocks) expect(choice?.message.content_blocks).toEqual(blocks);
    if (citations) expect(choice?.message.citations).toEqual(citations);
  });

  it('comes back to an Anthropic client as it was', () => {
    const back = messagesFormat.answer(chat.answer(answer, loose), {}, loose);

    expect(back).toMatchObject({ id: answer.id, type: 'message', role: 'assistant', model: answer.model });
    expect(back.stop_reason).toBe(answer.stop_reason);
    expect(back.stop_sequence).toBeNull();
    expect(back.content).toEqual(answer.content);
    expect(back.usage).toMatchObject({
      input_tokens: (answer.usage as Json).input_tokens,
      output_tokens: (answer.usage as Json).output_tokens,
    });
  });

  it('is requested again, with the same meaning, by an Anthropic client', () => {
    const again = chat.request(messagesFormat.request(sent, strict), strict).body;

    expect(again).toEqual(sent);
  });
});

describe.each(streams)('the recording "$name"', (recording) => {
  const { message, finish_reason: finish, usage, blocks } = recording;

  it('becomes a stream of the hub that ends with its usage', () => {
    const { chunks, isDone, error } = hear(eventsOf(recording), strict);

    expect(error).toBeUndefined();
    expect(isDone).toBe(true);
    expect(gathered(chunks)).toEqual({ message, finish });
    expect(chunks.at(-1)).toMatchObject({ object: 'chat.completion.chunk', choices: [], usage });
    expect(JSON.stringify(chunks)).not.toContain('content_blocks');
  });

  it('begins with the role, and has one id and model', () => {
    const { chunks } = hear(eventsOf(recording), strict);
    const started = recording.events[0]?.data.message as Json;

    expect(chunks.flatMap(choicesOf)[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set([started.id]));
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set([started.model]));
  });

  it('sends an Anthropic client the same, block by block', () => {
    const { chunks } = hear(eventsOf(recording), loose);
    const back = spoken(chunks);

    expect(back.stop_reason).toBe((recording.events.at(-2)?.data.delta as Json).stop_reason);
    if (blocks) expect(back.content.map((said) => without('citations', said))).toEqual(blocks);
    const text = back.content.map(({ text: said = '' }) => said).join('');
    expect(text).toBe(message.content);
    const calls = back.content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, json }) => ({ id, type: 'function', function: { name, arguments: json } }));
    expect(calls).toEqual(message.tool_calls ?? []);
  });
});

describe('a stream that breaks off', () => {
  const broken = recordings.find(({ name }) => name === 'stream-error') as Recording;

  it('reports the error, and nothing that comes after it', () => {
    const { chunks, isDone, error } = hear(eventsOf(broken), strict);

    expect(error).toEqual(broken.error);
    expect(isDone).toBe(false);
    expect(gathered(chunks).message).toEqual(broken.message);
  });

  it('reaches an Anthropic client as an error event', () => {
    const translator = messagesFormat.open({}, loose);
    const [event] = translator.fail(broken.error as unknown as HubError);

    expect(event?.event).toBe('error');
    expect(JSON.parse(event?.data ?? '')).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    });
    expect(translator.end()).toEqual([]);
    expect(translator.chunk({ choices: [{ index: 0, delta: { content: 'x' } }] })).toEqual([]);
  });
});

describe('an error', () => {
  const { errors } = recordings.find(({ name }) => name === 'errors') as Recording;

  it.each(errors)('of status $status says what OpenAI would', ({ status, body, hub }) => {
    expect(chat.error(status, body)).toEqual(hub);
    expect(anthropic.translators?.['chat-completions']?.error(status, body)).toEqual(hub);
  });

  it.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [408, 'timeout_error'],
    [413, 'request_too_large'],
    [422, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [503, 'overloaded_error'],
    [504, 'timeout_error'],
    [529, 'overloaded_error'],
  ])('of status %i is %s to an Anthropic client', (status, type) => {
    const error = { message: 'No.', type: 'x', code: null, param: null };

    expect(messagesFormat.error(error, status)).toEqual({ type: 'error', error: { type, message: 'No.' } });
  });
});

const json = fc.object({ maxDepth: 4, withNullPrototype: false }) as fc.Arbitrary<Json>;
const field = <T>(value: fc.Arbitrary<T>) => fc.option(fc.oneof(value, fc.anything()), { nil: undefined });

const block = fc.record(
  {
    type: fc.constantFrom('text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use', 'x'),
    text: field(fc.string()),
    thinking: field(fc.string()),
    signature: field(fc.string()),
    data: field(fc.string()),
    id: field(fc.string()),
    name: field(fc.string()),
    input: field(fc.object()),
    citations: field(fc.array(fc.object())),
  },
  { requiredKeys: ['type'] },
);

const noise = fc.record({
  event: fc.constantFrom(null, 'x', 'message_stop', '__proto__', 'constructor'),
  data: fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record(
        {
          type: fc.constantFrom(
            'message_start',
            'content_block_start',
            'content_block_delta',
            'content_block_stop',
            'message_delta',
            'ping',
            'constructor',
          ),
          index: fc.oneof(fc.nat(3), fc.anything()),
          message: field(json),
          content_block: field(block),
          delta: field(
            fc.record(
              {
                type: fc.constantFrom(
                  'text_delta',
                  'thinking_delta',
                  'signature_delta',
                  'input_json_delta',
                  'citations_delta',
                  'toString',
                ),
                text: field(fc.string()),
                thinking: field(fc.string()),
                signature: field(fc.string()),
                partial_json: field(fc.string()),
                citation: fc.anything(),
                stop_reason: field(fc.string()),
              },
              { requiredKeys: ['type'] },
            ),
          ),
          usage: field(fc.record({ input_tokens: fc.anything(), output_tokens: fc.anything() })),
        },
        { requiredKeys: ['type'] },
      )
      .map((event) => JSON.stringify(event, (_, value: unknown) => (typeof value === 'bigint' ? 0 : value))),
  ),
});

describe('hostile responses', () => {
  it('never make a translator throw', () => {
    fc.assert(
      fc.property(json, fc.array(block), fc.integer({ min: 100, max: 599 }), (random, content, status) => {
        for (const context of [strict, loose])
          for (const answer of [random, { ...random, content }]) {
            const hub = chat.answer(answer, context);
            expect(messagesFormat.answer(hub, {}, context)).toMatchObject({ type: 'message' });
            expect(messagesFormat.answer(answer, {}, context)).toMatchObject({ type: 'message' });
          }
        expect(typeof chat.error(status, random).message).toBe('string');
        expect(chat.error(status, { error: random }).type).not.toBe('');
        messagesFormat.error(chat.error(status, null), status);
      }),
    );
  });

  it('never make a stream throw, however its events are mixed, and the client sees a well-formed one', () => {
    const known = streams.flatMap(eventsOf).map((event) => fc.constant(event));
    fc.assert(
      fc.property(fc.array(fc.oneof(...known, noise), { maxLength: 30 }), (events) => {
        const { chunks } = hear(events, loose);

        expect(spoken(chunks).type).toBe('message');
      }),
    );
  });

  it('never make a client format throw, and its stream stays well-formed for any input', () => {
    const call = fc.record({
      index: fc.oneof(fc.nat(3), fc.anything()),
      id: field(fc.string()),
      function: field(fc.record({ name: field(fc.string()), arguments: field(fc.string()) })),
    });
    const delta = fc.record({
      content: field(fc.string()),
      reasoning_content: field(fc.string()),
      refusal: field(fc.string()),
      tool_calls: field(fc.array(call)),
      annotations: field(fc.array(fc.object())),
      content_blocks: field(
        fc.array(
          fc.record({
            index: fc.nat(3),
            delta: fc.record({ signature: field(fc.string()), data: field(fc.string()) }),
          }),
        ),
      ),
    });
    const choice = fc.record({ index: fc.nat(1), delta: field(delta), finish_reason: field(fc.string()) });
    const chunk = fc.oneof(json, fc.record({ choices: field(fc.array(choice)), usage: field(fc.object()) }));
    fc.assert(
      fc.property(fc.array(chunk as fc.Arbitrary<Json>), (chunks) => {
        expect(spoken(chunks).type).toBe('message');
      }),
    );
  });
});

describe('a translated stream', () => {
  const calls = fc.array(fc.array(fc.string({ minLength: 1 }), { maxLength: 4 }), {
    minLength: 1,
    maxLength: 3,
  });

  it('loses no part of any call, though their parts come mixed', () => {
    fc.assert(
      fc.property(calls, fc.infiniteStream(fc.nat()), (parts, random) => {
        const chunks: Json[] = parts.map((_, index) =>
          called(index, { id: `c${index}`, function: { name: `f${index}` } }),
        );
        const left = parts.map((pieces) => [...pieces]);
        while (left.some((pieces) => pieces.length > 0)) {
          const index = (random.next().value as number) % left.length;
          const piece = left[index]?.shift();
          if (piece !== undefined) chunks.push(called(index, { function: { arguments: piece } }));
        }
        const { content, stop_reason: reason } = spoken(chunks);

        expect(content.map(({ id, json: whole = '' }) => [id, whole])).toEqual(
          parts.map((pieces, index) => [`c${index}`, pieces.join('')]),
        );
        expect(reason).toBe('tool_use');
      }),
    );
  });

  it('loses no text, wherever it comes', () => {
    const piece = fc.record({
      kind: fc.constantFrom('content', 'reasoning_content', 'call'),
      text: fc.string({ minLength: 1 }),
    });
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const { content } = spoken(
          pieces.map(({ kind, text }, index) =>
            kind === 'call'
              ? called(index, { id: `c${index}`, function: { name: text, arguments: '{}' } })
              : { choices: [{ index: 0, delta: { [kind]: text } }] },
          ),
        );
        const of = (field: 'text' | 'thinking' | 'name', type: string) =>
          content.filter((block) => block.type === type).map((block) => block[field]);

        expect(of('text', 'text').join('')).toBe(textsOf(pieces, 'content').join(''));
        expect(of('thinking', 'thinking').join('')).toBe(textsOf(pieces, 'reasoning_content').join(''));
        expect(of('name', 'tool_use')).toEqual(textsOf(pieces, 'call'));
      }),
    );
  });
});

const called = (index: number, call: Json): Json => ({
  choices: [{ index: 0, delta: { tool_calls: [{ index, ...call }] } }],
});

const textsOf = (pieces: readonly { kind: string; text: string }[], wanted: string) =>
  pieces.filter(({ kind }) => kind === wanted).map(({ text }) => text);

/* Requests of the hub that both sides can say. */

/** Texts of spaces alone are refused by Anthropic, and left out for it. */
const text = fc.string({ minLength: 1 }).filter((written) => written.trim() !== '');
const part = fc.oneof(
  text.map((said) => ({ type: 'text', text: said })),
  fc.webUrl().map((url) => ({ type: 'image_url', image_url: { url } })),
  fc.base64String({ minLength: 4 }).map((data) => ({
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${data}` },
  })),
  fc.record({ data: fc.base64String({ minLength: 4 }), filename: text }).map(({ data, filename }) => ({
    type: 'file',
    file: { file_data: `data:application/pdf;base64,${data}`, filename },
  })),
  fc.string({ minLength: 1, unit: 'grapheme' }).map((said) => ({
    type: 'file',
    file: { file_data: `data:text/plain;base64,${Buffer.from(said).toString('base64')}` },
  })),
);
const name = fc.stringMatching(/^[a-z]\w{0,9}$/);
const calling = fc.record({
  name,
  input: fc.dictionary(name, fc.oneof(fc.string(), fc.integer(), fc.boolean())),
});
const said = fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 3 }));
const exchange = fc.record({
  user: said,
  assistant: fc.option(text),
  calls: fc.array(fc.record({ call: calling, result: fc.oneof(fc.constant(''), text) }), { maxLength: 2 }),
});
const schema = fc.record({
  type: fc.constant('object'),
  properties: fc.dictionary(name, fc.constant({ type: 'string' })),
});
const tool = fc.record({ name, description: fc.string(), parameters: schema, strict: fc.boolean() });

const request = fc
  .record({
    system: fc.array(text, { maxLength: 2 }),
    exchanges: fc.array(exchange, { maxLength: 3 }),
    question: said,
    tools: fc.uniqueArray(tool, { maxLength: 3, selector: (made) => made.name }),
    choice: fc.constantFrom(undefined, 'auto', 'none', 'required', 'named'),
    isSingle: fc.boolean(),
    others: fc.record(
      {
        temperature: fc.double({ min: 0, max: 1, noNaN: true }),
        top_p: fc.double({ min: 0, max: 1, noNaN: true }),
        stop: fc.array(text, { minLength: 1, maxLength: 4 }),
        user: text,
        reasoning_effort: fc.constantFrom('none', 'low', 'medium', 'high', 'xhigh'),
        service_tier: fc.constantFrom('auto', 'default'),
        response_format: schema.map((asked) => ({
          type: 'json_schema',
          json_schema: { name: 'answer', schema: asked, strict: true },
        })),
      },
      { requiredKeys: [] },
    ),
    limit: fc.integer({ min: 1, max: 64_000 }),
  })
  .map(({ system, exchanges, question, tools, choice, isSingle, others, limit }) => {
    const turns = exchanges.flatMap(({ user, assistant, calls }, at) => [
      { role: 'user', content: user },
      ...(assistant === null && calls.length === 0
        ? []
        : [
            {
              role: 'assistant',
              content: assistant,
              ...(calls.length > 0
                ? {
                    tool_calls: calls.map(({ call }, index) => ({
                      id: `c_${at}_${index}`,
                      type: 'function',
                      function: { name: call.name, arguments: JSON.stringify(call.input) },
                    })),
                  }
                : {}),
            },
          ]),
      ...calls.map(({ result }, index) => ({
        role: 'tool',
        tool_call_id: `c_${at}_${index}`,
        content: result,
      })),
    ]);
    const hasTools = tools.length > 0;
    const toolChoice = choice === 'named' ? { type: 'function', function: { name: tools[0]?.name } } : choice;
    return {
      model: strict.model,
      max_tokens: limit,
      messages: [
        ...system.map((content) => ({ role: 'system', content })),
        ...turns,
        { role: 'user', content: question },
      ],
      ...(hasTools ? { tools: tools.map((made) => ({ type: 'function', function: made })) } : {}),
      ...(hasTools && choice !== undefined ? { tool_choice: toolChoice } : {}),
      ...(hasTools && isSingle ? { parallel_tool_calls: false } : {}),
      ...(hasThinking(others) ? withoutSampling(others) : others),
    };
  });

/** Claude samples as it will where it thinks. */
const hasThinking = ({ reasoning_effort: effort }: Json): boolean => (effort ?? 'none') !== 'none';

const withoutSampling = (given: Json): Json =>
  only(given, (name) => name !== 'temperature' && name !== 'top_p');

const only = (json: Json, isMeant: (name: string) => boolean): Json =>
  Object.fromEntries(Object.entries(json).filter(([name]) => isMeant(name)));

interface Turn extends Json {
  readonly content: string | null | readonly Json[];
  readonly tool_calls?: readonly Json[];
}

/** What a request means: its turns as single sayings, and its parameters. */
function meaning({
  messages: given,
  parallel_tool_calls: parallel,
  tool_choice: choice,
  ...others
}: Json): Json {
  const sayings = (given as readonly Turn[]).flatMap(
    ({ role, content, tool_calls: made = [], tool_call_id: id }) => {
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
      if (role === 'tool') return [[role, id, parts.map(({ text: said }) => said).join('')]];
      return [...parts.map((said) => [role, said]), ...made.map((call) => [role, call])];
    },
  );
  // One call at most says nothing where none is allowed; and choosing freely is what is done where nothing is said.
  // The effort says what Anthropic's own words say beside it.
  return {
    ...only(others, (name) => name !== 'thinking' && name !== 'output_config'),
    sayings,
    choice: choice ?? 'auto',
    isSingle: parallel === false && choice !== 'none',
  };
}

describe('a request', () => {
  it('means the same after it went to Anthropic and came back', () => {
    fc.assert(
      fc.property(request, (hub) => {
        const { body } = chat.request(hub, strict);

        expect(meaning(messagesFormat.request(body as Json, strict))).toEqual(meaning(hub));
      }),
      { numRuns: 300 },
    );
  });

  it('is sent to Anthropic in turns that alternate and begin with the results of tools', () => {
    fc.assert(
      fc.property(request, (hub) => {
        const turns = (chat.request(hub, strict).body as Json).messages as readonly (Json & {
          content: readonly Json[];
        })[];
        for (const [index, { role, content }] of turns.entries()) {
          expect(role).not.toBe(turns[index + 1]?.role);
          const kinds = content.map(({ type }) => type === 'tool_result');
          expect(kinds).toEqual([...kinds].sort().reverse());
        }
      }),
    );
  });

  it('is refused by an error of the catalogue or not at all, whatever it is', () => {
    const anyTurn = fc.record({
      role: fc.constantFrom('user', 'assistant', 'tool', 'system', 'x'),
      content: fc.anything(),
    });
    const anything = fc.oneof(
      json,
      fc.record({ messages: fc.array(anyTurn), tools: fc.anything(), max_tokens: fc.anything() }),
    );
    fc.assert(
      fc.property(anything as fc.Arbitrary<Json>, (body) => {
        for (const translate of [
          () => chat.request(body, strict),
          () => messagesFormat.request(body, strict),
        ])
          try {
            translate();
          } catch (error) {
            expect(error).toMatchObject({ name: 'AppError', spec: { status: 400 } });
          }
      }),
      { numRuns: 300 },
    );
  });
});
