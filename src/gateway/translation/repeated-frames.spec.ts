import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../providers/endpoint.js';
import { findProvider } from '../../providers/catalog/registry.js';
import { clientFormats } from '../../providers/client-formats/index.js';
import type { ClientFormat, Context, EventTranslator, Translator } from '../../providers/translation.js';
import { nothingRead } from '../recording/reading.js';
import { hubEvents } from './hub-events.js';
import { TranslatedStream } from './translated-stream.js';

const CONTEXT: Context = { id: 'id', created: 1, model: 'm', isStreamed: true, fields: {}, isStrict: true };

/** How each dialect frames a text, given as JSON. */
interface RepeatedFrameCase {
  readonly name: string;
  readonly open: (context: Context) => EventTranslator;
  readonly start: readonly string[];
  readonly says: readonly ((literal: string) => string)[];
  /** Other events between texts. */
  readonly others: readonly string[];
  readonly end: readonly string[];
}

const opener = (provider: string): RepeatedFrameCase['open'] => {
  const stream = findProvider(provider)?.dialect.translators?.['chat-completions']?.stream;
  if (!stream) throw new Error(`${provider} has no stream`);
  return (context) => stream.open(context);
};

const anthropic = (type: string, fields: string): string =>
  `event: ${type}\ndata: {"type":"${type}"${fields}}\n\n`;
const block = (index: number, kind: string, field: string) => (literal: string) =>
  anthropic('content_block_delta', `,"index":${index},"delta":{"type":"${kind}","${field}":${literal}}`);
const cohere = (type: string, fields: string): string => `data: {"type":"${type}"${fields}}\n\n`;
const hub = (delta: string, more = ''): string =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":${delta},"finish_reason":null}]${more}}\r\n\r\n`;

const DIALECTS: readonly RepeatedFrameCase[] = [
  {
    name: 'Anthropic',
    open: opener('anthropic'),
    start: [
      anthropic(
        'message_start',
        ',"message":{"id":"text","model":"content","usage":{"input_tokens":4,"output_tokens":1}}',
      ),
      anthropic('content_block_start', ',"index":0,"content_block":{"type":"text","text":""}'),
      anthropic('content_block_start', ',"index":1,"content_block":{"type":"thinking","thinking":""}'),
      anthropic(
        'content_block_start',
        ',"index":2,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}',
      ),
    ],
    says: [
      block(0, 'text_delta', 'text'),
      block(1, 'thinking_delta', 'thinking'),
      block(2, 'input_json_delta', 'partial_json'),
      block(9, 'input_json_delta', 'partial_json'),
      (literal) =>
        `: ${literal}\ndata: {"type":"content_block_delta","index":0,\ndata: "delta":{"type":"text_delta","text":${literal}}}\n\n`,
      (literal) =>
        `data: {"type":"content_block_delta","x":${literal},"delta":{"type":"text_delta","text":"\\u0061"}}\n\n`,
    ],
    others: [
      anthropic('ping', ''),
      ': a comment\n\n',
      anthropic(
        'content_block_delta',
        ',"index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"a","document_index":0,"start_char_index":0,"end_char_index":1}}',
      ),
      anthropic('content_block_stop', ',"index":0'),
      'data: {"type":"content_block_delta"}\r\n\r\n',
    ],
    end: [
      anthropic('content_block_stop', ',"index":0'),
      anthropic('message_delta', ',"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}'),
      anthropic('message_stop', ''),
    ],
  },
  {
    name: 'Cohere',
    open: opener('cohere'),
    start: [cohere('message-start', ',"id":"c","delta":{"message":{"role":"assistant"}}')],
    says: [
      (literal) => cohere('content-delta', `,"index":0,"delta":{"message":{"content":{"text":${literal}}}}`),
      (literal) =>
        cohere('content-delta', `,"index":1,"delta":{"message":{"content":{"thinking":${literal}}}}`),
      (literal) =>
        cohere('content-delta', `,"index":0,"delta":{"message":{"content":{"text":[${literal},"b"]}}}`),
    ],
    others: [cohere('content-end', ',"index":0'), cohere('debug', '')],
    end: [
      cohere(
        'message-end',
        ',"delta":{"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":3,"output_tokens":4}}}',
      ),
    ],
  },
  {
    name: 'chat completions',
    open: () => hubEvents(),
    start: [hub('{"role":"assistant","content":""}')],
    says: [
      (literal) => hub(`{"content":${literal}}`),
      (literal) => hub(`{"reasoning_content":${literal}}`),
      (literal) => hub(`{"refusal":${literal}}`),
      (literal) => hub(`{"content":${literal},"reasoning_content":"a"}`),
      (literal) => hub(`{"content":${literal}}`, ',"usage":{"prompt_tokens":1,"completion_tokens":1}'),
      (literal) =>
        hub(`{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":${literal}}}]}`),
      (literal) => hub(`{"tool_calls":[{"index":0,"id":"t","function":{"name":${literal},"arguments":""}}]}`),
    ],
    others: [': a comment\r\n\r\n', hub('{}')],
    end: ['data: [DONE]\n\n'],
  },
];

/** A client of the hub's own format, and of the others, one of which numbers its events. */
const SHAPES: readonly (ClientFormat | null)[] = [
  null,
  clientFormats.messages ?? null,
  clientFormats.responses ?? null,
];

/** Texts that are easily confused, and any other. */
const text = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'text',
    'content',
    'm-1',
    ':',
    ',',
    '"',
    '\\',
    '\\"',
    '\n',
    '\u2028',
    '\u0000',
    'é',
    '日本',
    '😀',
    '\ud83d',
    '{"a":',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
/** The JSON of a text, as `JSON.stringify` or another serializer writes it. Some are invalid. */
const literal = fc.oneof(
  { weight: 6, arbitrary: text.map((given) => JSON.stringify(given)) },
  text.map(
    (given) =>
      `"${given.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`,
  ),
  fc.constantFrom('"\\/"', '"\\x"', '"a\tb"', '"a', '7', 'null', '"\\u00e9"', '["a"]'),
);

/** The frames of a stream: runs of texts, and other events between them. */
const framesOf = ({ start, says, others, end }: RepeatedFrameCase): fc.Arbitrary<string[]> => {
  const run = fc
    .tuple(fc.constantFrom(...says), fc.array(literal, { maxLength: 8 }))
    .map(([say, literals]) => literals.map((given) => say(given)));
  const other = fc.constantFrom(...others, ...start).map((frame) => [frame]);
  return fc
    .array(fc.oneof({ weight: 4, arbitrary: run }, other), { maxLength: 6 })
    .map((parts) => [...start, ...parts.flat(), ...end]);
};

function through(
  { open }: RepeatedFrameCase,
  shape: ClientFormat | null,
  context: Context,
  chunks: readonly Buffer[],
  eventsRead: { count: number; hears: boolean },
) {
  const reading = nothingRead();
  const translator = {
    stream: {
      framing: 'sse',
      open: (given: Context): EventTranslator => {
        const inner = open(given);
        return {
          event: (event) => {
            eventsRead.count += 1;
            const { again, ...step } = inner.event(event);
            return eventsRead.hears ? { ...step, again } : step;
          },
          end: () => inner.end(),
        };
      },
    },
  } as unknown as Translator;
  const asked: Json = {};
  const stream = new TranslatedStream(
    {
      translation: { format: shape, translator, hub: 'chat-completions' },
      context,
      clientBody: asked,
      hub: asked,
    },
    reading,
  );
  const said = chunks.map((chunk) => stream.feed(chunk));
  said.push(stream.end());
  return { said, error: stream.error, isOver: stream.hasEnded, reading: { ...reading, firstEventAt: null } };
}

describe.each(DIALECTS)('frames of $name that differ in their text alone', (dialect) => {
  it('become the same, whether they are read or repeated, however they are cut', () => {
    const cuts = fc.array(fc.nat({ max: 4_000 }), { maxLength: 3 });
    const chance = fc.record({
      frames: framesOf(dialect),
      cuts,
      // Usual chunks: mostly one frame, sometimes several, sometimes cut inside.
      joins: fc.array(fc.boolean(), { maxLength: 60 }),
      shape: fc.constantFrom(...SHAPES),
      isStrict: fc.boolean(),
    });
    fc.assert(
      fc.property(chance, ({ frames, cuts: at, joins, shape, isStrict }) => {
        const bytes = Buffer.from(frames.join(''));
        const chunks = chunksOf(
          frames,
          joins,
          at.filter((cut) => cut < bytes.length),
        );
        const context = { ...CONTEXT, isStrict };
        const repeated = through(dialect, shape, context, chunks, { count: 0, hears: true });
        const read = through(dialect, shape, context, chunks, { count: 0, hears: false });
        expect(repeated).toEqual(read);
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ['its own chunks', null, 4],
    ["Anthropic's events", clientFormats.messages ?? null, 5],
  ])('are read until it is known what is the same about them, for a client of %s', (_, shape, most) => {
    const [say] = dialect.says;
    const texts = Array.from({ length: 50 }, (_one, at) => `wörd ${at} "\n`);
    const frames = [...dialect.start.slice(0, 2), ...texts.map((one) => say?.(JSON.stringify(one)) ?? '')];
    const eventsRead = { count: 0, hears: true };

    const { said, reading } = through(
      dialect,
      shape,
      CONTEXT,
      frames.map((frame) => Buffer.from(frame)),
      eventsRead,
    );

    expect(eventsRead.count).toBeLessThanOrEqual(most);
    expect(said[20]).toContain(JSON.stringify(texts[20 - Math.min(2, dialect.start.length)]));
    expect(reading.outputText).toBe(texts.join(''));
  });
});

it('does not take another string for the text that says the same by chance', () => {
  const [dialect] = DIALECTS as [RepeatedFrameCase];
  const frame = (other: string): Buffer =>
    Buffer.from(
      `data: {"type":"content_block_delta","other":"${other}","delta":{"type":"text_delta","text":"\\u0061"}}\n\n`,
    );
  const chunks = ['a', 'a', 'a', 'b'].map(frame);

  const { reading } = through(dialect, null, CONTEXT, chunks, { count: 0, hears: true });

  expect(reading.outputText).toBe('aaaa');
});

/** Frames in chunks: `joins[at]` appends a frame to the previous one; `cuts` split inside frames. */
function chunksOf(frames: readonly string[], joins: readonly boolean[], cuts: readonly number[]): Buffer[] {
  const joined: string[] = [];
  frames.forEach((frame, at) => {
    if (at > 0 && at % 3 === 0 && joins[at]) joined.push((joined.pop() ?? '') + frame);
    else joined.push(frame);
  });
  let begin = 0;
  return joined.flatMap((one) => {
    const bytes = Buffer.from(one);
    const within = cuts.map((cut) => cut - begin).filter((cut) => cut > 0 && cut < bytes.length);
    begin += bytes.length;
    const edges = [0, ...within.sort((a, b) => a - b), bytes.length];
    return edges.slice(1).map((edge, at) => bytes.subarray(edges[at], edge));
  });
}
