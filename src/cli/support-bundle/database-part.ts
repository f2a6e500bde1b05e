import type { Client } from 'pg';
import { OWN_TABLES } from '../database/own-tables.js';
import { normalizedStatement } from './normalized-statement.js';

type DatabaseFactRow = Readonly<Record<string, unknown>>;

/** Figures of the database. No row of a table is read, only counted. */
export interface DatabasePart {
  readonly server: DatabaseFactRow;
  readonly settings: DatabaseFactRow;
  readonly migrations: readonly DatabaseFactRow[];
  readonly tables: readonly DatabaseFactRow[];
  readonly resources: DatabaseFactRow;
  readonly connections: readonly DatabaseFactRow[];
  readonly running_statements: readonly DatabaseFactRow[];
  readonly slow_statements: readonly DatabaseFactRow[] | string;
}

const SERVER = `
  SELECT current_setting('server_version') AS version, pg_database_size(current_database())::text AS database_bytes,
    pg_encoding_to_char(encoding) AS encoding, pg_is_in_recovery() AS is_in_recovery,
    extract(epoch FROM now() - pg_postmaster_start_time())::bigint::text AS uptime_s,
    (SELECT count(*)::int FROM pg_locks WHERE NOT granted) AS locks_waiting
  FROM pg_database WHERE datname = current_database()`;

const SETTINGS = `
  SELECT name, setting FROM pg_settings WHERE name IN (
    'autovacuum', 'checkpoint_timeout', 'effective_cache_size', 'fsync', 'jit', 'maintenance_work_mem', 'max_connections',
    'max_locks_per_transaction', 'max_parallel_workers', 'max_wal_size', 'random_page_cost', 'shared_buffers',
    'statement_timeout', 'synchronous_commit', 'work_mem')`;

/** Partitions count for their table. `rows` is the estimate of the statistics. */
const TABLES = `
  SELECT coalesce(parent.relname, c.relname) AS name, count(*)::int AS parts,
    sum(greatest(c.reltuples, 0))::bigint::text AS rows, sum(pg_total_relation_size(c.oid))::text AS bytes,
    sum(s.n_dead_tup)::text AS dead_rows, sum(s.seq_scan)::text AS sequential_scans, sum(s.idx_scan)::text AS index_scans,
    max(s.last_autovacuum) AS last_autovacuum, max(s.last_autoanalyze) AS last_autoanalyze
  FROM pg_class c
  LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class parent ON parent.oid = i.inhparent
  LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
  WHERE ${OWN_TABLES} AND c.relkind = 'r' GROUP BY 1 ORDER BY 1`;

const RESOURCES = [
  'organizations',
  'workspaces',
  'users',
  'api_keys',
  'virtual_keys',
  'integrations',
  'configs',
  'guardrails',
];

const CONNECTIONS = `
  SELECT CASE WHEN application_name LIKE 'gatehouse%' THEN application_name ELSE 'other' END AS application,
    coalesce(state, 'none') AS state, count(*)::int AS connections,
    max(extract(epoch FROM clock_timestamp() - xact_start))::float8 AS longest_transaction_s
  FROM pg_stat_activity WHERE datname = current_database() GROUP BY 1, 2 ORDER BY 1, 2`;

const RUNNING = `
  SELECT extract(epoch FROM clock_timestamp() - query_start)::float8 AS seconds, wait_event_type, wait_event, query
  FROM pg_stat_activity
  WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid() ORDER BY 1 DESC LIMIT 50`;

const SLOW = `
  SELECT s.calls::text, s.rows::text, s.total_exec_time AS total_ms, s.mean_exec_time AS mean_ms, s.max_exec_time AS max_ms,
    s.query
  FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
  WHERE d.datname = current_database() ORDER BY s.total_exec_time DESC LIMIT 100`;

export async function databasePart(client: Client): Promise<DatabasePart> {
  const rowsOf = async (sql: string): Promise<DatabaseFactRow[]> =>
    (await client.query<DatabaseFactRow>(sql)).rows;
  const [server = {}] = await rowsOf(SERVER);
  const settings = (await rowsOf(SETTINGS)) as { readonly name: string; readonly setting: string }[];
  const resources: Record<string, unknown> = {};
  for (const table of RESOURCES)
    resources[table] = (await rowsOf(`SELECT count(*)::int AS count FROM ${table}`))[0]?.['count'];
  return {
    server,
    settings: Object.fromEntries(settings.map(({ name, setting }) => [name, setting])),
    migrations: await rowsOf('SELECT timestamp::text, name FROM migrations ORDER BY timestamp'),
    tables: await rowsOf(TABLES),
    resources,
    connections: await rowsOf(CONNECTIONS),
    running_statements: (await rowsOf(RUNNING)).map(withNormalizedStatement),
    slow_statements: await slowStatements(rowsOf),
  };
}

const withNormalizedStatement = ({ query, ...figures }: DatabaseFactRow): DatabaseFactRow => ({
  ...figures,
  statement: normalizedStatement(typeof query === 'string' ? query : ''),
});

async function slowStatements(
  rowsOf: (sql: string) => Promise<DatabaseFactRow[]>,
): Promise<readonly DatabaseFactRow[] | string> {
  const installed = await rowsOf("SELECT 1 FROM pg_extension WHERE extname = 'pg_stat_statements'");
  if (installed.length === 0) return 'The extension pg_stat_statements is not installed.';
  return (await rowsOf(SLOW)).map(withNormalizedStatement);
}
