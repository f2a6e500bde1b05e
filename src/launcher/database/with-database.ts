import type { Secret } from '../../common/crypto/secret.js';
import type { Settings } from '../../common/settings/settings.js';
import { openDataFolder, resolveSecrets } from '../data-folder.js';
import { EmbeddedPostgres } from '../embedded-postgres.js';
import { FolderLock } from '../folder/folder-lock.js';
import { connectionsNeeded } from '../launch-plan.js';
import { say } from '../terminal.js';

/**
 * Lends the database of this instance to a command: that of the settings, or the embedded one, which is started for
 * as long as the command takes. While the service runs on the data folder, the lock says so.
 */
export async function withDatabase<T>(settings: Settings, work: (url: Secret) => Promise<T>): Promise<T> {
  if (settings.databaseUrl) return work(settings.databaseUrl);
  await openDataFolder(settings.dataDir);
  const lock = await FolderLock.acquire(settings.dataDir, say);
  try {
    // The secrets come first, as in a start: a database without them is refused later.
    await resolveSecrets(settings);
    const maxConnections = connectionsNeeded(settings);
    const server = await EmbeddedPostgres.start({ dataDir: settings.dataDir, maxConnections });
    try {
      return await work(server.url);
    } finally {
      await server.stop();
    }
  } finally {
    await lock.release();
  }
}
