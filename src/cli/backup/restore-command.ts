import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Client } from 'pg';
import { anchorsIn, latestOf } from '../../admin/audit/chain-anchors.js';
import type { Secret } from '../../common/settings/secret.js';
import { loadSettings, type Settings } from '../../common/settings/settings.js';
import { postgresClient } from '../../database/sessions/postgres-connections.js';
import { verifyChains } from '../audit/verify-command.js';
import { masterKeysOf } from '../data-folder.js';
import { place } from '../database/await-database.js';
import { isBeingRestored, markRestore, unmarkRestore } from '../database/restore-mark.js';
import { withExclusiveDatabase } from '../database/with-database.js';
import { LauncherError } from '../launcher-error.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { isConfirmed, ProgressBar } from '../terminal.js';
import { areEqual, verifyBooks } from '../verify/verify-money-command.js';
import { readHead, verifyArchive } from './archive-reader.js';
import type { BackupChecksums } from './checksums.js';
import {
  checkSettings,
  contentIn,
  hasOtherSecrets,
  instanceSecretsOf,
  type SecretContent,
  writeContent,
} from './data-folder-secrets.js';
import { databaseContent, emptyDatabase } from './empty-database.js';
import { loadDatabase } from './load-database.js';
import { type BackupManifest, readManifest } from './manifest.js';
import { checkSchemaOf, migrateAsBackedUp, migrateToRelease } from './migrate-as-backed-up.js';
import { knownPassphrase, type PassphraseOptions } from './passphrase.js';
import { BackupKeys } from './sealed-secrets.js';
import { verifyCredentials } from './verify-credentials.js';

export interface RestoreOptions extends PassphraseOptions, JsonOption {
  readonly from: string;
  /** Deletes what the database holds. */
  readonly replace?: boolean;
  readonly yes?: boolean;
}

/** The data was restored, and a check of it found something. */
export const FOUND_DIFFERENCES = 3;

/** A backup that was read once: its checksums match, and its secrets open. */
interface CheckedBackup {
  readonly path: string;
  readonly manifest: BackupManifest;
  readonly checksums: BackupChecksums;
  readonly content: SecretContent;
}

/** `gatehouse restore`. Returns the exit code: `FOUND_DIFFERENCES` when the restored data does not pass its checks. */
export async function restoreCommand(
  environment: NodeJS.ProcessEnv,
  options: RestoreOptions,
): Promise<number> {
  const output = new CommandOutput(options);
  const settings = loadSettings(environment);
  const startedAt = performance.now();
  const backup = await checkBackup(resolve(options.from), environment, options);
  checkSettings(settings, backup.content);
  if (!options.replace && (await hasOtherSecrets(settings.dataDir, backup.content)))
    throw new LauncherError(
      `The data folder ${settings.dataDir} has the keys of another installation. Restore into an empty data folder, or replace that installation with --replace.`,
    );
  return withExclusiveDatabase(settings, async (url) => {
    const client = postgresClient('commands', {
      connectionString: url.reveal(),
      application_name: 'gatehouse restore',
    });
    await client.connect();
    try {
      if (!(await mayBeFilled(client, url, options))) {
        output.say('Nothing was changed.');
        return 1;
      }
      const rows = await fill(client, { url, settings, backup });
      const findings = await verify(client, { url, settings, backup, output });
      await unmarkRestore(client);
      const { manifest, path } = backup;
      output.say(`Restored from ${path}: ${rows} rows, as of ${manifest.created_at}.`);
      const duration_ms = Math.round(performance.now() - startedAt);
      output.result({ file: path, created_at: manifest.created_at, rows, ...findings, duration_ms });
      return findings.is_verified ? 0 : FOUND_DIFFERENCES;
    } finally {
      await client.end();
    }
  });
}

/** Reads the whole file before anything is changed. */
async function checkBackup(
  path: string,
  environment: NodeJS.ProcessEnv,
  options: PassphraseOptions,
): Promise<CheckedBackup> {
  const { size } = await stat(path).catch((cause: unknown) => {
    throw new LauncherError(`There is no file ${path}.`, { cause });
  });
  const head = await readHead(path);
  const manifest = readManifest(head.manifest);
  checkSchemaOf(manifest);
  const keys = await BackupKeys.of(await knownPassphrase(environment, options), head.secrets);
  const content = contentIn(keys.open(head.secrets, head.manifest));
  const progress = new ProgressBar('Checking the backup');
  const checksums = await verifyArchive(path, keys, (bytes) => progress.show(bytes, size));
  progress.end();
  return { path, manifest, checksums, content };
}

/** Whether the database is empty, or holds an unfinished restore, or the operator confirms that its content is deleted. */
async function mayBeFilled(
  client: Client,
  url: Secret,
  { replace = false, yes = false }: RestoreOptions,
): Promise<boolean> {
  const { tables, isOurs, organizations, connections } = await databaseContent(client);
  if (connections > 0)
    throw new LauncherError(
      `${connections} connections of Gatehouse use the database at ${place(url)}. Stop every instance, then restore.`,
    );
  if (tables === 0 || (await isBeingRestored(client))) return true;
  if (!isOurs)
    throw new LauncherError(
      `The database at ${place(url)} holds tables that are not Gatehouse's. Restore into an empty database.`,
    );
  if (!replace)
    throw new LauncherError(
      `The database at ${place(url)} is not empty: it has ${organizations} organizations. Restore into an empty database, or delete its content with --replace.`,
    );
  return (
    yes ||
    isConfirmed(
      `Delete everything in the database at ${place(url)} (${organizations} organizations, with their keys and logs) and restore the backup?`,
    )
  );
}

interface RestoreJob {
  readonly url: Secret;
  readonly settings: Settings;
  readonly backup: CheckedBackup;
}

/** From the mark on, no start uses the database until the restore is complete. */
async function fill(
  client: Client,
  { url, settings, backup: { path, manifest, checksums, content } }: RestoreJob,
): Promise<number> {
  const { size } = await stat(path);
  await markRestore(client, path);
  await emptyDatabase(client);
  await writeContent(settings, content);
  await migrateAsBackedUp(url, manifest);
  const progress = new ProgressBar('Restoring');
  const onRead = (bytes: number): void => progress.show(bytes, size);
  const rows = await loadDatabase(client, { path, manifest, checksums, onRead });
  progress.end();
  await migrateToRelease(url);
  return rows;
}

/** What the checks of restored data found, as `--json` prints it. */
interface RestoreFindings {
  readonly is_verified: boolean;
  readonly audit_is_intact: boolean;
  readonly money_is_equal: boolean;
  readonly credentials_tried: number;
  readonly credentials_opened: number;
}

async function verify(
  client: Client,
  { url, settings, backup: { content }, output }: RestoreJob & { readonly output: CommandOutput },
): Promise<RestoreFindings> {
  const secrets = instanceSecretsOf(content);
  const anchors = latestOf(anchorsIn(content.audit_anchors ?? ''));
  const notice = output.say;
  const chains = await verifyChains(url, { masterKeys: masterKeysOf(secrets), anchors, notice });
  const money = await verifyBooks(url, settings.clickhouse ? 'ClickHouse' : 'PostgreSQL');
  const { tried, opened } = await verifyCredentials(client, secrets);
  const auditIsIntact = chains.every(({ is_intact }) => is_intact);
  const isEqual = areEqual(money);
  notice(isEqual ? 'Money: the books agree.' : 'Money: the books DIFFER. Run "gatehouse verify money".');
  notice(`Credentials: ${opened} of ${tried} open with the master key.`);
  return {
    is_verified: auditIsIntact && isEqual && opened === tried,
    audit_is_intact: auditIsIntact,
    money_is_equal: isEqual,
    credentials_tried: tried,
    credentials_opened: opened,
  };
}
