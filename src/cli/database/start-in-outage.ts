import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../common/observability/logger.js';
import { SnapshotFolder } from '../../adapters/directories/snapshot/snapshot-folder.js';
import { SnapshotSeal } from '../../adapters/directories/snapshot/snapshot-seal.js';
import type { Settings } from '../../common/settings/settings.js';
import type { BootstrapFile } from '../bootstrap-file.js';
import { DatabaseUnavailable } from '../database-unavailable.js';
import { DATABASE_TIMEOUT_MS, place } from './await-database.js';
import { type Preparation, prepareDatabase } from './prepare-database.js';

/** A database that takes longer to respond is awaited in the background while requests are served, if a snapshot allows it. */
const SHORT_TIMEOUT_MS = 3_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 5_000;

const logger = createLogger('launcher');

/**
 * Prepares a database that may be unavailable. If it is, and a snapshot of an earlier run is still valid, calls `serve`, which lets the
 * gateways start with it; preparation is completed when the database is back. Returns what was created, like `prepareDatabase`. Rejects
 * when there is nothing to serve with, or the instance is to stop.
 */
export async function prepareOrServeWithout(
  preparation: Preparation,
  settings: Pick<Settings, 'role' | 'staleKeysMs'>,
  serve: () => Promise<void>,
): Promise<BootstrapFile | null> {
  const mayServe = settings.role !== 'worker' && settings.staleKeysMs > 0;
  if (!mayServe) return prepareDatabase(preparation);
  try {
    return await prepareDatabase({ ...preparation, timeoutMs: SHORT_TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    const newest = await newestIn(preparation, settings.staleKeysMs);
    if (newest === null)
      return prepareDatabase(
        preparation.server
          ? preparation
          : { ...preparation, timeoutMs: DATABASE_TIMEOUT_MS - SHORT_TIMEOUT_MS },
      );
    preparation.notice(outageText(preparation, newest));
    await serve();
    return untilPrepared(preparation);
  }
}

/** When the newest row that may still be served was read, milliseconds since the epoch; null without one. */
async function newestIn({ url, secrets, dataDir }: Preparation, staleMs: number): Promise<number | null> {
  const folder = new SnapshotFolder(dataDir, new SnapshotSeal({ ...secrets, databaseUrl: url }));
  const oldest = Date.now() - staleMs;
  const rows = await folder.read().catch((error: unknown) => {
    logger.warn({ err: error }, 'The snapshots of keys and configs cannot be read.');
    return [];
  });
  const newest = rows.reduce((latest, { readAt }) => Math.max(latest, readAt), -Infinity);
  return newest > oldest ? newest : null;
}

function outageText({ url }: Preparation, newest: number): string {
  return (
    `The database at ${place(url)} does not respond. Requests with keys known at ${new Date(newest).toISOString()} ` +
    'are served from the snapshot. Unknown keys and the administration get 503 until the database responds. Request logs wait in the spool.'
  );
}

/** Keeps trying after any error, because requests are being served. Logs an error only when it changes. */
async function untilPrepared(preparation: Preparation): Promise<BootstrapFile | null> {
  const { signal } = preparation;
  let reported = '';
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
    await sleep(retryMs, undefined, { signal });
    try {
      const made = await prepareDatabase({
        ...preparation,
        timeoutMs: SHORT_TIMEOUT_MS,
        notice: () => undefined,
      });
      logger.info('The database is available again, and its schema matches this release.');
      return made;
    } catch (error) {
      signal.throwIfAborted();
      const { message } = error as Error;
      if (message !== reported)
        logger.error({ err: error }, 'The database cannot be used yet. Trying again.');
      reported = message;
    }
  }
}
