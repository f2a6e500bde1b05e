import type { Json } from '../../endpoint.js';
import { stringify } from '../../endpoints/reading.js';
import type { StreamEvent } from '../../translation.js';

/** A named event with its name in the data, too. https://platform.claude.com/docs/en/build-with-claude/streaming */
export function named(type: string, fields: Json): StreamEvent {
  return { event: type, data: stringify({ type, ...fields }) };
}

/** A block that has begun, or waits for those before it. */
interface OpenBlock {
  readonly key: string;
  readonly start: Json;
  readonly deltas: Json[];
}

/** Marks the end of a block among the waiting ones, and never begins. */
const CUT = 'cut';

/** Keys of blocks that later blocks must not close, because more pieces may arrive for them. */
const isCall = (key: string): boolean => key.startsWith('call:');

/**
 * Blocks one after the other, as Anthropic's clients expect them: each begins, grows and ends before the next begins, and has the next
 * number.
 *
 * Text and thinking end when another block begins. A tool call ends with the response, because a provider may continue an earlier call
 * after it has begun another; blocks after the first call wait for it.
 */
export class BlockSequence {
  private index = -1;
  private open: OpenBlock | null = null;
  private waiting: OpenBlock[] = [];

  /** Adds to the block of this key. A new one begins if the latest block has another key. */
  add(key: string, start: Json, delta: Json | null): readonly StreamEvent[] {
    const known = isCall(key) ? this.find(key) : this.latest(key);
    if (known) return delta ? this.grow(known, delta) : [];
    const block: OpenBlock = { key, start, deltas: delta ? [delta] : [] };
    if (!this.open || !isCall(this.open.key)) return [...this.close(), ...this.begin(block)];
    this.waiting.push(block);
    return [];
  }

  /** Whether a block of this key has begun or waits. */
  has(key: string): boolean {
    return this.find(key) !== null;
  }

  /** Whether any tool has been called. */
  get hasCalls(): boolean {
    return this.open !== null && isCall(this.open.key);
  }

  /** Ends the latest block of text or thinking, so that the next of its kind is a separate one. */
  cut(): readonly StreamEvent[] {
    if (!this.open) return [];
    if (!isCall(this.open.key)) return this.close();
    this.waiting.push({ key: CUT, start: {}, deltas: [] });
    return [];
  }

  /** Ends the open block, then begins and ends all waiting ones. */
  finish(): readonly StreamEvent[] {
    const events = [...this.close()];
    const waiting = this.waiting.filter(({ key }) => key !== CUT);
    this.waiting = [];
    for (const block of waiting) events.push(...this.begin(block), ...this.close());
    return events;
  }

  private find(key: string): OpenBlock | null {
    return [this.open, ...this.waiting].find((block) => block?.key === key) ?? null;
  }

  private latest(key: string): OpenBlock | null {
    const last = this.waiting.at(-1) ?? this.open;
    return last?.key === key ? last : null;
  }

  private begin(block: OpenBlock): readonly StreamEvent[] {
    this.open = block;
    this.index += 1;
    const start = named('content_block_start', { index: this.index, content_block: block.start });
    return [start, ...block.deltas.map((delta) => this.delta(delta))];
  }

  private grow(block: OpenBlock, delta: Json): readonly StreamEvent[] {
    if (block === this.open) return [this.delta(delta)];
    block.deltas.push(delta);
    return [];
  }

  private close(): readonly StreamEvent[] {
    if (!this.open) return [];
    this.open = null;
    return [named('content_block_stop', { index: this.index })];
  }

  private delta(delta: Json): StreamEvent {
    return named('content_block_delta', { index: this.index, delta });
  }
}
