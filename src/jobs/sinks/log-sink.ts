import type { GuardrailRun } from './guardrail-run.js';
import type { SentRow } from './sent-row.js';

/** Size of one delivery: it goes out at this many requests, or when the oldest has waited this long. */
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

/** A delivery as passed to a sink. Rows are read from the database on demand. */
export interface Consignment {
  readonly batches: readonly LogBatch[];
  rows(): Promise<readonly SentRow[]>;
  rowsOf(batches: readonly LogBatch[]): Promise<readonly SentRow[]>;
  /** The guardrails that ran for these requests, by the request's id. */
  guardrailRuns(): Promise<ReadonlyMap<string, readonly GuardrailRun[]>>;
}

/** A destination for stored requests. It receives each of them at least once, in any order. */
export interface LogDestination {
  /** Identifies its cursor permanently. */
  readonly id: string;
  readonly gathering: BatchWindow;
  /** Resolves when the receiver has accepted them all; otherwise rejects, and all of them are delivered again. */
  deliver(consignment: Consignment, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
