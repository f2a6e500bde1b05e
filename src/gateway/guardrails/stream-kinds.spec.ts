import { describe, expect, it } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { readHook } from '../../routing-config/guardrails/read-hooks.js';
import { DocumentPath } from '../../routing-config/document-path.js';
import type { Json } from '../../providers/endpoint.js';
import { type EventFraming, framesOf } from '../framing/index.js';
import { makeCheck } from './checks/index.js';
import { Placeholders } from './placeholders.js';
import { threads } from './covered/stored-texts.js';
import { interactions } from './texts/interaction-texts.js';
import { type Hook, readsTexts } from './run-hooks.js';
import { StreamGuard } from './stream-guard.js';
import { ENDPOINT_TEXTS, WHOLE_EVENTS } from './texts/endpoint-texts.js';
import type { StreamTexts } from './texts/text-tree.js';

function hookOf(written: object): Hook {
  const spec = readHook(written, DocumentPath.root([], 'hook'), {
    side: 'output',
    type: 'guardrail',
    id: 'h0',
  });
  if (!spec) throw new Error(JSON.stringify(written));
  const tools = { http: {} as never, provider: {} as never };
  const checks = spec.checks.map((check) => ({
    spec: check,
    check: makeCheck(check, tools),
    readsTexts: readsTexts(check),
  }));
  return { spec, checks };
}

const DENYING = hookOf({ 'default.contains': { operator: 'none', words: ['Apollo'] }, deny: true });
const REDACTING = hookOf({ 'default.pii': { redact: true } });

function guard(hook: Hook, texts: StreamTexts, framing: EventFraming = 'sse'): StreamGuard {
  const facts = {
    ...{ id: 'id', traceId: 'trace', endpoint: null, model: 'm', isStreamed: true, metadata: null },
    ...{ headers: {}, caller: aCaller(), placeholders: new Placeholders(), request: null },
  };
  return new StreamGuard({
    hooks: [hook],
    texts,
    facts,
    frames: framesOf(framing),
    onEvent: () => undefined,
  });
}

/** A kind of piece that a provider documents, or that none does. */
interface PieceKind {
  readonly texts: StreamTexts;
  readonly event: (piece: string) => Json;
  /** Steps to the piece in the event. */
  readonly at: readonly (string | number)[];
  /** Whether a text that is cut can be rewritten, or stops the stream. */
  readonly isRewritten: boolean;
  readonly source: string | null;
}

const streamOf = (id: keyof typeof ENDPOINT_TEXTS): StreamTexts => ENDPOINT_TEXTS[id]?.stream as StreamTexts;
const CHAT = 'https://platform.openai.com/docs/api-reference/chat-streaming/streaming';
const RESPONSES = 'https://platform.openai.com/docs/api-reference/responses-streaming';
const MESSAGES = 'https://docs.claude.com/en/docs/build-with-claude/streaming';
const GEMINI = 'https://ai.google.dev/api/caching#Part';
const PARTIAL = 'https://googleapis.github.io/js-genai/release_docs/interfaces/types.PartialArg.html';
const COHERE = 'https://docs.cohere.com/reference/chat-stream';
const STEPS = 'https://ai.google.dev/gemini-api/docs/interactions/streaming';
const ASSISTANTS = 'https://platform.openai.com/docs/api-reference/assistants-streaming/events';

/** The object with one value at the end of these steps. */
const nested = (steps: readonly (string | number)[], value: unknown): unknown =>
  steps.reduceRight<unknown>(
    (inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }),
    value,
  );

type StreamKindCase = readonly [name: string, kind: PieceKind];

const row =
  (texts: StreamTexts, source: string | null, isRewritten: boolean) =>
  (name: string, steps: readonly (string | number)[], more: Json = {}): StreamKindCase => [
    name,
    {
      ...{ texts, at: steps, isRewritten, source },
      event: (piece) => ({ ...more, ...(nested(steps, piece) as Json) }),
    },
  ];

const chatDelta = (texts: StreamTexts, source: string | null, isRewritten: boolean) => {
  const make = row(texts, source, isRewritten);
  return (name: string, ...steps: (string | number)[]) =>
    make(`chat: ${name}`, ['choices', 0, 'delta', ...steps]);
};
const known = chatDelta(streamOf('chat-completions'), CHAT, true);
const unknown = chatDelta(streamOf('chat-completions'), null, false);
const response = row(streamOf('responses'), RESPONSES, true);
const unknownResponse = row(streamOf('responses'), null, false);
const ITEM = { output_index: 0, content_index: 0, sequence_number: 1 };
const block = (isRewritten: boolean, source: string | null = MESSAGES) => {
  const make = row(streamOf('messages'), source, isRewritten);
  return (type: string, ...steps: string[]): StreamKindCase => {
    const [name, kind] = make(`messages: ${type}`, ['delta', ...steps]);
    const whole = (piece: string): Json => {
      const { delta } = kind.event(piece);
      return { type: 'content_block_delta', index: 0, delta: { type, ...(delta as Json) } };
    };
    return [name, { ...kind, event: whole }];
  };
};
const gemini = (source: string | null, isRewritten: boolean) => {
  const make = row(streamOf('generate-content'), source, isRewritten);
  return (name: string, ...steps: (string | number)[]) =>
    make(`Gemini: ${name}`, ['candidates', 0, 'content', 'parts', 0, ...steps]);
};
const cohere = row(streamOf('chat-v2'), COHERE, true);

const KINDS: readonly StreamKindCase[] = [
  known('content', 'content'),
  known('refusal', 'refusal'),
  known('reasoning', 'reasoning_content'),
  known('transcript', 'audio', 'transcript'),
  known('arguments', 'tool_calls', 0, 'function', 'arguments'),
  known('input', 'tool_calls', 0, 'custom', 'input'),
  known('any member of the delta', 'unheard_of'),
  unknown('below an unknown member', 'unheard_of', 'deep'),
  unknown('in an unknown list', 'unheard_of', 0, 'deep'),
  unknown('an annotation', 'annotations', 0, 'url_citation', 'title'),
  row(streamOf('chat-completions'), null, false)('chat: a text beside the delta', ['choices', 0, 'text']),
  row(streamOf('chat-completions'), null, false)('chat: a member beside the choices', ['unheard_of']),
  row(
    streamOf('chat-completions'),
    null,
    false,
  )('chat: a message without a delta', [...['choices', 0, 'message', 'content']]),
  row(streamOf('completions'), CHAT, true)('completions: text', ['choices', 0, 'text']),
  row(streamOf('completions'), null, false)('completions: a delta', ['choices', 0, 'delta', 'content']),
  ...[
    'response.output_text.delta',
    'response.refusal.delta',
    'response.function_call_arguments.delta',
    'response.custom_tool_call_input.delta',
    'response.mcp_call_arguments.delta',
    'response.code_interpreter_call_code.delta',
    'response.reasoning_text.delta',
    'response.reasoning_summary_text.delta',
    'response.audio.transcript.delta',
    'response.unheard_of.delta',
  ].map((type) => response(type, ['delta'], { type, ...ITEM })),
  ...['text', 'code', 'arguments', 'unheard_of'].map((member) =>
    unknownResponse(`response.unheard_of.delta with ${member}`, [member], {
      ...{ type: 'response.unheard_of.delta', ...ITEM },
    }),
  ),
  unknownResponse('response.unheard_of.delta with an object', ['delta', 'deep'], {
    ...{ type: 'response.unheard_of.delta', ...ITEM },
  }),
  unknownResponse('response.output_text.annotation.added', ['annotation', 'title'], {
    ...{ type: 'response.output_text.annotation.added', ...ITEM },
  }),
  block(true)('text_delta', 'text'),
  block(true)('thinking_delta', 'thinking'),
  block(true)('input_json_delta', 'partial_json'),
  block(false)('citations_delta', 'citation', 'cited_text'),
  block(false)('compaction_delta', 'content'),
  block(false, null)('unheard_of_delta', 'unheard_of'),
  gemini(GEMINI, true)('text', 'text'),
  gemini(GEMINI, false)('executableCode.code', 'executableCode', 'code'),
  gemini(GEMINI, false)('codeExecutionResult.output', 'codeExecutionResult', 'output'),
  gemini(PARTIAL, false)('partialArgs', 'functionCall', 'partialArgs', 0, 'stringValue'),
  gemini(GEMINI, false)('functionCall.args', 'functionCall', 'args', 'query'),
  gemini(null, false)('an unknown part', 'unheardOf', 'text'),
  cohere('Cohere: text', ['delta', 'message', 'content', 'text'], { type: 'content-delta', index: 0 }),
  cohere('Cohere: tool plan', ['delta', 'message', 'tool_plan'], { type: 'tool-plan-delta', index: 0 }),
  cohere('Cohere: arguments', ['delta', 'message', 'tool_calls', 'function', 'arguments'], {
    ...{ type: 'tool-call-delta', index: 0 },
  }),
  row(streamOf('chat-v2'), COHERE, false)('Cohere: citation', ['delta', 'message', 'citations', 'text'], {
    type: 'citation-start',
    index: 0,
  }),
  row(streamOf('transcriptions'), `${RESPONSES}/transcript-text-delta-event`, true)(
    'transcript.text.delta',
    ['delta'],
    { type: 'transcript.text.delta' },
  ),
  row(interactions.stream, STEPS, true)('step.delta', ['delta', 'text'], {
    event_type: 'step.delta',
    index: 0,
  }),
  row(interactions.stream, STEPS, true)('step.delta of arguments', ['delta', 'arguments'], {
    ...{ event_type: 'step.delta', index: 0 },
  }),
  row(interactions.stream, STEPS, false)('step.delta of a result', ['delta', 'result', 'output'], {
    ...{ event_type: 'step.delta', index: 0 },
  }),
  row(threads.stream, ASSISTANTS, true)('thread.message.delta', ['delta', 'content', 0, 'text', 'value'], {
    id: 'msg_1',
    object: 'thread.message.delta',
  }),
  row(threads.stream, ASSISTANTS, true)(
    'thread.run.step.delta',
    ['delta', 'step_details', 'tool_calls', 0, 'code_interpreter', 'input'],
    { id: 'step_1', object: 'thread.run.step.delta' },
  ),
  row(WHOLE_EVENTS, null, false)('a stream that no table knows', ['token', 'text']),
];

const cut = (text: string, chars: number): string[] =>
  Array.from({ length: Math.ceil(text.length / chars) }, (_, index) =>
    text.slice(index * chars, (index + 1) * chars),
  );

const pieceIn = (event: unknown, steps: readonly (string | number)[]): string => {
  const value = steps.reduce<unknown>((at, step) => (at as Json | undefined)?.[step], event);
  return typeof value === 'string' ? value : '';
};

/** What a client joins of a stream, and the guardrail that stopped it. */
function passed(
  hook: Hook,
  { texts, event, at }: PieceKind,
  pieces: readonly string[],
  framing: EventFraming,
) {
  const stream = guard(hook, texts, framing);
  const events = pieces.map((piece) => JSON.stringify(event(piece)));
  const bytes =
    framing === 'sse' ? events.map((data) => `data: ${data}\n\n`).join('') : `[${events.join(',')}]`;
  let out = '';
  for (const byte of cut(bytes, 7)) out += stream.feed(Buffer.from(byte));
  out += stream.end();
  const sent =
    framing === 'sse'
      ? out.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
      : stream.isDenied
        ? []
        : (JSON.parse(out) as unknown[]);
  return {
    text: sent.map((one) => pieceIn(one, at)).join(''),
    deniedBy: stream.deniedBy,
    texts: stream.texts,
  };
}

const FRAMINGS: readonly EventFraming[] = ['sse', 'json-array'];
const SIZES = [1, 2, 3, 4, 5];
const cells = FRAMINGS.flatMap((framing) => SIZES.map((size) => ({ framing, size })));

describe.each(KINDS)('pieces of %s', (_, kind) => {
  it('are denied like the whole text, however they are cut, and the whole never leaves', () => {
    for (const { framing, size } of cells)
      for (const said of ['the Apollo plan', 'Apollo', `${'l'.repeat(20)} Apollo`]) {
        const { text, deniedBy } = passed(DENYING, kind, cut(said, size), framing);

        expect([size, said, deniedBy]).toEqual([size, said, 'h0']);
        expect(text).not.toContain('Apollo');
      }
  });

  it('are denied where the text is JSON that escapes it', () => {
    for (const { framing, size } of cells) {
      const { deniedBy } = passed(DENYING, kind, cut('{"q":"the \\u0041pollo plan"}', size), framing);

      expect([size, deniedBy]).toEqual([size, 'h0']);
    }
  });

  it('are redacted like the whole text, or stop before it is whole', () => {
    for (const { framing, size } of cells) {
      const { text, deniedBy } = passed(REDACTING, kind, cut('to joe@example.com now', size), framing);

      if (kind.isRewritten) expect([text, deniedBy]).toEqual(['to {{EMAIL_ADDRESS_1}} now', null]);
      else expect(deniedBy).toBe('h0');
      expect(text).not.toContain('joe@example.com');
    }
  });

  it('pass unchanged where nothing is found', () => {
    for (const hook of [DENYING, REDACTING])
      for (const { framing, size } of cells) {
        const said = 'all well, the Hermes plan holds: 12 of 20.';
        const { text, deniedBy } = passed(hook, kind, cut(said, size), framing);

        expect([text, deniedBy]).toEqual([said, null]);
      }
  });

  it('are judged at the end as the text that they join to', () => {
    const { texts } = passed(DENYING, kind, cut('the Hermes plan', 4), 'sse');

    expect(texts?.every).toContain('the Hermes plan');
  });
});

describe('strings that repeat beside the pieces of a stream', () => {
  const said = (content: string, more: Json): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }], ...more })}\n\n`;
  const through = (hook: Hook, events: readonly string[]) => {
    const stream = guard(hook, streamOf('chat-completions'));
    const out = events.map((event) => stream.feed(Buffer.from(event))).join('') + stream.end();
    return { out, deniedBy: stream.deniedBy };
  };

  it.each([
    ['a date', '2024-01-01'],
    ['digits', '4111'],
    ['an address', 'joe@example.com'],
  ])('are no pieces: %s', (_, value) => {
    const events = Array.from({ length: 50 }, (__, at) => said(`w${at} `, { note: value }));

    expect(through(REDACTING, events).deniedBy).toBeNull();
  });

  it('are no pieces where each is the text so far', () => {
    const sofar = ['Call 4111 1111', 'Call 4111 1111 now', 'Call 4111 1111 now 1111 1111'];

    expect(
      through(
        REDACTING,
        sofar.map((note) => said('w ', { note })),
      ).deniedBy,
    ).toBeNull();
  });

  it('are no pieces where they are padding', () => {
    const events = ['Apo', 'llo'].map((obfuscation) => said('w ', { obfuscation }));

    expect(through(DENYING, events).deniedBy).toBeNull();
  });

  it('stop the stream where there are more of them than can be kept', () => {
    const names = Array.from({ length: 60_000 }, (_, at) => [`name${at}`, 'x']);
    const event = said('w ', { many: Object.fromEntries(names) as Json });

    expect(through(DENYING, [event]).deniedBy).toBe('h0');
  });
});
