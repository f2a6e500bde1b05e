import type { EntityManager } from 'typeorm';
import type { Secret } from '../../common/crypto/secret.js';
import { createDataSource } from '../../common/database/data-source.js';
import {
  type Books,
  type Comparison,
  rebuildCounters,
  verifyMoney,
} from '../../common/database/limits/verify-money.js';
import { loadSettings, type Settings } from '../../common/settings/settings.js';
import { runningUrl, withDatabase } from '../database/with-database.js';
import { FolderLock } from '../folder/folder-lock.js';
import { say, table } from '../terminal.js';

export interface VerifyMoneyOptions {
  readonly repair?: boolean;
}

/** `gatehouse verify money`. Returns 1 when two books differ and nothing explains it. Runs beside a running service too. */
export async function verifyMoneyCommand(
  environment: NodeJS.ProcessEnv,
  options: VerifyMoneyOptions,
): Promise<number> {
  const settings = loadSettings(environment);
  const countedIn = settings.clickhouse ? 'ClickHouse' : 'PostgreSQL';
  if (settings.clickhouse) say('Rollups are in ClickHouse and are not compared.');
  const work = (url: Secret): Promise<number> => verifyAt(url, options, countedIn);
  const url = settings.databaseUrl ?? (await urlOfRunning(settings));
  return url ? work(url) : withDatabase(settings, work);
}

async function urlOfRunning({ dataDir }: Settings): Promise<Secret | null> {
  return (await FolderLock.isHeld(dataDir)) ? runningUrl(dataDir) : null;
}

type CountedIn = 'PostgreSQL' | 'ClickHouse';

async function verifyAt(url: Secret, { repair }: VerifyMoneyOptions, countedIn: CountedIn): Promise<number> {
  const database = await createDataSource(url.reveal(), 1, 'migrations').initialize();
  try {
    if (repair) {
      const wrong = await database.transaction((manager) => rebuildCounters(manager));
      say(`Counters made anew from the ledger: ${wrong}.`);
    }
    return report(await database.transaction('REPEATABLE READ', (manager) => inSnapshot(manager, countedIn)));
  } finally {
    await database.destroy();
  }
}

async function inSnapshot(manager: EntityManager, countedIn: CountedIn): Promise<Books[]> {
  await manager.query('SET TRANSACTION READ ONLY');
  return verifyMoney(manager, countedIn);
}

function report(books: readonly Books[]): number {
  const rows = books.map(({ name, compared, differences }) => [
    name,
    String(compared),
    String(differences.length),
  ]);
  say(table(['Books', 'Compared', 'Different'], rows));
  const differences = books.flatMap((book) => book.differences);
  for (const difference of differences) say(explained(difference));
  return differences.some(({ reason }) => reason === null) ? 1 : 0;
}

function explained({ what, expected, found, reason }: Comparison): string {
  return `${what}: ${found} instead of ${expected}, ${reason ?? 'and nothing explains it'}`;
}
