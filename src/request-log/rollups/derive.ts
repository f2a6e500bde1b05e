import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';
import { ensurePartitions } from './add-requests.js';
import { GRAIN_MS } from './grains.js';
import { type Mark, markDay, postponeMark, ripeMarks, takeMark } from './marks.js';
import { deriveSql, FAMILIES } from './rollup-sql.js';
import { LOCK_TO_ADD, readSeals } from './seals.js';
import { inTransaction } from './transaction.js';

/** A day of one workspace with millions of requests takes a minute on a slow machine. Only late requests of that very day wait for it. */
const PATIENCE = '10min';

/**
 * Makes a workspace's hour out of its minutes, or its day out of its hours, in place of what was there. Answers false when
 * another process was faster. Done twice it gives the same; killed on the way it leaves the mark.
 */
export async function derive(database: DataSource, mark: Mark): Promise<boolean> {
  const { grain, bucket } = mark;
  await ensurePartitions(
    database,
    FAMILIES.map((family) => [family.table(grain), bucket] as const),
  );
  return inTransaction(
    database,
    async (transaction) => {
      await transaction.query(LOCK_TO_ADD);
      if (!(await takeMark(transaction, mark))) return false;
      // Minutes that are gone cannot be added up again; whatever came late was added to the hour itself.
      const isGone = grain === 'hour' && bucket.getTime() < (await readSeals(transaction)).minute;
      if (!isGone) await replace(transaction, mark);
      if (grain === 'hour') await markDay(transaction, mark);
      return true;
    },
    PATIENCE,
  );
}

const MOST_AT_ONCE = 200;

/**
 * Derives all that is ripe, and what becomes ripe by that. What fails keeps nothing else from being derived: its mark stays and waits
 * again, so that the next round begins with others, and the first failure is thrown at the end.
 */
export async function deriveRipe(
  database: DataSource,
  quietSeconds: number,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const failures: unknown[] = [];
  for (let derived = 1; derived > 0;) {
    derived = 0;
    for (const mark of await ripeMarks(database, quietSeconds, MOST_AT_ONCE)) {
      if (isStopped()) return;
      try {
        await derive(database, mark);
        derived += 1;
      } catch (failure) {
        failures.push(failure);
        await postponeMark(database, mark);
      }
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function replace(
  transaction: Queryable,
  { grain, bucket, organisationId, workspaceId }: Mark,
): Promise<void> {
  const end = new Date(bucket.getTime() + GRAIN_MS[grain]);
  for (const family of FAMILIES) {
    await transaction.query(
      `DELETE FROM ${family.table(grain)} WHERE organisation_id = $1 AND workspace_id = $2 AND bucket = $3`,
      [organisationId, workspaceId, bucket],
    );
    await transaction.query(deriveSql(family, grain), [organisationId, workspaceId, bucket, end]);
  }
}
