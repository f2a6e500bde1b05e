import type { DataSource } from 'typeorm';
import type { Queryable } from '../database/queryable.js';
import { ensurePartitions } from './add-requests.js';
import { GRAIN_MS } from './grains.js';
import { deriveSql, FAMILIES } from './rollup-sql.js';
import { LOCK_TO_ADD, readSeals } from './seals.js';
import { inTransaction } from './transaction.js';

/** An hour or a day that changed below. */
export interface Mark {
  readonly grain: 'hour' | 'day';
  readonly bucket: Date;
}

/**
 * What may be derived: it is over, and nothing was added to it for a while, so that work is done once and nobody who
 * adds has to wait. A day waits for its hours. Until then readers take what lies below.
 */
const RIPE = `
  SELECT grain, bucket FROM rollup_marks AS mark
  WHERE bucket + CASE grain WHEN 'hour' THEN interval '1 hour' ELSE interval '1 day' END <= now() - $1::interval
    AND touched_at <= now() - $1::interval
    AND (grain = 'hour' OR NOT EXISTS (
      SELECT 1 FROM rollup_marks AS hour
      WHERE hour.grain = 'hour' AND hour.bucket >= mark.bucket AND hour.bucket < mark.bucket + interval '1 day'))
  ORDER BY grain DESC, bucket
  LIMIT $2`;

export function ripeMarks(database: Queryable, quietSeconds: number, most: number): Promise<Mark[]> {
  return database.query<Mark>(RIPE, [`${quietSeconds} seconds`, most]);
}

/**
 * Makes an hour out of its minutes, or a day out of its hours, in place of what was there. Answers false when another
 * process was faster. Done twice it gives the same; killed on the way it leaves the mark.
 */
export async function derive(database: DataSource, { grain, bucket }: Mark): Promise<boolean> {
  await ensurePartitions(
    database,
    FAMILIES.map((family) => [family.table(grain), bucket] as const),
  );
  return inTransaction(database, async (transaction) => {
    await transaction.query(LOCK_TO_ADD);
    if (!(await takeMark(transaction, { grain, bucket }))) return false;
    // Minutes that are gone cannot be added up again; whatever came late was added to the hour itself.
    const isGone = grain === 'hour' && bucket.getTime() < (await readSeals(transaction)).minute;
    if (!isGone) await replace(transaction, grain, bucket);
    if (grain === 'hour') await transaction.query(MARK_DAY, [bucket]);
    return true;
  });
}

async function takeMark(transaction: Queryable, { grain, bucket }: Mark): Promise<boolean> {
  const [taken] = await transaction.query<{ found: boolean }>(
    `WITH taken AS (DELETE FROM rollup_marks WHERE grain = $1 AND bucket = $2 RETURNING 1)
     SELECT EXISTS (SELECT 1 FROM taken) AS found`,
    [grain, bucket],
  );
  return taken?.found === true;
}

async function replace(transaction: Queryable, grain: Mark['grain'], bucket: Date): Promise<void> {
  const end = new Date(bucket.getTime() + GRAIN_MS[grain]);
  for (const family of FAMILIES) {
    await transaction.query(`DELETE FROM ${family.table(grain)} WHERE bucket = $1`, [bucket]);
    await transaction.query(deriveSql(family, grain), [bucket, end]);
  }
}

const MARK_DAY = `
  INSERT INTO rollup_marks (grain, bucket) VALUES ('day', date_trunc('day', $1::timestamptz, 'UTC'))
  ON CONFLICT (grain, bucket) DO UPDATE SET touched_at = now()`;
