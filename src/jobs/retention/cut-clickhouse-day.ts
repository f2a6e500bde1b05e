import type { Queryable } from '../../database/queryable.js';
import type { KeptTimes, LogPart, RowsOf } from '../../request-log/retention/kept-times.js';
import { NIL_ID } from '../../request-log/rollups/dimensions.js';
import type { ClickHouse } from '../../request-log/analytics/clickhouse/clickhouse.js';
import { GRACE_MS } from './rewrite-day.js';
import { dayNamed, existing, type LogDay, partitionOf } from './log-days.js';
import { idsOf } from './rewrite-partition.js';
import type { UnderTimes } from './under-times.js';

/** The table of each part. In ClickHouse bodies name their workspace, so the parts do not depend on each other. */
const TABLES: Readonly<Record<LogPart, string>> = { logs: 'request_logs', bodies: 'request_bodies' };

/** A part of the log on a day. */
export interface ClickHousePart {
  readonly part: LogPart;
  readonly day: LogDay;
}

/** The outcome for a day in ClickHouse, and the tenants whose rows were removed. */
export interface ClickHouseCut {
  readonly did: 'dropped' | 'deleted from';
  readonly tenants: readonly RowsOf[];
}

const daysIn = (table: string): string => `
  SELECT DISTINCT toString(toYYYYMMDD(created_at)) AS name FROM ${table}
  WHERE created_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC') ORDER BY name`;

const tenantsIn = (table: string): string => `
  SELECT DISTINCT organisation_id AS organization_id, nullIf(workspace_id, toUUID('${NIL_ID}')) AS workspace_id
  FROM ${table} WHERE toYYYYMMDD(created_at) = {day:UInt32}`;

/** On a cluster the rows are in tables of that other name. */
const deletingFrom = (table: string): string => `
  SELECT 1 AS one FROM system.mutations
  WHERE database = currentDatabase() AND table IN ('${table}', '${table}_local') AND NOT is_done LIMIT 1`;

/** The days before a moment for which ClickHouse has the part, oldest first. Most days are gone already, so it reads little. */
export async function clickHouseDays(
  clickhouse: ClickHouse,
  part: LogPart,
  before: number,
): Promise<readonly LogDay[]> {
  const rows = await clickhouse.read<{ name: string }>(daysIn(TABLES[part]), { before });
  return rows.map(({ name }) => dayNamed(name));
}

/**
 * Removes expired requests of a day, or their bodies, from ClickHouse, like PostgreSQL does with its partition: the whole day once it expired for everyone,
 * else the rows of tenants whose retention ended a week ago. Rows that PostgreSQL still has are kept: otherwise they would be taken for
 * missing, copied again, and counted twice.
 *
 * No record of cuts is needed: afterwards the tenant has no rows there. Null when there is nothing to do, or rows are already being
 * deleted.
 */
export async function cutClickHouseDay(
  clickhouse: ClickHouse,
  under: UnderTimes,
  { part, day }: ClickHousePart,
): Promise<ClickHouseCut | null> {
  const table = TABLES[part];
  const tenants = await clickhouse.read<RowsOf>(tenantsIn(table), { day: Number(day.name) });
  if (tenants.length === 0 || (await clickhouse.read(deletingFrom(table), {})).length > 0) return null;
  return under(async (times, transaction) => {
    const over = await overIn(transaction, { times, part, day, tenants });
    const isWhole = over.length === tenants.length;
    const isLongOver = over.some((tenant) => times.since(part, tenant) >= day.to.getTime() + GRACE_MS);
    if (!isWhole && !isLongOver) return null;
    await clickhouse.change((ddl) => [
      isWhole ? ddl.dropDay(table, day.name) : ddl.deleteOfDay(table, day.name, rowsOf(over)),
    ]);
    return { did: isWhole ? 'dropped' : 'deleted from', tenants: over };
  });
}

interface ExpiredRows extends ClickHousePart {
  readonly times: KeptTimes;
  readonly tenants: readonly RowsOf[];
}

async function overIn(
  transaction: Queryable,
  { times, part, day, tenants }: ExpiredRows,
): Promise<readonly RowsOf[]> {
  const over = tenants.filter((tenant) => times.since(part, tenant) >= day.to.getTime());
  const [partition] = await existing(transaction, [partitionOf(TABLES[part], day)]);
  if (partition === undefined) return over;
  const cuts = await transaction.query<RowsOf>(
    'SELECT organization_id, nullif(workspace_id, $2::uuid) AS workspace_id FROM log_partition_cuts WHERE partition = $1',
    [partition, NIL_ID],
  );
  const gone = new Set(cuts.map(keyOf));
  return over.filter((tenant) => gone.has(keyOf(tenant)));
}

const keyOf = ({ organization_id, workspace_id }: RowsOf): string =>
  `${organization_id} ${workspace_id ?? ''}`;

/** The ids come from our own tables. */
function rowsOf(tenants: readonly RowsOf[]): string {
  const [organizations, workspaces] = idsOf(tenants);
  const pairs = organizations.map((id, at) => `(toUUID('${id}'), toUUID('${workspaces[at] ?? NIL_ID}'))`);
  return `(organisation_id, workspace_id) IN (${pairs.join(', ')})`;
}
