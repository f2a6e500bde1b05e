/** A row as a directory read it, for another process after this one. */
export interface KeptRow {
  /** What was asked: rows of a statement that this release does not ask are not taken back. */
  readonly question: string;
  /** Under which it is remembered. */
  readonly key: string;
  /** With which it can be asked for again; without secrets. */
  readonly asked: unknown;
  /** By `writeRow`. */
  readonly row: string;
  /** When the store gave it, and when somebody last wanted it: milliseconds since the epoch. */
  readonly readAt: number;
  readonly wantedAt: number;
}
