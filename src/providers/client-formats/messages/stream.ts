import type { Json } from '../../endpoint.js';
import { isObject, list, textOf, wordOf } from '../../endpoints/reading.js';
import type { ChunkTranslator, Context, HubError, StreamEvent } from '../../translation.js';
import { spokenIn } from '../spoken.js';
import { envelope } from './answer.js';
import { citationsOf, NO_ARGUMENTS, toolUse } from './blocks.js';
import { messagesStreamError } from './errors.js';
import { BlockSequence, named } from './sequence.js';
import { sequenceOf, spokenRefusal, stopOf } from './stop.js';
import { toMessagesUsage, hubUsageIn, wholeUsage } from './usage.js';

const TEXT: Json = { type: 'text', text: '' };
const THINKING: Json = { type: 'thinking', thinking: '', signature: '' };

/**
 * The hub's chunks as Anthropic's stream: `message_start`; the blocks, one after the other; `message_delta` with the reason and the usage;
 * `message_stop`. https://platform.claude.com/docs/en/build-with-claude/streaming
 */
export class MessagesStream implements ChunkTranslator {
  readonly isUniform = true;
  private readonly blocks = new BlockSequence();
  private isStarted = false;
  private hasEnded = false;
  private refusal = '';
  private reason: unknown = null;
  private native: unknown = null;
  private sequence: unknown = null;
  private usage: unknown = null;

  constructor(private readonly context: Context) {}

  chunk(hub: Json): readonly StreamEvent[] {
    if (this.hasEnded) return [];
    this.usage = hubUsageIn(hub) ?? this.usage;
    const choice = list(hub.choices).find(isFirst);
    const events = [...this.start(hub)];
    if (!choice) return events;
    this.reason = choice.finish_reason ?? this.reason;
    this.native = choice.native_finish_reason ?? this.native;
    this.sequence = sequenceOf(choice) ?? this.sequence;
    if (isObject(choice.delta)) events.push(...this.contentEvents(choice.delta));
    return events;
  }

  end(): readonly StreamEvent[] {
    if (this.hasEnded) return [];
    const events = [...this.start({})];
    const { reason, native, sequence, refusal } = this;
    const { hasCalls } = this.blocks;
    events.push(...this.text(spokenRefusal(reason, refusal)), ...this.blocks.finish());
    const delta = { ...stopOf({ reason, native, sequence, hasCalls, refusal }), container: null };
    this.hasEnded = true;
    return [
      ...events,
      named('message_delta', { delta, usage: toMessagesUsage(this.usage) }),
      named('message_stop', {}),
    ];
  }

  fail(error: HubError): readonly StreamEvent[] {
    if (this.hasEnded) return [];
    this.hasEnded = true;
    const { type, ...fields } = messagesStreamError(error);
    return [named(wordOf(type), fields)];
  }

  private start(hub: Json): readonly StreamEvent[] {
    if (this.isStarted) return [];
    this.isStarted = true;
    const unknown = { stop_reason: null, stop_sequence: null, stop_details: null };
    const message = {
      ...envelope(hub, this.context),
      content: [],
      ...unknown,
      usage: wholeUsage(hub),
    };
    return [named('message_start', { message })];
  }

  private contentEvents(delta: Json): readonly StreamEvent[] {
    const { reasoning_content, reasoning, content, refusal, annotations } = delta;
    this.refusal += textOf(refusal);
    return [
      ...this.thinking(textOf(reasoning_content ?? reasoning)),
      ...list(delta.content_blocks).flatMap((block) => this.proof(block)),
      ...spokenIn(content).flatMap(({ text, isThought }) =>
        isThought ? this.thinking(text) : this.text(text),
      ),
      ...citationsOf(annotations).flatMap((citation) =>
        this.blocks.add('text', TEXT, { type: 'citations_delta', citation }),
      ),
      ...list(delta.tool_calls).flatMap((call) => this.call(call)),
    ];
  }

  private text(text: string): readonly StreamEvent[] {
    return text === '' ? [] : this.blocks.add('text', TEXT, { type: 'text_delta', text });
  }

  private thinking(thinking: string): readonly StreamEvent[] {
    return thinking === '' ? [] : this.blocks.add('thinking', THINKING, { type: 'thinking_delta', thinking });
  }

  /** The signature of thinking, whose text has already arrived as `reasoning_content`. A signature ends its block. */
  private proof(block: unknown): readonly StreamEvent[] {
    const delta = isObject(block) ? block.delta : null;
    if (!isObject(delta)) return [];
    const { signature, data } = delta;
    if (typeof signature === 'string' && signature !== '') {
      const proven = this.blocks.add('thinking', THINKING, { type: 'signature_delta', signature });
      return [...proven, ...this.blocks.cut()];
    }
    if (typeof data !== 'string' || data === '') return [];
    return [...this.blocks.add('redacted', { type: 'redacted_thinking', data }, null), ...this.blocks.cut()];
  }

  private call(call: unknown): readonly StreamEvent[] {
    if (!isObject(call)) return [];
    const key = `call:${Number.isSafeInteger(call.index) ? String(call.index) : '0'}`;
    const start = toolUse(call, {});
    if (!start && !this.blocks.has(key)) return [];
    const part = isObject(call.function) ? call.function.arguments : null;
    const isPart = typeof part === 'string' && part !== '' && part !== NO_ARGUMENTS;
    return this.blocks.add(
      key,
      start ?? {},
      isPart ? { type: 'input_json_delta', partial_json: part } : null,
    );
  }
}

/** A choice without an index is the first. */
function isFirst(choice: unknown): choice is Json {
  return isObject(choice) && (choice.index ?? 0) === 0;
}
