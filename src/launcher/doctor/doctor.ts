import { existsSync } from 'node:fs';
import { loadSettings, type Settings, SettingsError } from '../../common/settings/settings.js';
import { pathsOf } from '../data-folder.js';
import { runningUrl, withDatabase } from '../database/with-database.js';
import { FolderLock } from '../folder/folder-lock.js';
import { LauncherError } from '../launcher-error.js';
import { say, table } from '../terminal.js';
import { checkClickHouse } from './check-clickhouse.js';
import { checkDatabase } from './check-database.js';
import { checkDataFolder, checkNode, checkPort, checkSecrets } from './check-machine.js';
import { checkRedis } from './check-redis.js';
import { failed, type Finding, ok, reasonOf } from './finding.js';

const SYMBOLS: Readonly<Record<Finding['result'], string>> = {
  ok: 'ok',
  warning: 'WARNING',
  failed: 'FAILED',
};

/** `gatehouse doctor`: every check, also after one failed. Returns 1 when any did. */
export async function doctor(environment: NodeJS.ProcessEnv): Promise<number> {
  const findings = await examine(environment);
  const rows = findings.map(({ check, result, detail, todo }) => [check, SYMBOLS[result], detail, todo]);
  say(table(['Check', 'Result', 'Found', 'What to do'], rows));
  return findings.some(({ result }) => result === 'failed') ? 1 : 0;
}

export async function examine(environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const node = checkNode(process.version);
  const settings = tryLoad(environment);
  if (settings instanceof SettingsError)
    return [
      node,
      ...settings.problems.map((problem) => failed('Settings', problem, 'Correct it, then ask again.')),
    ];
  const isRunning = await FolderLock.isHeld(settings.dataDir);
  return [
    node,
    ok('Settings', 'all valid'),
    await checkDataFolder(settings.dataDir),
    checkSecrets(settings),
    await checkPort(settings, isRunning),
    ...(await checkStores(settings, isRunning)),
    ...(await checkRedis(settings.redisUrl)),
    ...(await checkClickHouse(settings.clickhouse)),
  ];
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
