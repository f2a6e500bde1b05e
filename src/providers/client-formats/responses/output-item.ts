import type { Json } from '../../endpoint.js';

/** Emits an event; its number is added later. */
export type Emit = (type: string, fields: Json) => void;

/** The position of an item in the response. */
export interface OutputPosition {
  readonly id: string;
  readonly output_index: number;
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** An item of a response while it grows. Growing emits the events of a stream. */
export interface OutputItem {
  /** The item so far. */
  snapshot(status: ItemStatus): Json;
  /** Emits the end of the item. Nothing is added after it. */
  close(status: ItemStatus): void;
}

/** Events that begin and end every item. */
export const added = (emit: Emit, { output_index }: OutputPosition, item: Json): void =>
  emit('response.output_item.added', { output_index, item });

export const done = (emit: Emit, { output_index }: OutputPosition, item: Json): void =>
  emit('response.output_item.done', { output_index, item });
