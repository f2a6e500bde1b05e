import type { Client } from 'pg';
import { writeAtomically } from '../../common/files/write-atomically.js';
import type { Secret } from '../../common/settings/secret.js';
import { VERSION } from '../../common/version.js';
import { ProgressBar } from '../terminal.js';
import { ArchiveWriter } from './archive-writer.js';
import { signedText } from './checksums.js';
import { beginSnapshot, type DatabaseFacts, dumpBucketList, dumpTable, readFacts } from './dump-database.js';
import { BACKUP_FORMAT, type BackupManifest, ENTRIES } from './manifest.js';
import type { BackupKeys } from './sealed-secrets.js';

/** What a backup holds. */
export interface BackupSummary {
  readonly manifest: BackupManifest;
  readonly rows: number;
  readonly objects: number;
}

/** What goes into a backup beside the database. */
export interface BackupContent {
  readonly keys: BackupKeys;
  readonly content: Secret;
  readonly countedInClickhouse: boolean;
}

/** Writes one snapshot of the database of `client` to a file, which appears when it is complete. */
export async function writeBackup(
  path: string,
  client: Client,
  content: BackupContent,
): Promise<BackupSummary> {
  const archive = new ArchiveWriter();
  const filling = fill(archive, client, content).catch((error: unknown) => {
    archive.fail(error as Error);
    throw error;
  });
  const [summary] = await Promise.all([filling, writeAtomically(path, archive.bytes)]);
  return summary;
}

async function fill(
  archive: ArchiveWriter,
  client: Client,
  { keys, content, countedInClickhouse }: BackupContent,
): Promise<BackupSummary> {
  await beginSnapshot(client);
  const facts = await readFacts(client);
  const manifest = manifestOf(facts, countedInClickhouse);
  const text = JSON.stringify(manifest, null, 1);
  await archive.file(ENTRIES.manifest, text);
  await archive.file(ENTRIES.secrets, keys.seal(content, text));
  const rows = await dumpTables(archive, client, facts);
  const objects = await dumpBucketList(client, archive);
  await client.query('COMMIT');
  const { sections } = archive;
  const signature = keys.sign(signedText(sections));
  await archive.end(ENTRIES.checksums, JSON.stringify({ sections, signature }, null, 1));
  return { manifest, rows, objects };
}

const manifestOf = (
  { tables, migrations, partitions, sequences, postgres_version }: DatabaseFacts,
  counted_in_clickhouse: boolean,
): BackupManifest => ({
  format: BACKUP_FORMAT,
  version: VERSION,
  created_at: new Date().toISOString(),
  postgres_version,
  migrations,
  tables: tables.map(({ name, columns }) => ({ name, columns })),
  partitions,
  sequences,
  counted_in_clickhouse,
});

/** The progress counts a table as its size on the disk, whatever its rows are as text. */
async function dumpTables(
  archive: ArchiveWriter,
  client: Client,
  { tables }: DatabaseFacts,
): Promise<number> {
  const progress = new ProgressBar('Backing up');
  const total = tables.reduce((sum, { disk_bytes }) => sum + disk_bytes, 0);
  let [before, rows] = [0, 0];
  for (const table of tables) {
    let bytes = 0;
    rows += await dumpTable(client, archive, table, (read) => {
      bytes += read;
      progress.show(before + Math.min(bytes, table.disk_bytes), total);
    });
    before += table.disk_bytes;
    progress.show(before, total);
  }
  progress.end();
  return rows;
}
