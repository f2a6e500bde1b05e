import type { Secret } from '../../common/crypto/secret.js';
import { type BootstrapFile, writeBootstrapFile } from '../bootstrap-file.js';
import type { InstanceSecrets } from '../data-folder.js';
import { awaitDatabase, type Waiting } from './await-database.js';
import { readSchemaState } from './schema-state.js';

export interface Preparation extends Waiting {
  readonly url: Secret;
  readonly secrets: InstanceSecrets;
  readonly dataDir: string;
  /** What `bootstrap.json` gives as the address. */
  readonly baseUrl: string;
}

/**
 * Brings the schema up to date and makes the first organization when there is none. Returns what it made, or null.
 *
 * `bootstrap.json` is written before the transaction commits. A kill in between leaves a file with keys that never
 * came to be, and the next start makes new ones and writes the file again; the other order could lose the only copy.
 */
export async function prepareDatabase(preparation: Preparation): Promise<BootstrapFile | null> {
  const { url, secrets } = preparation;
  const { pending, populated } = await awaitDatabase(url, () => readSchemaState(url, secrets), preparation);
  if (pending.length === 0 && populated) return null;
  const { migrate } = await import('../../common/database/migrate.js');
  const { createDataSource } = await import('../../common/database/data-source.js');
  const { bootstrap } = await import('../../admin/bootstrap/bootstrap.js');
  const dataSource = await createDataSource(url.reveal(), 2, 'migrations').initialize();
  try {
    if (pending.length > 0) await migrate(dataSource);
    let kept: BootstrapFile | null = null;
    await bootstrap(dataSource, secrets, async (result) => {
      kept = { ...result, base_url: preparation.baseUrl };
      await writeBootstrapFile(preparation.dataDir, kept);
    });
    return kept;
  } finally {
    await dataSource.destroy();
  }
}
