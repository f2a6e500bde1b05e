import type { KeptRow } from './directories/snapshot/kept-row.js';

/** What a snapshot asks of a cache. */
export interface Memory {
  /** Of this statement its rows are. */
  readonly question: string;
  /** Grows when something was learned that a snapshot does not say yet. */
  readonly learned: number;
  /** Grows when something was forgotten that a snapshot must not say any more. */
  readonly forgotten: number;
  /** From now on rows are remembered beside what was made of them. */
  keepRows(): void;
  /** What the store said, the newest first, as far as it may be served while the store is unavailable. */
  kept(): Iterable<KeptRow>;
  /** Takes a row as what was last known. False when it is too old, from the future, or cannot be read. */
  takeBack(kept: KeptRow): boolean;
  /** Reads again so many values at most that are old or may have changed. Never rejects. */
  renew(most: number): Promise<void>;
}

/** A directory that a snapshot can be made of. */
export interface RememberingDirectory {
  readonly memories: readonly Memory[];
}
