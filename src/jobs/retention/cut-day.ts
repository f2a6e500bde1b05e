import type { DataSource } from 'typeorm';
import { ADVISORY_LOCKS } from '../../database/advisory-locks.js';
import type { Queryable } from '../../database/queryable.js';
import {
  KeptTimes,
  type LogPart,
  type RetentionRule,
  type RowsOf,
} from '../../request-log/retention/kept-times.js';
import { ALL_RULES } from '../../request-log/retention/read-rules.js';
import { GRAIN_MS } from '../../request-log/rollups/grains.js';
import { LOCK_ALONE } from '../../request-log/rollups/seals.js';
import { inTransaction } from '../../request-log/rollups/transaction.js';
import type { RetentionDays } from '../../common/settings/settings.js';
import { cutsOf, keyOf, keysOf, lateBodiesOf } from './cuts.js';
import { existing, type LogDay, partitionOf, TABLES_OF, tenantsOf } from './log-days.js';
import { copyKept, idsOf, type RewriteRequest, takeOver } from './rewrite-partition.js';

/**
 * For so long at most the rows of a workspace lie unreadable beside others that are kept for longer. Then all that is
 * over is left out of a new partition: a day is copied once a week at most, however many times there are.
 */
export const GRACE_MS = 7 * GRAIN_MS.day;

export interface CutRequest {
  readonly part: LogPart;
  readonly day: LogDay;
  readonly usual: RetentionDays;
  readonly now: number;
  readonly isStopping: () => boolean;
}

/** What became of a day. */
export interface CutResult {
  readonly did: 'dropped' | 'rewritten';
  readonly partitions: readonly string[];
  /** Whose rows went. */
  readonly tenants: readonly RowsOf[];
}

/**
 * Drops the partitions of a day when nobody's time for it is still running, and rewrites them without those whose time
 * has been over for a week. Null when there is nothing to do, or when somebody else does it or still needs the day.
 *
 * All in one transaction: killed anywhere, the day is as it was. Locks are waited for two seconds (55P03), so that the
 * log cannot be stopped; writers of this one day wait while it is copied, and it is long past.
 */
export function cutDay(database: DataSource, cutting: CutRequest): Promise<CutResult | null> {
  return inTransaction(database, async (transaction) => {
    await transaction.query("SET LOCAL lock_timeout = '2s'");
    const [turn] = await transaction.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.retention}) AS taken`,
    );
    if (!turn?.taken) return null;
    const plan = await lockedPlanOf(transaction, cutting);
    return plan ? carryOut(transaction, cutting, plan) : null;
  });
}

async function carryOut(transaction: Queryable, cutting: CutRequest, plan: Plan): Promise<CutResult> {
  const { part, day } = cutting;
  const partitions = plan.tables.map((table) => partitionOf(table, day));
  const rewritings = plan.isWhole ? [] : plan.tables.map((table) => rewritingOf(table, cutting, plan));
  for (const rewriting of rewritings) await copyKept(transaction, rewriting);
  await checkHolds(transaction, cutting, plan);
  if (part === 'logs') await seal(transaction, day);
  for (const rewriting of rewritings) await takeOver(transaction, rewriting);
  if (plan.isWhole) for (const name of partitions) await transaction.query(`DROP TABLE "${name}"`);
  await book(transaction, partitions, plan);
  return { did: plan.isWhole ? 'dropped' : 'rewritten', partitions, tenants: plan.over };
}

interface Plan {
  /** Those of the part that have a partition of the day. */
  readonly tables: readonly string[];
  readonly over: readonly RowsOf[];
  /** Nothing is left. */
  readonly isWhole: boolean;
}

/** Most days need no lock. Behind it what is there is all that there will be, so it is looked at again. */
async function lockedPlanOf(transaction: Queryable, cutting: CutRequest): Promise<Plan | null> {
  const first = await planOf(transaction, cutting);
  if (!first) return null;
  for (const table of first.tables)
    await transaction.query(`LOCK TABLE "${partitionOf(table, cutting.day)}" IN SHARE MODE`);
  if (cutting.part === 'logs' && (await isUncounted(transaction, cutting.day))) return null;
  return planOf(transaction, cutting);
}

async function planOf(transaction: Queryable, cutting: CutRequest): Promise<Plan | null> {
  const { part, day } = cutting;
  const there = await existing(
    transaction,
    TABLES_OF[part].map((table) => partitionOf(table, day)),
  );
  const tables = TABLES_OF[part].filter((table) => there.includes(partitionOf(table, day)));
  if (tables.length === 0) return null;
  const times = await timesOf(transaction, cutting);
  const all = await tenantsOf(transaction, day);
  const past = all.filter((tenant) => times.since(part, tenant) >= day.to.getTime());
  const over = part === 'logs' ? await withoutBodies(transaction, day, past) : past;
  const isWhole = all.length > 0 ? over.length === all.length : times.usually(part) >= day.to.getTime();
  if (isWhole) return { tables, over, isWhole };
  const left = await notYetCut(transaction, cutting, over);
  const isLongOver = left.some((tenant) => times.since(part, tenant) >= day.to.getTime() + GRACE_MS);
  return isLongOver ? { tables, over, isWhole } : null;
}

/** Requests tell whose the bodies beside them are, so they stay until those are gone. */
async function withoutBodies(
  transaction: Queryable,
  day: LogDay,
  tenants: readonly RowsOf[],
): Promise<readonly RowsOf[]> {
  const bodies = await existing(transaction, [partitionOf('request_bodies', day)]);
  if (bodies.length === 0) return tenants;
  const cut = keysOf(await cutsOf(transaction, 'bodies', day));
  const late = keysOf(await lateBodiesOf(transaction, day));
  return tenants.filter((tenant) => cut.has(keyOf(tenant)) && !late.has(keyOf(tenant)));
}

async function timesOf(transaction: Queryable, { usual, now }: CutRequest): Promise<KeptTimes> {
  return new KeptTimes(usual, await transaction.query<RetentionRule>(ALL_RULES), now);
}

/**
 * Those that have something left to cut. Who was cut has nothing, but for what came late: a request of theirs in the day
 * is such a one, and bodies are looked for. It waits until a week after the cut before, as a day is copied once a week.
 */
async function notYetCut(
  transaction: Queryable,
  { part, day, now }: CutRequest,
  over: readonly RowsOf[],
): Promise<readonly RowsOf[]> {
  const cuts = await cutsOf(transaction, part, day);
  const cut = keysOf(cuts);
  const lately = keysOf(cuts.filter(({ cut_at }) => cut_at.getTime() > now - GRACE_MS));
  const late = part === 'logs' ? cut : keysOf(await lateBodiesOf(transaction, day));
  return over.filter((tenant) => {
    const key = keyOf(tenant);
    return !cut.has(key) || (late.has(key) && !lately.has(key));
  });
}

const rewritingOf = (table: string, { day, isStopping }: CutRequest, { over }: Plan): RewriteRequest => ({
  table,
  day,
  without: over,
  isStopping,
});

async function isUncounted(transaction: Queryable, { to }: LogDay): Promise<boolean> {
  const waiting = await transaction.query(
    'SELECT 1 FROM log_batches WHERE aggregated_at IS NULL AND min_created_at < $1 LIMIT 1',
    [to],
  );
  return waiting.length > 0;
}

/** From here on nobody can place a hold until the commit; a hold that came before it is obeyed. */
async function checkHolds(transaction: Queryable, cutting: CutRequest, { over }: Plan): Promise<void> {
  await transaction.query('LOCK TABLE legal_holds IN SHARE MODE');
  const times = await timesOf(transaction, cutting);
  const { part, day } = cutting;
  if (over.some((tenant) => times.since(part, tenant) < day.to.getTime()))
    throw new Error('Rows that had expired are kept again, so this day is left as it is.');
}

/** Says that request rows before the end of the day are not all there, so that nobody takes what is missing for what never was. */
async function seal(transaction: Queryable, { to }: LogDay): Promise<void> {
  await transaction.query(LOCK_ALONE);
  await transaction.query("UPDATE rollup_seals SET before = greatest(before, $1) WHERE grain = 'row'", [to]);
}

/** What is gone with its partition needs no entry. */
async function book(
  transaction: Queryable,
  partitions: readonly string[],
  { over, isWhole }: Plan,
): Promise<void> {
  if (isWhole)
    await transaction.query('DELETE FROM log_partition_cuts WHERE partition = ANY ($1::text[])', [
      partitions,
    ]);
  else
    await transaction.query(
      `INSERT INTO log_partition_cuts (partition, organization_id, workspace_id)
       SELECT partition, tenant.* FROM unnest($1::text[]) AS partition CROSS JOIN unnest($2::uuid[], $3::uuid[]) AS tenant
       ON CONFLICT (partition, organization_id, workspace_id) DO UPDATE SET cut_at = now()`,
      [partitions, ...idsOf(over)],
    );
}
