import { readdir } from 'node:fs/promises';
import type { Client } from 'pg';
import { isCheckedBy } from '../../common/crypto/check-value.js';
import type { Secret } from '../../common/settings/secret.js';
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
  /** Whether the first organization exists. */
  readonly populated: boolean;
}

/**
 * Uses plain SQL, because a normal start finds nothing to do, and loading TypeORM with all entities would take longer than the rest of the
 * start. Rejects when the keys do not belong to this database, no release created its schema, or
 * a restore into it is unfinished.
 */
export async function readSchemaState(url: Secret, keys: InstanceSecrets | null): Promise<SchemaState> {
  const client = postgresClient('probing', {
    connectionString: url.reveal(),
    application_name: 'gatehouse launcher',
  });
  try {
    await client.connect();
    await refuseUnfinishedRestore(client);
    const pending = await pendingMigrations(client);
    if (pending.length > 0) return { pending, populated: false };
    if (keys) await checkKeys(client, keys);
    const { rowCount } = await client.query('SELECT 1 FROM organizations LIMIT 1');
    return { pending, populated: rowCount === 1 };
  } finally {
    // Not awaited: after a connection that the server refused, pg's `end` never settles.
    void client.end().catch(() => undefined);
  }
}

/**
 * The file of a migration begins with the timestamp that TypeORM records. Rejects when the database has migrations, but not the
 * first one of this release.
 */
async function pendingMigrations(client: Client): Promise<string[]> {
  const files = (await readdir(MIGRATION_FILES)).map((name) => /^(\d{13}-[\w-]+)\.[jt]s$/.exec(name)?.[1]);
  const known = files.filter((name) => name !== undefined).sort();
  const { rows: tables } = await client.query<{ found: boolean }>(
    "SELECT to_regclass('migrations') IS NOT NULL AS found",
  );
  if (!tables[0]?.found) return known;
  const { rows } = await client.query<{ timestamp: string }>('SELECT timestamp::text FROM migrations');
  const done = new Set(rows.map(({ timestamp }) => timestamp));
  const pending = known.filter((name) => !done.has(name.slice(0, 13)));
  if (done.size > 0 && pending[0] === known[0]) throw new LauncherError(BEFORE_THE_FIRST_RELEASE);
  return pending;
}

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
