import type { Page } from '../../../common/http/page.js';
import type { LogDatabase } from '../../reading/log-database.js';
import type { Whose } from '../../reading/where.js';
import { type MeasureName, MEASURES } from '../../rollups/measures.js';
import { Sums } from '../read-measures.js';
import type { GroupedBy, Groups, GroupsRequest, UsageQuery } from '../usage-store.js';
import { groupedBySql, groupOrderSql } from './group-sql.js';
import type { PostgresUsageReader } from './postgres-usage-reader.js';

/** The measures of `analytics_job_groups`: those that columns of groups are computed from. */
export const TOTALLED = [
  'requests',
  'errors',
  'refusals',
  'input_tokens',
  'output_tokens',
  'cost_nano_usd',
  'duration_us',
  'simple_hits',
  'semantic_hits',
  'duration_histogram',
  'first_seen',
  'last_seen',
] as const satisfies readonly MeasureName[];

/** Saved configs are shown by a slug that two workspaces may share, so their groups have no single value. */
export const canBeTotalled = (by: GroupedBy): boolean => by.kind !== 'config';

interface TotalledJob {
  readonly id: string;
  readonly organizationId: string;
}

/** A statement that adds the groups of a range to the totals of a job, and whether no request of the range is deleted. */
export interface AddingTotals {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly isExact: boolean;
}

/** The parts of a job must share no request. */
export async function addingTotals(
  reader: PostgresUsageReader,
  job: TotalledJob,
  query: UsageQuery,
  { whose, by }: { readonly whose: Whose; readonly by: GroupedBy },
): Promise<AddingTotals> {
  const { statement, source, from, range } = await reader.beginRows(whose, query, by);
  const names = TOTALLED.join(', ');
  const added = TOTALLED.map(
    (name) => `${name} = ${MEASURES[name].added(`held.${name}`, `EXCLUDED.${name}`)}`,
  );
  const sql = `
    INSERT INTO analytics_job_groups AS held (job_id, organization_id, value, ${names})
    SELECT ${statement.bind(job.id)}::uuid, ${statement.bind(job.organizationId)}::uuid,
      ${groupedBySql(by, statement, source)} AS value, ${source.select(TOTALLED)}
    FROM ${from} GROUP BY 3
    ON CONFLICT (job_id, value) DO UPDATE SET ${added.join(', ')}`;
  return { sql, parameters: statement.parameters, isExact: range.isExact };
}

/** A page of the groups of a job, and their number. */
export async function readTotals(
  database: LogDatabase,
  { id, organizationId }: TotalledJob,
  { orderBy, direction, page }: Pick<GroupsRequest, 'orderBy' | 'direction'> & { readonly page: Page },
): Promise<Omit<Groups, 'range'>> {
  const rows = await database.read<Record<string, unknown> & { value: string | null; groups: string }>(
    `SELECT shown.*, counted.groups
     FROM (SELECT count(*) AS groups FROM analytics_job_groups WHERE job_id = $1::uuid AND organization_id = $2::uuid) AS counted
     LEFT JOIN (
       SELECT value, ${TOTALLED.join(', ')}, row_number() OVER (ORDER BY ${groupOrderSql(orderBy)} ${direction} NULLS LAST, value) AS place
       FROM analytics_job_groups WHERE job_id = $1::uuid AND organization_id = $2::uuid
     ) AS shown ON place > $3 AND place <= $3 + $4
     ORDER BY place`,
    [id, organizationId, page.skip, page.take],
  );
  return {
    total: Number(rows[0]?.groups ?? 0),
    rows: rows.flatMap(({ value, ...sums }) => (value === null ? [] : [[value, new Sums(sums)] as const])),
  };
}
