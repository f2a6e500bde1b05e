import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Secret } from '../../common/settings/secret.js';
import { loadSettings, type Settings } from '../../common/settings/settings.js';
import { postgresClient } from '../../database/sessions/postgres-connections.js';
import { resolveSecrets } from '../data-folder.js';
import { readSchemaState } from '../database/schema-state.js';
import { withRunningDatabase } from '../database/with-database.js';
import { LauncherError } from '../launcher-error.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { readContent } from './data-folder-secrets.js';
import { newPassphrase, type PassphraseOptions } from './passphrase.js';
import { BackupKeys } from './sealed-secrets.js';
import { type BackupSummary, writeBackup } from './write-backup.js';

export interface BackupOptions extends PassphraseOptions, JsonOption {
  /** The file to write. It must not exist. */
  readonly to: string;
}

/**
 * `gatehouse backup`. Returns the exit code. Works beside a running service. The file gets its name when it is complete and on the disk;
 * a killed backup leaves at most a file that ends in `.tmp`.
 */
export async function backupCommand(environment: NodeJS.ProcessEnv, options: BackupOptions): Promise<number> {
  const path = resolve(options.to);
  if (existsSync(path))
    throw new LauncherError(`${path} exists already. Name a file that does not, or remove it first.`);
  const output = new CommandOutput(options);
  const settings = loadSettings(environment);
  const keys = await BackupKeys.make(await newPassphrase(environment, options));
  const startedAt = performance.now();
  const summary = await withRunningDatabase(settings, (url) => backUp({ settings, url, keys, path }));
  const { size } = await stat(path);
  const { manifest, rows, objects } = summary;
  output.say(
    `${path}: ${manifest.tables.length} tables with ${rows} rows, ${size} bytes. The secrets are sealed: without the passphrase, this backup cannot be restored.`,
  );
  if (objects > 0)
    output.say(`Bodies in the bucket are listed, not copied: ${objects} objects. Back up the bucket itself.`);
  output.result({
    file: path,
    bytes: size,
    version: manifest.version,
    created_at: manifest.created_at,
    last_migration: manifest.migrations.at(-1) ?? null,
    tables: manifest.tables.length,
    rows,
    bucket_objects: objects,
    duration_ms: Math.round(performance.now() - startedAt),
  });
  return 0;
}

interface BackupJob {
  readonly settings: Settings;
  readonly url: Secret;
  readonly keys: BackupKeys;
  readonly path: string;
}

async function backUp({ settings, url, keys, path }: BackupJob): Promise<BackupSummary> {
  const secrets = await resolveSecrets(settings);
  const { pending, populated } = await readSchemaState(url, secrets);
  if (pending.length > 0 || !populated)
    throw new LauncherError(
      'This release has not run on the database, so it cannot back it up. Start the service on it first, or use the release that ran last.',
    );
  const content = await readContent(settings.dataDir, secrets);
  const client = postgresClient('commands', {
    connectionString: url.reveal(),
    application_name: 'gatehouse backup',
  });
  await client.connect();
  try {
    return await writeBackup(path, client, {
      keys,
      content,
      countedInClickhouse: settings.clickhouse !== null,
    });
  } finally {
    await client.end();
  }
}
