import { type Client, escapeIdentifier } from 'pg';
import { OWN_TABLES } from '../database/own-tables.js';
import { RESTORE_MARK } from '../database/restore-mark.js';

/** What a database holds before a restore. */
export interface DatabaseContent {
  readonly tables: number;
  /** Whether every table may belong to Gatehouse, because its first migration has run here. */
  readonly isOurs: boolean;
  readonly organizations: number;
  /** Other connections of Gatehouse: a running service. */
  readonly connections: number;
}

const FIRST_MIGRATION = 'RowLevelSecurity1763800000001';

export async function databaseContent(client: Client): Promise<DatabaseContent> {
  const has = async (table: string): Promise<boolean> => {
    const { rows } = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
      table,
    ]);
    return rows[0]?.exists === true;
  };
  const count = async (sql: string, values: readonly unknown[] = []): Promise<number> => {
    const { rows } = await client.query<{ count: number }>(sql, [...values]);
    return rows[0]?.count ?? 0;
  };
  return {
    tables: await count(`SELECT count(*)::int FROM pg_class c WHERE ${OWN_TABLES} AND c.relname <> $1`, [
      RESTORE_MARK,
    ]),
    isOurs:
      (await has('migrations')) &&
      (await count('SELECT count(*)::int FROM migrations WHERE name = $1', [FIRST_MIGRATION])) === 1,
    organizations: (await has('organizations')) ? await count('SELECT count(*)::int FROM organizations') : 0,
    connections: await count(
      `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND application_name LIKE 'gatehouse%'`,
    ),
  };
}

/** Partitions first and each by itself: dropping a table locks all its partitions, of which the server holds a limited number. */
const TABLES = `
  SELECT c.relname AS name FROM pg_class c WHERE ${OWN_TABLES} AND c.relname <> '${RESTORE_MARK}'
  ORDER BY c.relispartition DESC, c.relname`;

const OTHERS = `
  SELECT format('DROP FUNCTION IF EXISTS %s CASCADE', p.oid::regprocedure) AS statement FROM pg_proc p
  WHERE p.pronamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
  UNION ALL
  SELECT format('DROP SEQUENCE IF EXISTS %I', c.relname) FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'S'`;

/**
 * Drops every table, function and sequence of the schema, and the schema of the queues, which the service creates again. Not atomic: a
 * killed call is repeated by the next restore.
 */
export async function emptyDatabase(client: Client): Promise<void> {
  const { rows: tables } = await client.query<{ name: string }>(TABLES);
  for (const { name } of tables) await client.query(`DROP TABLE IF EXISTS ${escapeIdentifier(name)} CASCADE`);
  const { rows: others } = await client.query<{ statement: string }>(OTHERS);
  for (const { statement } of others) await client.query(statement);
  await client.query('DROP SCHEMA IF EXISTS bullmq CASCADE');
}
