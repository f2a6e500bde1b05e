import { setTimeout as sleep } from 'node:timers/promises';
import type { BootstrapResult } from '../../admin/bootstrap/bootstrap.js';
import { signInLink } from '../../common/crypto/sign-in-link.js';
import type { Secret } from '../../common/settings/secret.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Settings } from '../../common/settings/settings.js';
import { type BootstrapFile, writeBootstrapFile } from '../bootstrap-file.js';
import type { InstanceSecrets } from '../data-folder.js';
import type { EmbeddedPostgres } from '../embedded-postgres.js';
import { LauncherError } from '../launcher-error.js';
import { awaitDatabase, type WaitOptions } from './await-database.js';
import { runMigrations } from './run-migrations.js';
import { laterText, readSchemaState } from './schema-state.js';

export interface Preparation extends WaitOptions {
  readonly url: Secret;
  readonly secrets: InstanceSecrets;
  readonly dataDir: string;
  /** The address for `bootstrap.json`. */
  readonly baseUrl: string;
  /** The server behind `url`, if it is the embedded one. */
  readonly server: Pick<EmbeddedPostgres, 'untilUp'> | null;
  /** An instance that only runs jobs creates no keys: it has no address to publish with them. */
  readonly makesFirstKeys: boolean;
  /** The first owner from the settings. */
  readonly initOwner: Settings['initOwner'];
}

const LOOK_AGAIN_MS = 1_000;

/**
 * Upgrades the schema and creates the first organization if there is none. Returns what it created, or null.
 *
 * `bootstrap.json` is written before the transaction commits. If the process is killed in between, the file holds keys that do not exist,
 * and the next start creates new ones and overwrites it; the other order could lose the only copy.
 */
export async function prepareDatabase(preparation: Preparation): Promise<BootstrapFile | null> {
  const { url, secrets, server, makesFirstKeys } = preparation;
  await server?.untilUp(preparation.timeoutMs);
  const { pending, later, populated } = await awaitDatabase(
    url,
    () => readSchemaState(url, secrets),
    preparation,
  );
  if (later.length > 0) preparation.notice(laterText(later));
  if (pending.length === 0 && populated) return null;
  const { createDataSource } = await import('../../schema/data-source.js');
  const { bootstrap } = await import('../../admin/bootstrap/bootstrap.js');
  const dataSource = await createDataSource(url.reveal(), 2, 'migrations').initialize();
  try {
    if (pending.length > 0) {
      preparation.notice(`Migrating the database: ${pending.length} migrations are pending.`);
      await runMigrations(dataSource, url);
    }
    if (!makesFirstKeys) return null;
    let kept: BootstrapFile | null = null;
    const keep = async ({ setup_token, ...result }: BootstrapResult): Promise<void> => {
      const { baseUrl } = preparation;
      const setup_url = setup_token === null ? null : signInLink(baseUrl, setup_token);
      kept = { ...result, base_url: baseUrl, setup_url };
      await writeBootstrapFile(preparation.dataDir, kept);
    };
    await bootstrap(dataSource, secrets, keep, preparation.initOwner).catch(explainPassword);
    return kept;
  } finally {
    await dataSource.destroy();
  }
}

function explainPassword(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'password_unacceptable') throw error;
  throw new LauncherError(`GATEHOUSE_INIT_OWNER_PASSWORD: ${error.message}`);
}

/**
 * Settles when an API node has created the first organization. Before that there is no work, and it cannot be checked whether this
 * instance's keys are those of the installation. Rejects when they are not.
 */
export async function awaitInstallation(preparation: Preparation): Promise<void> {
  const { url, secrets, server, signal, notice } = preparation;
  for (let isReported = false; ; isReported = true) {
    const { pending, populated } = await awaitDatabase(url, () => readSchemaState(url, secrets), preparation);
    if (populated && pending.length === 0) return;
    if (server)
      throw new LauncherError(
        'A worker cannot start on an empty data folder. Set DATABASE_URL to the database that the API nodes use, or start with GATEHOUSE_ROLE=all.',
      );
    if (!isReported)
      notice('Waiting for an API node to prepare the installation: start one with GATEHOUSE_ROLE=api.');
    await sleep(LOOK_AGAIN_MS, undefined, { signal });
  }
}
