import { Injectable } from '@nestjs/common';
import { NIL_ID } from '../rollups/dimensions.js';
import type { QueryCondition } from './log-filters.js';
import { LogDatabase } from './log-database.js';
import type { Whose } from './where.js';

/**
 * The workspaces in a table, by one index lookup for each instead of reading all rows: PostgreSQL skips to the next value by itself from 18
 * on only (https://wiki.postgresql.org/wiki/Loose_indexscan). `where` names the organization; null workspaces are left out.
 */
const workspacesIn = (table: string, where: string): string => `(
  WITH RECURSIVE known AS (
    (SELECT workspace_id FROM ${table} WHERE ${where} AND workspace_id IS NOT NULL ORDER BY workspace_id LIMIT 1)
    UNION ALL
    SELECT (SELECT workspace_id FROM ${table} WHERE ${where} AND workspace_id > known.workspace_id ORDER BY workspace_id LIMIT 1)
    FROM known WHERE known.workspace_id IS NOT NULL
  )
  SELECT workspace_id FROM known WHERE workspace_id IS NOT NULL)`;

/** The months of both ends in UTC. Hours have a partition for each month, so the condition costs no row. */
const monthsOf = (from: string, to: string): string =>
  `bucket >= date_trunc('month', ${from}::timestamptz, 'UTC')
    AND bucket < date_trunc('month', ${to}::timestamptz, 'UTC') + interval '1 month'`;

/**
 * The workspaces whose requests were counted in a range, those without a workspace as the nil id; parameters are placeholders. Hours are
 * kept for good, and minutes without their hours have marks.
 */
export const countedWorkspaces = (organization: string, from: string, to: string): string => `(
  SELECT array_agg(DISTINCT workspace_id) FROM (
    ${workspacesIn('usage_slice_hour', `organisation_id = ${organization}::uuid AND ${monthsOf(from, to)}`)}
    UNION ALL SELECT workspace_id FROM rollup_marks WHERE organisation_id = ${organization}::uuid
  ) AS counted)`;

/** Also workspaces that were removed: their requests are kept. A request without a workspace counts as one of the nil id. */
const WITH_REQUESTS = `
  SELECT array_agg(workspace_id) AS ids FROM (
    SELECT workspace_id FROM ${workspacesIn('request_logs', 'organisation_id = $1::uuid')} AS seen
    UNION ALL SELECT '${NIL_ID}'::uuid
      WHERE EXISTS (SELECT FROM request_logs WHERE organisation_id = $1::uuid AND workspace_id IS NULL)
  ) AS with_requests`;

/** Whether an index of request rows finds those that meet the condition. */
export const isIndexed = ({ on }: QueryCondition): boolean =>
  on?.some((column) => INDEXED.has(column)) ?? false;

/** The columns of which an index of request rows begins with organization and workspace. */
const INDEXED: ReadonlySet<string> = new Set(['end_user', 'model', 'status', 'api_key_id']);

/** Resolves an organization to its workspaces, so that indexes which begin with both find the rows of an organization, too. */
@Injectable()
export class LogScope {
  constructor(private readonly database: LogDatabase) {}

  /** For request rows. Unchanged when no condition has such an index: then the organization's own index, by time, serves better. */
  async narrowed(whose: Whose, conditions: readonly QueryCondition[]): Promise<Whose> {
    if (whose.workspaceId !== undefined || !conditions.some(isIndexed)) return whose;
    const [row] = await this.database.read<{ ids: readonly string[] | null }>(WITH_REQUESTS, [
      whose.organizationId,
    ]);
    return { ...whose, workspaceIds: row?.ids ?? [] };
  }
}
