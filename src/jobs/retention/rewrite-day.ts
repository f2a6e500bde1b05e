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
import { GRANULARITY_MS } from '../../request-log/rollups/granularities.js';
import { LOCK_ALONE } from '../../request-log/rollups/seals.js';
import { inTransaction } from '../../request-log/rollups/transaction.js';
import type { RetentionDays } from '../../common/settings/settings.js';
import { deletionsOf, keyOf, keysOf, lateBodiesOf } from './deletions.js';
import { existing, type LogDay, partitionOf, TABLES_OF, tenantsOf } from './log-days.js';
import { copyKept, idsOf, type RewriteRequest, takeOver } from './rewrite-partition.js';

/**
 * Maximum time that a workspace's expired rows stay, unreadable, beside rows that are kept for longer. Then the partition is rewritten
 * without any expired rows: so a day is copied once a week at most, however many retention settings there are.
 */
export const GRACE_MS = 7 * GRANULARITY_MS.day;

export interface CutRequest {
  readonly part: LogPart;
  readonly day: LogDay;
  readonly usual: RetentionDays;
  readonly now: number;
  readonly isStopping: () => boolean;
}

/** The outcome for a day. */
export interface CutResult {
  readonly did: 'dropped' | 'rewritten';
  readonly partitions: readonly string[];
  /** The tenants whose rows were removed. */
  readonly tenants: readonly RowsOf[];
}

/**
 * Drops the partitions of a day once it expired for everyone, and rewrites them without the rows that expired a week ago. Null when there
 * is nothing to do, or when another process does it or still needs the day.
 *
 * All in one transaction: if it is killed, the day is unchanged. It waits two seconds for locks (55P03), so that it cannot stop the log;
 * writers of this one day, which is long past, wait while it is copied.
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

async function carryOut(transaction: Queryable, cutting: CutRequest, plan: RewritePlan): Promise<CutResult> {
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

interface RewritePlan {
  /** Those of the part that have a partition of the day. */
  readonly tables: readonly string[];
  readonly over: readonly RowsOf[];
  /** Nothing is kept. */
  readonly isWhole: boolean;
}

/** Most days need no lock. Under the lock no rows are added, so the plan is made again. */
async function lockedPlanOf(transaction: Queryable, cutting: CutRequest): Promise<RewritePlan | null> {
  const first = await planOf(transaction, cutting);
  if (!first) return null;
  for (const table of first.tables)
    await transaction.query(`LOCK TABLE "${partitionOf(table, cutting.day)}" IN SHARE MODE`);
  if (cutting.part === 'logs' && (await isUncounted(transaction, cutting.day))) return null;
  return planOf(transaction, cutting);
}

async function planOf(transaction: Queryable, cutting: CutRequest): Promise<RewritePlan | null> {
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

/** The owner of a body is known from its request, so requests stay until their bodies are gone. */
async function withoutBodies(
  transaction: Queryable,
  day: LogDay,
  tenants: readonly RowsOf[],
): Promise<readonly RowsOf[]> {
  const bodies = await existing(transaction, [partitionOf('request_bodies', day)]);
  if (bodies.length === 0) return tenants;
  const cut = keysOf(await deletionsOf(transaction, 'bodies', day));
  const late = keysOf(await lateBodiesOf(transaction, day));
  return tenants.filter((tenant) => cut.has(keyOf(tenant)) && !late.has(keyOf(tenant)));
}

async function timesOf(transaction: Queryable, { usual, now }: CutRequest): Promise<KeptTimes> {
  return new KeptTimes(usual, await transaction.query<RetentionRule>(ALL_RULES), now);
}

/**
 * The tenants with something left to cut. After a cut nothing is left except late arrivals: requests of the tenant in the day, and bodies
 * found by a search. These wait until a week after the last cut, because a day is copied once a week.
 */
async function notYetCut(
  transaction: Queryable,
  { part, day, now }: CutRequest,
  over: readonly RowsOf[],
): Promise<readonly RowsOf[]> {
  const cuts = await deletionsOf(transaction, part, day);
  const cut = keysOf(cuts);
  const lately = keysOf(cuts.filter(({ cut_at }) => cut_at.getTime() > now - GRACE_MS));
  const late = part === 'logs' ? cut : keysOf(await lateBodiesOf(transaction, day));
  return over.filter((tenant) => {
    const key = keyOf(tenant);
    return !cut.has(key) || (late.has(key) && !lately.has(key));
  });
}

const rewritingOf = (
  table: string,
  { day, isStopping }: CutRequest,
  { over }: RewritePlan,
): RewriteRequest => ({
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

/** From here on no hold can be placed until the commit; an earlier hold is obeyed. */
async function checkHolds(transaction: Queryable, cutting: CutRequest, { over }: RewritePlan): Promise<void> {
  await transaction.query('LOCK TABLE legal_holds IN SHARE MODE');
  const times = await timesOf(transaction, cutting);
  const { part, day } = cutting;
  if (over.some((tenant) => times.since(part, tenant) < day.to.getTime()))
    throw new Error('Rows that had expired are kept again, so this day is left as it is.');
}

/** Records that request rows before the end of the day are incomplete, so that readers do not take missing rows for empty periods. */
async function seal(transaction: Queryable, { to }: LogDay): Promise<void> {
  await transaction.query(LOCK_ALONE);
  await transaction.query("UPDATE rollup_seals SET before = greatest(before, $1) WHERE grain = 'row'", [to]);
}

/** A dropped partition needs no record. */
async function book(
  transaction: Queryable,
  partitions: readonly string[],
  { over, isWhole }: RewritePlan,
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
