import type { Queryable } from '../../database/queryable.js';
import type { LogPart, RowsOf } from '../../request-log/retention/kept-times.js';
import { GRANULARITY_MS } from '../../request-log/rollups/granularities.js';

/** A day (UTC) of the request log; each of its tables has a partition for it. */
export interface LogDay {
  /** The suffix of partition names. */
  readonly name: string;
  readonly from: Date;
  readonly to: Date;
}

/** Tables that are cut together. Bodies do not record their workspace but their requests do, so requests are removed after them. */
export const TABLES_OF: Readonly<Record<LogPart, readonly string[]>> = {
  bodies: ['request_bodies'],
  logs: ['request_logs', 'request_attempts'],
};

export const partitionOf = (table: string, { name }: LogDay): string => `${table}_${name}`;

/** The default partition's name does not end in a day. */
const DAYS = `
  SELECT DISTINCT right(child.relname, 8) AS name FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
  WHERE inhparent = ANY ($1::regclass[]) AND child.relname ~ '_[0-9]{8}$' ORDER BY name`;

/** The days for which a part of the log has partitions, oldest first. */
export async function daysOf(database: Queryable, part: LogPart): Promise<readonly LogDay[]> {
  const rows = await database.query<{ name: string }>(DAYS, [TABLES_OF[part]]);
  return rows.map(({ name }) => dayNamed(name));
}

export function dayNamed(name: string): LogDay {
  const from = Date.parse(`${name.slice(0, 4)}-${name.slice(4, 6)}-${name.slice(6)}T00:00:00Z`);
  return { name, from: new Date(from), to: new Date(from + GRANULARITY_MS.day) };
}

/** The existing ones among these partitions. */
export async function existing(database: Queryable, partitions: readonly string[]): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL',
    [partitions],
  );
  return rows.map(({ name }) => name);
}

/**
 * The tenants with requests in a day. Steps through the index that begins with organization and workspace, so the cost grows with
 * workspaces, not with requests: https://wiki.postgresql.org/wiki/Loose_indexscan
 */
export async function tenantsOf(database: Queryable, day: LogDay): Promise<readonly RowsOf[]> {
  const [table] = await existing(database, [partitionOf('request_logs', day)]);
  return table === undefined ? [] : database.query<RowsOf>(tenantsIn(`"${table}"`));
}

const tenantsIn = (table: string): string => `
  WITH RECURSIVE organizations_in AS (
    (SELECT organisation_id FROM ${table} ORDER BY organisation_id LIMIT 1)
    UNION ALL
    SELECT (SELECT next.organisation_id FROM ${table} AS next
      WHERE next.organisation_id > each.organisation_id ORDER BY next.organisation_id LIMIT 1)
    FROM organizations_in AS each WHERE each.organisation_id IS NOT NULL
  ), workspaces_in AS (
    SELECT each.organisation_id, (SELECT first.workspace_id FROM ${table} AS first
      WHERE first.organisation_id = each.organisation_id AND first.workspace_id IS NOT NULL
      ORDER BY first.workspace_id LIMIT 1) AS workspace_id
    FROM organizations_in AS each WHERE each.organisation_id IS NOT NULL
    UNION ALL
    SELECT each.organisation_id, (SELECT next.workspace_id FROM ${table} AS next
      WHERE next.organisation_id = each.organisation_id AND next.workspace_id > each.workspace_id
      ORDER BY next.workspace_id LIMIT 1)
    FROM workspaces_in AS each WHERE each.workspace_id IS NOT NULL
  )
  SELECT organisation_id AS organization_id, workspace_id FROM workspaces_in WHERE workspace_id IS NOT NULL
  UNION ALL
  SELECT organisation_id, NULL FROM organizations_in AS each WHERE organisation_id IS NOT NULL
    AND EXISTS (SELECT 1 FROM ${table} AS own WHERE own.organisation_id = each.organisation_id AND own.workspace_id IS NULL)`;
