import { once } from 'node:events';
import { type Client, escapeIdentifier } from 'pg';
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams';
import { OWN_TABLES } from '../database/own-tables.js';
import { LauncherError } from '../launcher-error.js';
import { readArchive } from './archive-reader.js';
import { type BackupChecksums, RunningChecksum, type SectionChecksum } from './checksums.js';
import { type BackupManifest, type DumpedTable, ENTRIES } from './manifest.js';

/** A table as `ALTER TABLE` names it, and a constraint with its definition. */
interface ForeignKey {
  readonly table_name: string;
  readonly name: string;
  readonly definition: string;
}

const FOREIGN_KEYS = `
  SELECT c.relname AS table_name, k.conname AS name, pg_get_constraintdef(k.oid) AS definition
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
  WHERE k.contype = 'f' AND k.conparentid = 0 AND ${OWN_TABLES} ORDER BY c.relname, k.conname`;

export interface LoadJob {
  readonly path: string;
  readonly manifest: BackupManifest;
  readonly checksums: BackupChecksums;
  readonly onRead: (bytes: number) => void;
}

/**
 * Fills the tables of a schema that is at the migrations of the backup. Foreign keys are dropped first and created again at the end, which
 * checks all rows at once; triggers do not run for restored rows. A table is one transaction. Returns the number of rows.
 */
export async function loadDatabase(client: Client, job: LoadJob): Promise<number> {
  const { manifest } = job;
  await client.query("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'");
  await createPartitions(client, manifest);
  const { rows: keys } = await client.query<ForeignKey>(FOREIGN_KEYS);
  for (const { table_name, name } of keys)
    await client.query(
      `ALTER TABLE ${escapeIdentifier(table_name)} DROP CONSTRAINT ${escapeIdentifier(name)}`,
    );
  await clearTables(client, manifest);
  const rows = await loadTables(client, job);
  for (const { name, last_value, is_called } of manifest.sequences)
    await client.query('SELECT setval($1::regclass, $2::bigint, $3)', [
      escapeIdentifier(name),
      last_value,
      is_called,
    ]);
  for (const { table_name, name, definition } of keys)
    await client.query(
      `ALTER TABLE ${escapeIdentifier(table_name)} ADD CONSTRAINT ${escapeIdentifier(name)} ${definition}`,
    );
  await client.query('ANALYZE');
  return rows;
}

/** Those that the migrations have made stay. */
async function createPartitions(client: Client, { partitions }: BackupManifest): Promise<void> {
  for (const { name, parent, bounds } of partitions)
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${escapeIdentifier(name)} PARTITION OF ${escapeIdentifier(parent)} ${bounds}`,
    );
}

/** Migrations write rows of their own, which the backup has as well. */
async function clearTables(client: Client, { tables }: BackupManifest): Promise<void> {
  for (const { name } of tables) {
    const table = escapeIdentifier(name);
    await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    await client.query(`DELETE FROM ${table}`);
  }
}

async function loadTables(client: Client, { path, manifest, checksums, onRead }: LoadJob): Promise<number> {
  const tables = new Map(manifest.tables.map((table) => [`${ENTRIES.tables}${table.name}`, table]));
  const expected = new Map(checksums.sections.map((section) => [section.name, section]));
  let open: TableCopy | null = null;
  let rows = 0;
  for await (const { section, bytes } of readArchive(path, onRead)) {
    if (open && open.section !== section) {
      rows += await open.end(expected.get(open.section));
      open = null;
    }
    const table = tables.get(section);
    if (table) await (open ??= await TableCopy.begin(client, section, table)).write(bytes);
  }
  for (const { name } of manifest.tables)
    await client.query(`ALTER TABLE ${escapeIdentifier(name)} ENABLE TRIGGER USER`);
  return rows;
}

/** COPY into one table, in a transaction. */
class TableCopy {
  private readonly finished: Promise<unknown>;
  private readonly checksum: RunningChecksum;

  private constructor(
    private readonly client: Client,
    readonly section: string,
    private readonly stream: CopyStreamQuery,
  ) {
    this.finished = once(stream, 'finish');
    this.checksum = new RunningChecksum(section);
    // Reported by the next call.
    this.finished.catch(() => undefined);
  }

  static async begin(client: Client, section: string, { name, columns }: DumpedTable): Promise<TableCopy> {
    await client.query('BEGIN');
    const list = columns.map(escapeIdentifier).join(', ');
    return new TableCopy(
      client,
      section,
      client.query(copyFrom(`COPY ${escapeIdentifier(name)} (${list}) FROM STDIN`)),
    );
  }

  async write(bytes: Buffer): Promise<void> {
    this.checksum.add(bytes);
    if (this.stream.destroyed) await this.finished;
    if (!this.stream.write(bytes)) await Promise.race([once(this.stream, 'drain'), this.finished]);
  }

  /** The file is read a second time here, and may have been replaced since its checksums were compared. */
  async end(expected: SectionChecksum | undefined): Promise<number> {
    this.stream.end();
    await this.finished;
    const { rowCount } = this.stream;
    const { sha256 } = this.checksum.end();
    if (!expected || rowCount !== expected.rows || sha256 !== expected.sha256)
      throw new LauncherError(
        `The section ${this.section} changed while it was restored. Nothing of it was stored; restore again from a file that nobody writes.`,
      );
    await this.client.query('COMMIT');
    return rowCount;
  }
}
