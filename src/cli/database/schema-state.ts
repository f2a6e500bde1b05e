import { readdir } from 'node:fs/promises';
import type { Client } from 'pg';
import { isCheckedBy } from '../../common/crypto/check-value.js';
import type { Secret } from '../../common/settings/secret.js';
import { VERSION } from '../../common/version.js';
import { postgresClient } from '../../database/sessions/postgres-connections.js';
import { type InstanceSecrets, masterKeysOf } from '../data-folder.js';
import { LauncherError } from '../launcher-error.js';
import { refuseUnfinishedRestore } from './restore-mark.js';

const MIGRATION_FILES = new URL('../../schema/migrations/', import.meta.url);

const BEFORE_THE_FIRST_RELEASE =
  'The database has the schema of a development version before 0.1.0, which cannot be upgraded. Start with an empty database, or with an empty data folder.';

/** State of the database's schema compared to this release. */
export interface SchemaState {
  /** Migrations of this release that the database lacks. */
  readonly pending: readonly string[];
  /** Names of migrations of later releases, which the database has and this release does not know. */
  readonly later: readonly string[];
  /** Whether the first organization exists. */
  readonly populated: boolean;
}

/**
 * Uses plain SQL, because a normal start finds nothing to do, and loading TypeORM with all entities would take longer than the rest of the
 * start. Rejects when the keys do not belong to this database, no release created its schema, a later release changed it so that this one
 * cannot run, or a restore into it is unfinished.
 */
export async function readSchemaState(url: Secret, keys: InstanceSecrets | null): Promise<SchemaState> {
  const client = postgresClient('probing', {
    connectionString: url.reveal(),
    application_name: 'gatehouse launcher',
  });
  try {
    await client.connect();
    await refuseUnfinishedRestore(client);
    const migrations = await readMigrations(client);
    if (migrations.later.length > 0) await refuseIncompatible(client);
    if (migrations.pending.length > 0) return { ...migrations, populated: false };
    if (keys) await checkKeys(client, keys);
    const { rowCount } = await client.query('SELECT 1 FROM organizations LIMIT 1');
    return { ...migrations, populated: rowCount === 1 };
  } finally {
    // Not awaited: after a connection that the server refused, pg's `end` never settles.
    void client.end().catch(() => undefined);
  }
}

/**
 * The file of a migration begins with the timestamp that TypeORM records. Rejects when the database has migrations, but not the
 * first one of this release.
 */
async function readMigrations(client: Client): Promise<Pick<SchemaState, 'pending' | 'later'>> {
  const files = (await readdir(MIGRATION_FILES)).map((name) => /^(\d{13}-[\w-]+)\.[jt]s$/.exec(name)?.[1]);
  const known = files.filter((name) => name !== undefined).sort();
  const { rows: tables } = await client.query<{ found: boolean }>(
    "SELECT to_regclass('migrations') IS NOT NULL AS found",
  );
  if (!tables[0]?.found) return { pending: known, later: [] };
  const { rows } = await client.query<{ timestamp: string; name: string }>(
    'SELECT timestamp::text, name FROM migrations ORDER BY id',
  );
  const done = new Set(rows.map(({ timestamp }) => timestamp));
  const pending = known.filter((name) => !done.has(name.slice(0, 13)));
  if (done.size > 0 && pending[0] === known[0]) throw new LauncherError(BEFORE_THE_FIRST_RELEASE);
  const ours = new Set(known.map((name) => name.slice(0, 13)));
  return { pending, later: rows.filter(({ timestamp }) => !ours.has(timestamp)).map(({ name }) => name) };
}

/** A later release says which releases can run on its schema (migration `schema-compatibility`). */
async function refuseIncompatible(client: Client): Promise<void> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    "SELECT to_regclass('schema_compatibility') IS NOT NULL AS exists",
  );
  if (!tables[0]?.exists) return;
  const { rows } = await client.query<{ oldest_release: string }>(
    'SELECT oldest_release FROM schema_compatibility',
  );
  const oldest = rows[0]?.oldest_release;
  if (oldest !== undefined && !isSince(VERSION, oldest)) throw new LauncherError(tooOld(oldest));
}

/** By the three numbers of each. A release candidate counts as its release. */
const isSince = (release: string, oldest: string): boolean =>
  release.replace(/-.*/, '').localeCompare(oldest, 'en', { numeric: true }) >= 0;

const tooOld = (oldest: string): string =>
  `A later release upgraded the database, and Gatehouse ${VERSION} cannot run on its schema. Start ${oldest} or later, or restore a backup from before the upgrade (docs/upgrade.md).`;

/** For a release that can run on the schema of a later one. */
export const laterText = (later: readonly string[]): string =>
  `The database has ${later.length} migrations of a later release. Gatehouse ${VERSION} can run on its schema, without what the later release added (docs/upgrade.md).`;

/** Wrong keys would start normally and then fail for each stored credential and API key. */
async function checkKeys(client: Client, secrets: InstanceSecrets): Promise<void> {
  const { rows } = await client.query<{ master_key_check: Buffer; key_pepper_check: Buffer }>(
    'SELECT master_key_check, key_pepper_check FROM installation WHERE id = 1',
  );
  const known = rows[0];
  if (!known) return;
  if (!masterKeysOf(secrets).some((key) => isCheckedBy(key, known.master_key_check)))
    throw new LauncherError(wrongKey('GATEHOUSE_MASTER_KEY'));
  if (!isCheckedBy(secrets.keyPepper, known.key_pepper_check))
    throw new LauncherError(wrongKey('GATEHOUSE_KEY_PEPPER'));
}

export function wrongKey(name: string): string {
  return `The database was set up with another ${name} than this start has. Start with the one it was set up with, from the settings or from secrets.json in the data folder.`;
}
