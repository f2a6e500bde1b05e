import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseUrlOf } from './database-dump.js';
import { outsideStores, startService } from './service.js';

/** A database that several instances share, and the settings that they need for it. */
export interface SharedStore {
  readonly databaseUrl: string;
  readonly env: Readonly<Record<string, string>>;
  /** The folder with the first keys, when they are made already; otherwise the first instance makes them. */
  readonly bootstrapDir: string | null;
  stop(): Promise<void>;
}

const randomKey = (): string => randomBytes(32).toString('base64');

/**
 * With TEST_DATABASE_URL a fresh database there. Otherwise the embedded database of an instance that does nothing
 * else, together with the keys that this instance made for it.
 */
export async function sharedStore(): Promise<SharedStore> {
  const { database, env } = await outsideStores();
  if (database) {
    const keys = { GATEHOUSE_MASTER_KEY: randomKey(), GATEHOUSE_KEY_PEPPER: randomKey() };
    return {
      databaseUrl: database.url,
      env: { ...env, ...keys },
      bootstrapDir: null,
      stop: () => database.drop(),
    };
  }
  const host = await startService({ env: { GATEHOUSE_PROCESSES: '1', GATEHOUSE_DRAIN_DELAY_MS: '0' } });
  const { master_key, key_pepper } = JSON.parse(
    readFileSync(join(host.facts.dataDir, 'secrets.json'), 'utf8'),
  ) as Record<string, string>;
  return {
    databaseUrl: databaseUrlOf(host),
    env: { ...env, GATEHOUSE_MASTER_KEY: master_key ?? '', GATEHOUSE_KEY_PEPPER: key_pepper ?? '' },
    bootstrapDir: host.facts.dataDir,
    stop: () => host.dispose(),
  };
}
