import type { SentRow } from './sent-row.js';

/** How much gathers for one delivery: it goes out when there are so many requests, or when the oldest has waited so long. */
export interface BatchWindow {
  readonly rows: number;
  readonly seconds: number;
}

/** Requests that were committed together, numbered. */
export interface LogBatch {
  readonly id: string;
  readonly seq: string;
  readonly rows: number;
  readonly first: Date;
  readonly last: Date;
}

/** What a sink is handed. Rows are read from the database when they are asked for. */
export interface Consignment {
  readonly batches: readonly LogBatch[];
  rows(): Promise<readonly SentRow[]>;
  rowsOf(batches: readonly LogBatch[]): Promise<readonly SentRow[]>;
}

/** A place that stored requests are sent on to. It is handed each of them at least once, in any order. */
export interface LogDestination {
  /** Names its cursor for all time. */
  readonly id: string;
  readonly gathering: BatchWindow;
  /** Resolves when the receiver has them all; rejects otherwise, and then is handed all of them again. */
  deliver(consignment: Consignment, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
