import type { Json } from '../../endpoint.js';
import { count, isObject, textOf } from '../../endpoints/reading.js';
import {
  type Context,
  type EventTranslator,
  NOTHING,
  type StreamEvent,
  type TranslatedEvent,
  UNNOTED,
} from '../../translation.js';
import { callId } from '../call-ids.js';
import { finishFields } from './answer.js';
import { cohereCitationFields } from './citations.js';
import { cohereError } from './errors.js';
import { chatUsage } from './usage.js';

/** Finish reasons that are failures, with the status that each would have had before the stream. */
const FAILURES: ReadonlyMap<unknown, number> = new Map([
  ['ERROR', 500],
  ['TIMEOUT', 504],
]);

type CohereEventHandler = (stream: CohereStream, event: Json) => TranslatedEvent;

/** https://docs.cohere.com/reference/chat-stream. `content-end`, `tool-call-end`, `citation-end` and `debug` add nothing. */
const HANDLERS: ReadonlyMap<unknown, CohereEventHandler> = new Map<unknown, CohereEventHandler>([
  ['message-start', (stream, event) => stream.start(event)],
  ['content-start', (stream, event) => stream.content(event)],
  ['content-delta', (stream, event) => ({ ...stream.content(event), again: UNNOTED })],
  [
    'tool-plan-delta',
    (stream, event) => stream.contentDelta({ content: textOf(messageIn(event).tool_plan) }),
  ],
  ['tool-call-start', (stream, event) => stream.call(event)],
  ['tool-call-delta', (stream, event) => ({ ...stream.callDelta(event), again: UNNOTED })],
  ['citation-start', (stream, event) => stream.citation(event)],
  ['message-end', (stream, event) => stream.finish(event)],
]);

/** Translates Cohere's stream to the hub's. */
export class CohereStream implements EventTranslator {
  private id: string;
  /** Cohere's index of a call, and the hub's. */
  private readonly calls = new Map<unknown, number>();

  constructor(private readonly context: Context) {
    this.id = context.id;
  }

  event({ data }: StreamEvent): TranslatedEvent {
    const event = parsed(data);
    if (!event) return NOTHING;
    const handle = HANDLERS.get(event.type);
    if (handle) return handle(this, event);
    // Errors have no type, wherever they occur.
    const isRefusal = event.type === undefined && typeof event.message === 'string';
    return isRefusal ? { chunks: [], error: cohereError(500, event) } : NOTHING;
  }

  end(): TranslatedEvent {
    return NOTHING;
  }

  start({ id }: Json): TranslatedEvent {
    if (typeof id === 'string') this.id = id;
    return this.contentDelta({ role: 'assistant', content: '' });
  }

  content(event: Json): TranslatedEvent {
    const { content } = messageIn(event);
    if (!isObject(content)) return NOTHING;
    const { text, thinking } = content;
    const thought = textOf(thinking);
    if (thought !== '')
      return this.contentDelta({ reasoning_content: thought, ...this.block(event, { thinking: thought }) });
    return textOf(text) === '' ? NOTHING : this.contentDelta({ content: textOf(text) });
  }

  call({ index, ...event }: Json): TranslatedEvent {
    const call = messageIn(event).tool_calls;
    if (!isObject(call) || !isObject(call.function) || typeof call.function.name !== 'string') return NOTHING;
    const { name, arguments: given } = call.function;
    const position = this.calls.size;
    this.calls.set(index, position);
    const id = typeof call.id === 'string' ? call.id : callId(this.context.id, position);
    const called = { name, arguments: textOf(given) };
    return this.contentDelta({ tool_calls: [{ index: position, id, type: 'function', function: called }] });
  }

  callDelta({ index, ...event }: Json): TranslatedEvent {
    const call = messageIn(event).tool_calls;
    const position = this.calls.get(index);
    if (position === undefined || !isObject(call) || !isObject(call.function)) return NOTHING;
    return this.contentDelta({
      tool_calls: [{ index: position, function: { arguments: textOf(call.function.arguments) } }],
    });
  }

  citation(event: Json): TranslatedEvent {
    const { citations } = messageIn(event);
    if (!isObject(citations)) return NOTHING;
    const fields = cohereCitationFields([citations], this.context.isStrict);
    return Object.keys(fields).length === 0 ? NOTHING : this.contentDelta(fields);
  }

  finish({ delta }: Json): TranslatedEvent {
    const { error, finish_reason, usage } = isObject(delta) ? delta : {};
    const status = FAILURES.get(finish_reason) ?? (typeof error === 'string' && error !== '' ? 500 : null);
    if (status !== null) return { chunks: [], error: cohereError(status, { message: error }) };
    const reported = chatUsage(usage);
    const last = this.chunk([
      { index: 0, delta: {}, logprobs: null, ...finishFields(finish_reason, this.context.isStrict) },
    ]);
    return { chunks: reported ? [last, { ...this.chunk([]), usage: reported }] : [last], isDone: true };
  }

  contentDelta(delta: Json): TranslatedEvent {
    return { chunks: [this.chunk([{ index: 0, delta, logprobs: null, finish_reason: null }])] };
  }

  private block({ index }: Json, delta: Json): Json {
    return this.context.isStrict ? {} : { content_blocks: [{ index: count(index) ?? 0, delta }] };
  }

  private chunk(choices: readonly Json[]): Json {
    const { created, model } = this.context;
    return { id: this.id, object: 'chat.completion.chunk', created, model, choices };
  }
}

function messageIn({ delta }: Json): Json {
  return isObject(delta) && isObject(delta.message) ? delta.message : {};
}

function parsed(data: string): Json | null {
  try {
    const event: unknown = JSON.parse(data);
    return isObject(event) ? event : null;
  } catch {
    return null;
  }
}
