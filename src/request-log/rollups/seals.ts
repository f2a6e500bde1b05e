import { ADVISORY_LOCKS } from '../../database/advisory-locks.js';
import type { Queryable } from '../../database/queryable.js';

/** Everything before these times (milliseconds since the epoch, -Infinity at first) was removed from a table. */
export interface Seals {
  readonly row: number;
  readonly minute: number;
}

/** Adding to rollups takes the first lock until the commit; removing partitions or recounting from the request rows takes the second. */
export const LOCK_TO_ADD = `SELECT pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.rollups})`;
export const LOCK_ALONE = `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.rollups})`;

/** The times up to which retention has removed data. */
export async function readSeals(database: Queryable): Promise<Seals> {
  const rows = await database.query<{ grain: keyof Seals; before: number | null }>(
    `SELECT grain, CASE WHEN isfinite(before) THEN extract(epoch FROM before)::float8 * 1000 END AS before FROM rollup_seals`,
  );
  const at = (granularity: keyof Seals): number =>
    rows.find((row) => row.grain === granularity)?.before ?? -Infinity;
  return { row: at('row'), minute: at('minute') };
}
