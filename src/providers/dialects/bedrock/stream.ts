import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import {
  type Context,
  type EventTranslator,
  NOTHING,
  type StreamEvent,
  type TranslatedEvent,
} from '../../translation.js';
import { extras, SERVERS_OWN, stopSequenceOf } from './answer.js';
import { bedrockCitationFields, sortBedrockCitations } from './citations.js';
import { bedrockStreamError } from './errors.js';
import { fromConverseStopReason, converseStopFields } from './finish.js';
import { bedrockServiceTier, bedrockUsage } from './usage.js';

/** State of an open block. */
interface BedrockBlock {
  /** Index among the tool calls; null for other blocks. */
  readonly call: number | null;
  /** Whether any of the call's arguments have been sent. */
  hasArguments: boolean;
  /** Where its text begins in the response's. */
  readonly start: number;
  readonly citations: unknown[];
}

/**
 * Converse's stream as the hub's chunks. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 *
 * Unknown or malformed events are ignored. `metadata` with the usage comes last, after `messageStop`; a stream with a stop reason is
 * complete without it.
 */
export class ConverseStream implements EventTranslator {
  private readonly blocks = new Map<unknown, BedrockBlock>();
  private readonly head: Json;
  private calls = 0;
  private length = 0;
  private isFinished = false;
  private hasEnded = false;

  constructor(private readonly context: Context) {
    const { id, created, model } = context;
    this.head = { id, object: 'chat.completion.chunk', created, model };
  }

  event({ event, data }: StreamEvent): TranslatedEvent {
    if (this.hasEnded || event === null) return NOTHING;
    const payload = parse(data);
    if (event === 'metadata') return payload ? this.done(payload) : NOTHING;
    if (isError(event, payload)) return this.broken(event, payload);
    return { chunks: (payload && this.events.get(event)?.(payload)) ?? [] };
  }

  end(): TranslatedEvent {
    if (!this.isFinished || this.hasEnded) return NOTHING;
    this.hasEnded = true;
    return { chunks: [], isDone: true };
  }

  private readonly events: ReadonlyMap<unknown, (data: Json) => readonly Json[]> = new Map([
    ['messageStart', () => [this.chunk({ role: 'assistant', content: '' })]],
    ['contentBlockStart', (data: Json) => this.blockStarted(data)],
    ['contentBlockDelta', (data: Json) => this.blockGrew(data)],
    ['contentBlockStop', (data: Json) => this.blockStopped(data)],
    ['messageStop', (data: Json) => this.stopped(data)],
  ]);

  private blockStarted({ contentBlockIndex: index, start }: Json): readonly Json[] {
    const use = isObject(start) ? start.toolUse : null;
    if (!isObject(use) || typeof use.toolUseId !== 'string' || typeof use.name !== 'string') return [];
    if (this.blocks.has(index) || use.type === SERVERS_OWN) return [];
    const call = this.calls++;
    this.blocks.set(index, { call, hasArguments: false, start: this.length, citations: [] });
    const { toolUseId: id, name } = use;
    return [this.call(call, { id, type: 'function', function: { name, arguments: '' } })];
  }

  private blockGrew({ contentBlockIndex: index, delta }: Json): readonly Json[] {
    if (!isObject(delta)) return [];
    const { text, toolUse, reasoningContent, citation } = delta;
    const block = this.blockAt(index);
    if (isObject(citation)) block.citations.push(citation);
    if (isObject(toolUse)) return this.argumentsGrew(block, toolUse.input);
    if (isObject(reasoningContent)) return this.reasoned(index, reasoningContent);
    return this.textDelta(index, text);
  }

  /** Only calls have a start event; other blocks begin with their first delta. */
  private blockAt(index: unknown): BedrockBlock {
    const known = this.blocks.get(index);
    if (known) return known;
    const block = { call: null, hasArguments: false, start: this.length, citations: [] };
    this.blocks.set(index, block);
    return block;
  }

  private textDelta(index: unknown, text: unknown): readonly Json[] {
    if (typeof text !== 'string' || text === '') return [];
    this.length += text.length;
    return [this.chunk({ content: text, ...this.extraFields(index, { text }) })];
  }

  private reasoned(index: unknown, { text, signature, redactedContent: data }: Json): readonly Json[] {
    if (typeof text === 'string' && text !== '')
      return [this.chunk({ reasoning_content: text, ...this.extraFields(index, { thinking: text }) })];
    const fields =
      typeof signature === 'string'
        ? this.extraFields(index, { signature })
        : this.extraFields(index, { data });
    return 'content_blocks' in fields ? [this.chunk(fields)] : [];
  }

  private argumentsGrew(block: BedrockBlock, part: unknown): readonly Json[] {
    if (block.call === null || typeof part !== 'string' || part === '') return [];
    block.hasArguments = true;
    return [this.call(block.call, { function: { arguments: part } })];
  }

  /** Arguments that never arrived are an empty object. */
  private blockStopped({ contentBlockIndex: index }: Json): readonly Json[] {
    const block = this.blocks.get(index);
    if (!block) return [];
    this.blocks.delete(index);
    if (block.call !== null)
      return block.hasArguments ? [] : [this.call(block.call, { function: { arguments: '{}' } })];
    const fields = bedrockCitationFields(
      sortBedrockCitations(block.citations, block.start, this.length),
      this.context.isStrict,
    );
    return Object.keys(fields).length > 0 ? [this.chunk(fields)] : [];
  }

  private stopped(event: Json): readonly Json[] {
    if (this.isFinished) return [];
    this.isFinished = true;
    const { isStrict } = this.context;
    const { stopReason: reason } = event;
    const native = converseStopFields(reason, stopSequenceOf(event), isStrict);
    return [this.chunk({}, { finish_reason: fromConverseStopReason(reason), ...native })];
  }

  private done(data: Json): TranslatedEvent {
    if (!this.isFinished) return NOTHING;
    this.hasEnded = true;
    const usage = bedrockUsage(data.usage);
    const beside = {
      ...bedrockServiceTier(data.serviceTier),
      ...(this.context.isStrict ? {} : extras(data)),
    };
    return { chunks: usage ? [{ ...this.head, choices: [], usage, ...beside }] : [], isDone: true };
  }

  private broken(event: string, data: Json | null): TranslatedEvent {
    this.hasEnded = true;
    return { chunks: [], error: bedrockStreamError(event, data) };
  }

  private call(index: number, fields: Json): Json {
    return this.chunk({ tool_calls: [{ index, ...fields }] });
  }

  private extraFields(index: unknown, delta: Json): Json {
    const isSound =
      Number.isSafeInteger(index) && Object.values(delta).every((value) => typeof value === 'string');
    return this.context.isStrict || !isSound ? {} : { content_blocks: [{ index, delta }] };
  }

  private chunk(delta: Json, end: Json = { finish_reason: null }): Json {
    return { ...this.head, choices: [{ index: 0, delta, logprobs: null, ...end }] };
  }
}

/** Modelled exceptions have names that end in the word; others have their name in the data. */
function isError(event: string, data: Json | null): boolean {
  return event.endsWith('Exception') || event === 'exception' || typeof data?.__type === 'string';
}

function parse(data: string): Json | null {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
