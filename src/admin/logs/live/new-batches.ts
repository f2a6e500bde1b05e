import type { Queryable } from '../../../database/queryable.js';

/** Rows of the request log that were committed together. */
export interface NewBatch {
  readonly id: string;
  readonly first: Date;
  readonly last: Date;
}

/** A transaction that stores a batch lasts 90 seconds at most, so a batch that becomes visible is younger than this. */
const WINDOW_MS = 180_000;

const SINCE = `
  SELECT id, min_created_at - interval '1 ms' AS first, max_created_at + interval '1 ms' AS last
  FROM log_batches WHERE id > $1::uuid ORDER BY id`;

/**
 * Finds batches committed since the last call, each once. They do not become visible in the order of their ids, so it reads the last three
 * minutes and skips those already seen: late rows are not missed.
 */
export class NewBatches {
  private seen: ReadonlySet<string> | null = null;

  constructor(private readonly database: Queryable) {}

  /** Empty at the first call: existing batches are not new. */
  async next(now = Date.now()): Promise<readonly NewBatch[]> {
    const rows = await this.database.query<NewBatch>(SINCE, [earliestId(now - WINDOW_MS)]);
    const before = this.seen;
    this.seen = new Set(rows.map(({ id }) => id));
    return before ? rows.filter(({ id }) => !before.has(id)) : [];
  }

  /** No stream is open; batches until the next one opens are not new. */
  forget(): void {
    this.seen = null;
  }
}

/** The lowest id that can be created from this moment on. */
function earliestId(at: number): string {
  const hex = at.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
