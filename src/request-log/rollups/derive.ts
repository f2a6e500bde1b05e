import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';
import { ensureRollupPartitions } from './add-requests.js';
import { GRANULARITY_MS } from './granularities.js';
import { type DirtyBucket, markDay, postponeBucket, dueBuckets, takeBucket } from './dirty-buckets.js';
import { deriveSql, FAMILIES } from './rollup-sql.js';
import { LOCK_TO_ADD, readSeals } from './seals.js';
import { inTransaction } from './transaction.js';

/** One workspace's day with millions of requests takes a minute on a slow machine. Only late requests of that very day wait for it. */
const DERIVE_TIMEOUT = '10min';

/**
 * Derives a workspace's hour from its minutes, or its day from its hours, replacing the previous rows. Returns false if another process was
 * first. Idempotent; when killed, the mark remains.
 */
export async function derive(database: DataSource, mark: DirtyBucket): Promise<boolean> {
  const { grain: granularity, bucket } = mark;
  await ensureRollupPartitions(
    database,
    FAMILIES.map((family) => [family.table(granularity), bucket] as const),
  );
  return inTransaction(
    database,
    async (transaction) => {
      await transaction.query(LOCK_TO_ADD);
      if (!(await takeBucket(transaction, mark))) return false;
      // Removed minutes cannot be added up again; late requests were added to the hour itself.
      const isGone = granularity === 'hour' && bucket.getTime() < (await readSeals(transaction)).minute;
      if (!isGone) await replace(transaction, mark);
      if (granularity === 'hour') await markDay(transaction, mark);
      return true;
    },
    DERIVE_TIMEOUT,
  );
}

const MOST_AT_ONCE = 200;

/**
 * Derives all ripe buckets, and those that become ripe as a result. A failure does not block the others: its mark is postponed so that the
 * next round starts with others, and the first failure is thrown at the end.
 */
export async function deriveRipe(
  database: DataSource,
  quietSeconds: number,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const failures: unknown[] = [];
  for (let derived = 1; derived > 0;) {
    derived = 0;
    for (const bucket of await dueBuckets(database, quietSeconds, MOST_AT_ONCE)) {
      if (isStopped()) return;
      try {
        await derive(database, bucket);
        derived += 1;
      } catch (failure) {
        failures.push(failure);
        await postponeBucket(database, bucket);
      }
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function replace(
  transaction: Queryable,
  { grain: granularity, bucket, organisationId, workspaceId }: DirtyBucket,
): Promise<void> {
  const end = new Date(bucket.getTime() + GRANULARITY_MS[granularity]);
  for (const family of FAMILIES) {
    await transaction.query(
      `DELETE FROM ${family.table(granularity)} WHERE organisation_id = $1 AND workspace_id = $2 AND bucket = $3`,
      [organisationId, workspaceId, bucket],
    );
    await transaction.query(deriveSql(family, granularity), [organisationId, workspaceId, bucket, end]);
  }
}
