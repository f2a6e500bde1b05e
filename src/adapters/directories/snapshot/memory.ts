import type { KeptRow } from './kept-row.js';

/** The methods of a cache that snapshots need. */
export interface Memory {
  /** The statement that its rows come from. */
  readonly question: string;
  /** Grows with each value that the snapshot does not contain yet. */
  readonly learned: number;
  /** Grows with each dropped value, which the snapshot must no longer contain. */
  readonly forgotten: number;
  /** From now on, keeps the row beside each value built from it. */
  keepRows(): void;
  /** Rows, newest first, that may still be served while the store is unavailable. */
  kept(): Iterable<KeptRow>;
  /** Loads a row as the last known one. False when it is too old, dated in the future, or unreadable. */
  takeBack(kept: KeptRow): boolean;
  /** Reloads up to `most` values that are old or may have changed. Never rejects. */
  renew(most: number): Promise<void>;
}

/** A directory that can be saved in a snapshot. */
export interface RememberingDirectory {
  readonly memories: readonly Memory[];
}
