import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from '../../common/settings/secret.js';
import type { Settings } from '../../common/settings/settings.js';
import { openDataFolder, pathsOf, resolveSecrets } from '../data-folder.js';
import { EmbeddedPostgres } from '../embedded-postgres.js';
import { FolderLock } from '../folder/folder-lock.js';
import { connectionsNeeded } from '../launch-plan.js';
import { say } from '../terminal.js';

/**
 * Provides the instance's database to a command: the configured one, or the embedded one, which is started for the duration of the command.
 * Refused with an explanation while the service has the data folder locked.
 */
export async function withDatabase<T>(settings: Settings, work: (url: Secret) => Promise<T>): Promise<T> {
  if (settings.databaseUrl) return work(settings.databaseUrl);
  return withLockedFolder(settings, async () => {
    // Secrets come first, as in a start: a database without them is refused later.
    await resolveSecrets(settings);
    return withEmbeddedDatabase(settings, work);
  });
}

/** The same for a command that replaces the installation: also beside a configured database no service may use the data folder. */
export async function withExclusiveDatabase<T>(
  settings: Settings,
  work: (url: Secret) => Promise<T>,
): Promise<T> {
  return withLockedFolder(settings, () =>
    settings.databaseUrl ? work(settings.databaseUrl) : withEmbeddedDatabase(settings, work),
  );
}

async function withLockedFolder<T>({ dataDir }: Settings, work: () => Promise<T>): Promise<T> {
  await openDataFolder(dataDir);
  const lock = await FolderLock.acquire(dataDir, say);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function withEmbeddedDatabase<T>(settings: Settings, work: (url: Secret) => Promise<T>): Promise<T> {
  const maxConnections = connectionsNeeded(settings);
  const server = await EmbeddedPostgres.start({ dataDir: settings.dataDir, maxConnections });
  try {
    await server.untilUp();
    return await work(server.url);
  } finally {
    await server.stop();
  }
}

/** Also works beside a running service on this data folder: it then uses the service's database. */
export async function withRunningDatabase<T>(
  settings: Settings,
  work: (url: Secret) => Promise<T>,
): Promise<T> {
  if (settings.databaseUrl || !(await FolderLock.isHeld(settings.dataDir)))
    return withDatabase(settings, work);
  const url = await runningUrl(settings.dataDir);
  return url ? work(url) : withDatabase(settings, work);
}

/** The database URL that a running service passes to its processes, or null while it is still starting. */
export async function runningUrl(dataDir: string): Promise<Secret | null> {
  const { run } = pathsOf(dataDir);
  const text = await readFile(join(run, 'database_url'), 'utf8').catch(() => '');
  return text === '' ? null : new Secret(text.trim());
}
