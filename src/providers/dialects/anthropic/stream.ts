import type { Json } from '../../endpoint.js';
import { isObject, stringify } from '../../endpoints/reading.js';
import {
  type Context,
  type EventTranslator,
  NOTHING,
  type StreamEvent,
  type TranslatedEvent,
  UNNOTED,
} from '../../translation.js';
import { anthropicCitationFields, sortAnthropicCitations } from './citations.js';
import { anthropicStreamError } from './errors.js';
import { fromStopReason, anthropicStopFields, refusalText } from './finish.js';
import { anthropicServiceTier, anthropicUsage, mergedUsage } from './usage.js';

const NO_FIELDS: Json = {};
const GOES_ON: Json = { finish_reason: null };

/** State of an open block. */
interface AnthropicBlock {
  /** Index among the tool calls; null for other blocks. */
  readonly call: number | null;
  /** Whether any of the call's arguments have been sent. */
  hasArguments: boolean;
  /** The input in the start event, for a call without argument events. */
  readonly input: unknown;
  /** Where its text begins in the response's. */
  readonly start: number;
  readonly citations: unknown[];
  /** A block of one of Anthropic's own tools, which only Anthropic reads; null for every other. */
  readonly own: Json | null;
  /** The input of such a tool, as it grows. */
  json: string;
}

/** Blocks that are sent in pieces. All others are sent when they are complete. */
const IN_PIECES: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']);

/** Longer than any input of Anthropic's own tools; beyond it, the block is sent without its input. */
const INPUT_CHARS_MAX = 1024 * 1024;

/**
 * Anthropic's stream as the hub's chunks. https://platform.claude.com/docs/en/build-with-claude/streaming
 *
 * Unknown or malformed events are ignored. Blocks are identified by their index, so events of several blocks may be interleaved.
 */
export class AnthropicStream implements EventTranslator {
  private readonly blocks = new Map<unknown, AnthropicBlock>();
  private calls = 0;
  private length = 0;
  private usage: Json = {};
  private id: string;
  private model: string;
  private isStarted = false;
  private isFinished = false;
  private hasEnded = false;
  private readonly textGrew = (text: string): void => {
    this.length += text.length;
  };

  constructor(private readonly context: Context) {
    this.id = context.id;
    this.model = context.model;
  }

  event(event: StreamEvent): TranslatedEvent {
    const data = this.hasEnded ? null : parse(event.data);
    if (!data) return NOTHING;
    const type = typeof data.type === 'string' ? data.type : event.event;
    if (type === 'error') return this.broken(data);
    if (type === 'message_stop') return this.stopped();
    if (type === 'content_block_delta') return this.blockGrew(data);
    return { chunks: this.read(type, data), ...this.soFar(type) };
  }

  end(): TranslatedEvent {
    return NOTHING;
  }

  private soFar(type: unknown): Pick<TranslatedEvent, 'soFar'> {
    if (type !== 'message_start' && type !== 'message_delta') return {};
    const usage = anthropicUsage(this.usage);
    return usage ? { soFar: { usage, isBeginning: type === 'message_start' } } : {};
  }

  private read(type: unknown, data: Json): readonly Json[] {
    switch (type) {
      case 'message_start':
        return this.started(data);
      case 'content_block_start':
        return this.blockStarted(data);
      case 'content_block_stop':
        return this.blockStopped(data);
      case 'message_delta':
        return this.messageChanged(data);
      default:
        return [];
    }
  }

  private started({ message }: Json): readonly Json[] {
    if (this.isStarted || !isObject(message)) return [];
    this.isStarted = true;
    const { id, model, usage } = message;
    if (typeof id === 'string') this.id = id;
    if (typeof model === 'string') this.model = model;
    this.usage = mergedUsage(this.usage, usage);
    return [this.chunk({ role: 'assistant', content: '' })];
  }

  private blockStarted({ index, content_block: block }: Json): readonly Json[] {
    if (!isObject(block) || this.blocks.has(index)) return [];
    const { type, id, name, input } = block;
    const isCall = type === 'tool_use' && typeof id === 'string' && typeof name === 'string';
    const call = isCall ? this.calls++ : null;
    const own = ownBlock(block);
    this.blocks.set(index, {
      call,
      hasArguments: false,
      input,
      start: this.length,
      citations: [],
      own,
      json: '',
    });
    if (call !== null) return [this.call(call, { id, type: 'function', function: { name, arguments: '' } })];
    if (type === 'redacted_thinking') return this.extra(index, { data: block.data });
    if (type === 'text') return this.text(block, index);
    return type === 'thinking' ? this.thinking(block, index) : [];
  }

  private blockGrew({ index, delta }: Json): TranslatedEvent {
    if (!isObject(delta)) return NOTHING;
    switch (delta.type) {
      case 'text_delta':
        return { chunks: this.text(delta, index), again: this.textGrew };
      case 'thinking_delta':
        return { chunks: this.thinking(delta, index), again: UNNOTED };
      case 'signature_delta':
        return { chunks: this.extra(index, { signature: delta.signature }) };
      case 'input_json_delta':
        return { chunks: this.argumentsGrew(delta, index), again: UNNOTED };
      case 'citations_delta':
        return { chunks: this.cited(delta.citation, index) };
      default:
        return NOTHING;
    }
  }

  private blockStopped({ index }: Json): readonly Json[] {
    const block = this.blocks.get(index);
    if (!block) return [];
    this.blocks.delete(index);
    if (block.call !== null) return block.hasArguments ? [] : [this.wholeInput(block.call, block.input)];
    if (block.own) return this.extra(index, { block: withInput(block.own, block.json) });
    const sorted = sortAnthropicCitations(block.citations, { start: block.start, end: this.length });
    const fields = anthropicCitationFields(sorted, this.context.isStrict);
    return Object.keys(fields).length > 0 ? [this.chunk(fields)] : [];
  }

  private messageChanged({ delta, usage }: Json): readonly Json[] {
    this.usage = mergedUsage(this.usage, usage);
    if (!isObject(delta) || typeof delta.stop_reason !== 'string') return [];
    const refusal = refusalText(delta.stop_details);
    return [...(refusal === null ? [] : [this.chunk({ refusal })]), ...this.finish(delta)];
  }

  private finish({ stop_reason: reason, stop_sequence: sequence }: Json): readonly Json[] {
    if (this.isFinished) return [];
    this.isFinished = true;
    const { isStrict } = this.context;
    const native = anthropicStopFields(reason, sequence, isStrict);
    return [this.chunk({}, { finish_reason: fromStopReason(reason), ...native })];
  }

  private stopped(): TranslatedEvent {
    this.hasEnded = true;
    const usage = {
      ...this.chunkOf([]),
      usage: anthropicUsage(this.usage),
      ...anthropicServiceTier(this.usage),
    };
    return { chunks: [...this.finish({}), usage], isDone: true };
  }

  private broken(data: Json): TranslatedEvent {
    this.hasEnded = true;
    return { chunks: [], error: anthropicStreamError(data) };
  }

  private text({ text }: Json, index: unknown): readonly Json[] {
    if (typeof text !== 'string' || text === '') return [];
    this.textGrew(text);
    return [this.chunk({ content: text, ...this.extraFields(index, { text }) })];
  }

  private thinking({ thinking }: Json, index: unknown): readonly Json[] {
    if (typeof thinking !== 'string' || thinking === '') return [];
    return [this.chunk({ reasoning_content: thinking, ...this.extraFields(index, { thinking }) })];
  }

  private argumentsGrew({ partial_json: part }: Json, index: unknown): readonly Json[] {
    const block = this.blocks.get(index);
    if (!block || typeof part !== 'string' || part === '') return [];
    if (block.own && block.json.length < INPUT_CHARS_MAX) block.json += part;
    if (block.call === null) return [];
    block.hasArguments = true;
    return [this.call(block.call, { function: { arguments: part } })];
  }

  private cited(citation: unknown, index: unknown): readonly Json[] {
    this.blocks.get(index)?.citations.push(citation);
    return isObject(citation) ? this.extra(index, { citation }) : [];
  }

  /** A call without argument events: its start event's input, or an empty object. */
  private wholeInput(call: number, input: unknown): Json {
    return this.call(call, { function: { arguments: isObject(input) ? stringify(input) : '{}' } });
  }

  private call(index: number, fields: Json): Json {
    return this.chunk({ tool_calls: [{ index, ...fields }] });
  }

  private extra(index: unknown, delta: Json): readonly Json[] {
    const fields = this.extraFields(index, delta);
    return 'content_blocks' in fields ? [this.chunk(fields)] : [];
  }

  private extraFields(index: unknown, delta: Json): Json {
    if (this.context.isStrict) return NO_FIELDS;
    const isSound = Number.isSafeInteger(index) && Object.values(delta).every(isTellable);
    return isSound ? { content_blocks: [{ index, delta }] } : NO_FIELDS;
  }

  private chunk(delta: Json, end: Json = GOES_ON): Json {
    return this.chunkOf([{ index: 0, delta, logprobs: null, ...end }]);
  }

  private chunkOf(choices: readonly Json[]): Json {
    const { id, model } = this;
    return { id, object: 'chat.completion.chunk', created: this.context.created, model, choices };
  }
}

const ownBlock = (block: Json): Json | null => (IN_PIECES.has(block.type) ? null : block);

const isTellable = (value: unknown): boolean => typeof value === 'string' || isObject(value);

/** The input of Anthropic's own tools follows the block's start, as the text of an object. */
function withInput(block: Json, json: string): Json {
  const input = json === '' ? null : parse(json);
  return input ? { ...block, input } : block;
}

function parse(data: string): Json | null {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
