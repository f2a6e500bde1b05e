/** A row as a directory read it, for the successor of this process. */
export interface KeptRow {
  /** The statement that read it: rows of a statement that this release does not use are not loaded. */
  readonly question: string;
  /** Its cache key. */
  readonly key: string;
  /** The lookup that reads it again; without secrets. */
  readonly asked: unknown;
  /** Written by `writeRow`. */
  readonly row: string;
  /** When it was read, and when it was last used: milliseconds since the epoch. */
  readonly readAt: number;
  readonly wantedAt: number;
}
