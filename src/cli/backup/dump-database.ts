import type { Client } from 'pg';
import { escapeIdentifier } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { OWN_TABLES } from '../database/own-tables.js';
import type { ArchiveWriter } from './archive-writer.js';
import { type BackupManifest, type DumpedTable, ENTRIES } from './manifest.js';

/** A table of the snapshot, with its size on disk, which weighs its share of the progress. */
export interface TableToDump extends DumpedTable {
  readonly disk_bytes: number;
}

/** What the catalogue says about the snapshot. */
export interface DatabaseFacts extends Pick<
  BackupManifest,
  'postgres_version' | 'migrations' | 'partitions' | 'sequences'
> {
  readonly tables: readonly TableToDump[];
}

/**
 * Begins a transaction whose statements all see the same moment, in the notation that every server reads. `row_security = off` makes a
 * login fail that would see only a part of the rows.
 */
export async function beginSnapshot(client: Client): Promise<void> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await client.query(
    "SET LOCAL row_security = off; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1",
  );
}

/** Unlogged tables are left out, because PostgreSQL itself empties them after a crash: rate windows and cached responses. */
const TABLES = `
  SELECT c.relname AS name,
    (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
    greatest(pg_table_size(c.oid), (SELECT sum(pg_table_size(relid)) FROM pg_partition_tree(c.oid)))::float8 AS disk_bytes
  FROM pg_class c
  WHERE ${OWN_TABLES} AND NOT c.relispartition AND c.relpersistence = 'p' AND c.relname <> 'migrations'
  ORDER BY c.relname`;

/** Without default partitions, which the migrations make. */
const PARTITIONS = `
  SELECT c.relname AS name, parent.relname AS parent, pg_get_expr(c.relpartbound, c.oid) AS bounds
  FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid JOIN pg_class parent ON parent.oid = i.inhparent
  WHERE ${OWN_TABLES} AND c.relispartition AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'
  ORDER BY c.relname`;

const SEQUENCES = `
  SELECT c.relname AS name FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'S' AND c.relname <> 'migrations_id_seq'
  ORDER BY c.relname`;

export async function readFacts(client: Client): Promise<DatabaseFacts> {
  const { rows: tables } = await client.query<TableToDump>(TABLES);
  // Nothing changes the shape of a table until the end of the transaction.
  for (const { name } of tables)
    await client.query(`LOCK TABLE ${escapeIdentifier(name)} IN ACCESS SHARE MODE`);
  const { rows: partitions } = await client.query<BackupManifest['partitions'][number]>(PARTITIONS);
  const { rows: migrations } = await client.query<{ name: string }>(
    'SELECT name FROM migrations ORDER BY timestamp',
  );
  const { rows: server } = await client.query<{ server_version: string }>('SHOW server_version');
  return {
    tables,
    partitions,
    sequences: await readSequences(client),
    migrations: migrations.map(({ name }) => name),
    postgres_version: server[0]?.server_version ?? 'unknown',
  };
}

async function readSequences(client: Client): Promise<BackupManifest['sequences']> {
  const { rows: names } = await client.query<{ name: string }>(SEQUENCES);
  const sequences: BackupManifest['sequences'] = [];
  for (const { name } of names) {
    const { rows } = await client.query<{ last_value: string; is_called: boolean }>(
      `SELECT last_value::text, is_called FROM ${escapeIdentifier(name)}`,
    );
    if (rows[0]) sequences.push({ name, ...rows[0] });
  }
  return sequences;
}

/** The rows of a table in PostgreSQL's text format, which every version reads. Returns their number. */
export async function dumpTable(
  client: Client,
  archive: ArchiveWriter,
  { name, columns }: DumpedTable,
  onBytes: (bytes: number) => void,
): Promise<number> {
  const stream = client.query(
    copyTo(
      `COPY (SELECT ${columns.map(escapeIdentifier).join(', ')} FROM ${escapeIdentifier(name)}) TO STDOUT`,
    ),
  );
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const bytes of stream as AsyncIterable<Buffer>) {
      onBytes(bytes.length);
      yield bytes;
    }
  };
  const { rows = 0 } = await archive.section(`${ENTRIES.tables}${name}`, counted(), () => stream.rowCount);
  return rows;
}

const OBJECTS = `COPY (
  SELECT json_build_object('key', object_key, 'bodies', count(*), 'bytes', sum(object_length))
  FROM request_bodies WHERE object_key IS NOT NULL GROUP BY object_key ORDER BY object_key
) TO STDOUT`;

/** The objects in the bucket that rows refer to, a line of JSON for each. Their bytes stay in the bucket. Returns their number. */
export async function dumpBucketList(client: Client, archive: ArchiveWriter): Promise<number> {
  const stream = client.query(copyTo(OBJECTS));
  const { rows = 0 } = await archive.section(
    ENTRIES.bucket,
    stream as AsyncIterable<Buffer>,
    () => stream.rowCount,
  );
  return rows;
}
