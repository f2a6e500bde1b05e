import { existsSync } from 'node:fs';
import { loadSettings, type Settings, SettingsError } from '../../common/settings/settings.js';
import { answeredWithin } from '../../common/processes/answered-within.js';
import { pathsOf } from '../data-folder.js';
import { runningUrl, withDatabase } from '../database/with-database.js';
import { FolderLock } from '../folder/folder-lock.js';
import { LauncherError } from '../launcher-error.js';
import { say } from '../terminal.js';
import { checkClickHouse } from './check-clickhouse.js';
import { checkDatabase } from './check-database.js';
import { checkDataFolder, checkNode, checkPort, checkSecrets } from './check-machine.js';
import { checkRedis } from './check-redis.js';
import { checkServices } from './check-services.js';
import { failed, type Finding, ok, reasonOf } from './finding.js';

const SYMBOLS: Readonly<Record<Finding['result'], string>> = {
  ok: 'ok',
  warning: 'WARNING',
  failed: 'FAILED',
};

/** Beyond the time limits of the stores, for what has none: a disk that hangs, a name that is never resolved. */
const CHECK_LIMIT_MS = 30_000;
/** The embedded database is started for its check, and may have to recover first. */
const DATABASE_LIMIT_MS = 120_000;

/** `gatehouse doctor`: every check, also after one failed; each row is printed when its check ends. Returns 1 when any failed. */
export async function doctor(environment: NodeJS.ProcessEnv, print = say): Promise<number> {
  let hasFailed = false;
  for await (const finding of examine(environment)) {
    print(rowOf(finding));
    hasFailed ||= finding.result === 'failed';
  }
  return hasFailed ? 1 : 0;
}

const rowOf = ({ check, result, detail, todo }: Finding): string => {
  const row = `${SYMBOLS[result].padEnd(9)}${check.padEnd(17)}${detail}`;
  return todo === '' ? row : `${row}\n${' '.repeat(26)}What to do: ${todo}`;
};

/** Findings in the order of the checks, each as soon as it is there. */
export async function* examine(environment: NodeJS.ProcessEnv): AsyncGenerator<Finding> {
  yield checkNode(process.version);
  const settings = tryLoad(environment);
  if (settings instanceof SettingsError) {
    for (const problem of settings.problems) yield failed('Settings', problem, 'Correct it, then ask again.');
    return;
  }
  yield ok('Settings', 'all valid');
  yield* inTime('Data folder', async () => [await checkDataFolder(settings.dataDir)]);
  yield checkSecrets(settings);
  const isRunning = await FolderLock.isHeld(settings.dataDir);
  yield* inTime('Port', async () => [await checkPort(settings, isRunning)]);
  yield* inTime('Database', () => checkStores(settings, isRunning), DATABASE_LIMIT_MS);
  yield* inTime('Redis', () => checkRedis(settings.redisUrl));
  yield* inTime('ClickHouse', () => checkClickHouse(settings.clickhouse));
  for (const { name, run } of checkServices(settings)) yield* inTime(name, run);
}

async function* inTime(
  check: string,
  run: () => Promise<Finding[]>,
  limitMs = CHECK_LIMIT_MS,
): AsyncGenerator<Finding> {
  const late = `no result within ${limitMs / 1_000} s`;
  try {
    yield* await answeredWithin(run(), limitMs, late);
  } catch (error) {
    yield failed(check, reasonOf(error), 'Check the address in the settings and that the server runs.');
  }
}

function tryLoad(environment: NodeJS.ProcessEnv): Settings | SettingsError {
  try {
    return loadSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
}

/** An embedded database that was never made has nothing to check; one that runs is asked where it runs. */
async function checkStores(settings: Settings, isRunning: boolean): Promise<Finding[]> {
  const url = settings.databaseUrl ?? (isRunning ? await runningUrl(settings.dataDir) : null);
  if (url) return checkDatabase(url, settings);
  if (!existsSync(pathsOf(settings.dataDir).postgres)) return [ok('Database', 'is made on the first start')];
  try {
    return await withDatabase(settings, (own) => checkDatabase(own, settings));
  } catch (error) {
    const todo =
      error instanceof LauncherError ? 'See what it says.' : 'This is a fault of Gatehouse: report it.';
    return [failed('Database', reasonOf(error), todo)];
  }
}
