import { z } from 'zod';
import { LauncherError } from '../launcher-error.js';
import { parseEntry } from './parse-entry.js';

/** The version of the archive's layout (docs/backup.md). A later layout is refused. */
export const BACKUP_FORMAT = 1;

/** Names come from the catalogue of PostgreSQL and are quoted wherever they are used. */
const name = z.string().min(1).max(63);

/** As `pg_get_expr` prints the bounds of a partition of a range: the only SQL text that is taken from an archive. */
const bounds = z.string().regex(/^FOR VALUES FROM \('[\w :.+-]+'\) TO \('[\w :.+-]+'\)$/);

const manifest = z.object({
  format: z.literal(BACKUP_FORMAT),
  /** Of Gatehouse. */
  version: z.string(),
  /** When the snapshot was taken, ISO 8601. */
  created_at: z.string(),
  postgres_version: z.string(),
  /** Names of the migrations that had run, in their order. */
  migrations: z.array(name),
  tables: z.array(z.object({ name, columns: z.array(name) })),
  partitions: z.array(z.object({ name, parent: name, bounds })),
  sequences: z.array(z.object({ name, last_value: z.string().regex(/^-?\d+$/), is_called: z.boolean() })),
  /** Whether rollups are in ClickHouse, which is not part of a backup. */
  counted_in_clickhouse: z.boolean(),
});

/** The first entry of a backup: what it holds, and what it was made from. */
export type BackupManifest = z.infer<typeof manifest>;
export type DumpedTable = BackupManifest['tables'][number];

export function readManifest(text: string): BackupManifest {
  const { format } = parseEntry(ENTRIES.manifest, z.looseObject({ format: z.number() }), text);
  if (format > BACKUP_FORMAT)
    throw new LauncherError(
      `The backup has format ${format}, and this release reads ${BACKUP_FORMAT}. Restore it with the release that made it, or a newer one.`,
    );
  return parseEntry(ENTRIES.manifest, manifest, text);
}

/** Names of the entries. Those in a folder are parts of one section, numbered from 1. */
export const ENTRIES = {
  manifest: 'manifest.json',
  secrets: 'secrets.json',
  tables: 'tables/',
  bucket: 'bucket-objects',
  checksums: 'checksums.json',
} as const;
