import type { Page } from '../../../common/http/page.js';
import type { LogDatabase } from '../../reading/log-database.js';
import type { Whose } from '../../reading/where.js';
import { type MeasureName, MEASURES } from '../../rollups/measures.js';
import { MeasureSums } from '../read-measures.js';
import type { GroupedBy, Groups, GroupsRequest, UsageQuery } from '../usage-store.js';
import { postgresGroupKey, postgresGroupOrder } from './group-sql.js';
import { rankedBy } from './ranked-groups.js';
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
  job: TotalledJob & { readonly by: GroupedBy; readonly hasPercentiles: boolean },
  whose: Whose,
  query: UsageQuery,
): Promise<AddingTotals> {
  const { statement, source, from, range } = await reader.beginRows(whose, query, job.by);
  const measures = TOTALLED.filter((name) => job.hasPercentiles || name !== 'duration_histogram');
  const names = measures.join(', ');
  const added = measures.map(
    (name) => `${name} = ${MEASURES[name].added(`held.${name}`, `EXCLUDED.${name}`)}`,
  );
  const sql = `
    INSERT INTO analytics_job_groups AS held (job_id, organization_id, value, ${names})
    SELECT ${statement.bind(job.id)}::uuid, ${statement.bind(job.organizationId)}::uuid,
      ${postgresGroupKey(job.by, statement, source)} AS value, ${source.select(measures)}
    FROM ${from} GROUP BY 3
    ON CONFLICT (job_id, value) DO UPDATE SET ${added.join(', ')}`;
  return { sql, parameters: statement.parameters, isExact: range.isExact };
}

const OF_JOB = 'FROM analytics_job_groups WHERE job_id = $1::uuid AND organization_id = $2::uuid';

/** A page of the groups of a job, and their number. */
export async function readTotals(
  database: LogDatabase,
  { id, organizationId }: TotalledJob,
  { orderBy, direction, page }: Pick<GroupsRequest, 'orderBy' | 'direction'> & { readonly page: Page },
): Promise<Omit<Groups, 'range'>> {
  const parameters = [id, organizationId];
  if (!('latencyAt' in orderBy)) {
    const [counted] = await database.read<{ groups: string }>(
      `SELECT count(*) AS groups ${OF_JOB}`,
      parameters,
    );
    const rows = await database.read<TotalsRow>(
      `SELECT value, ${TOTALLED.join(', ')} ${OF_JOB}
       ORDER BY ${postgresGroupOrder(orderBy)} ${direction} NULLS LAST, value LIMIT $3 OFFSET $4`,
      [...parameters, page.take, page.skip],
    );
    return { total: Number(counted?.groups ?? 0), rows: rows.map(shown) };
  }
  const histograms = { sql: `SELECT value, duration_histogram::text ${OF_JOB}`, parameters };
  const ranked = await rankedBy(database, histograms, { direction, at: orderBy.latencyAt });
  const values = ranked.slice(page.skip, page.skip + page.take);
  const rows = await database.read<TotalsRow>(
    `SELECT value, ${TOTALLED.join(', ')} ${OF_JOB} AND value = ANY($3::text[]) ORDER BY array_position($3::text[], value)`,
    [...parameters, values],
  );
  return { total: ranked.length, rows: rows.map(shown) };
}

type TotalsRow = Record<string, unknown> & { readonly value: string };

const shown = ({ value, ...sums }: TotalsRow) => [value, new MeasureSums(sums)] as const;
