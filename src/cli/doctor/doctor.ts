import { existsSync } from 'node:fs';
import { loadSettings, type Settings, SettingsError } from '../../common/settings/settings.js';
import { PROBING_MS } from '../../common/net/store-timeouts.js';
import { answeredWithin } from '../../common/processes/answered-within.js';
import { pathsOf } from '../data-folder.js';
import { runningUrl, withDatabase } from '../database/with-database.js';
import { LauncherError } from '../launcher-error.js';
import { say } from '../terminal.js';
import { checkClickHouse } from './check-clickhouse.js';
import { checkDatabase } from './check-database.js';
import { checkCertificates } from './check-certificates.js';
import { checkDataFolder, checkFurtherFolders, checkNode, checkPort, checkSecrets } from './check-machine.js';
import { checkProxies } from './check-proxies.js';
import { checkRedis } from './check-redis.js';
import { checkRunning } from './check-running.js';
import { checkServices, collectorHeaders, type ServiceCheck } from './check-services.js';
import { type CheckedEnvironment, checkedEnvironment } from './checked-environment.js';
import { failed, type DoctorFinding, ok, errorText } from './finding.js';

const SYMBOLS: Readonly<Record<DoctorFinding['result'], string>> = {
  ok: 'ok',
  warning: 'WARNING',
  failed: 'FAILED',
};

/** The embedded database is started for its check, and may have to recover first. */
const DATABASE_LIMIT_MS = 120_000;

export interface DoctorOptions {
  /** Checks this shell's settings even if a running instance has others. */
  readonly fromShell?: boolean;
  /** Prints a line of JSON for each finding. */
  readonly json?: boolean;
}

/** `gatehouse doctor`: runs every check, also after a failure, and prints each finding when its check ends. Returns 1 if any failed. */
export async function doctor(
  environment: NodeJS.ProcessEnv,
  options: DoctorOptions = {},
  print = say,
): Promise<number> {
  let hasFailed = false;
  for await (const finding of examine(environment, options)) {
    print(options.json ? JSON.stringify(finding) : rowOf(finding));
    hasFailed ||= finding.result === 'failed';
  }
  return hasFailed ? 1 : 0;
}

const rowOf = ({ check, result, detail, todo }: DoctorFinding): string => {
  const row = `${SYMBOLS[result].padEnd(9)}${check.padEnd(17)}${detail}`;
  return todo === '' ? row : `${row}\n${' '.repeat(26)}What to do: ${todo}`;
};

/** Yields each finding as soon as it is known: service checks run concurrently. */
export async function* examine(
  shell: NodeJS.ProcessEnv,
  { fromShell = false }: DoctorOptions = {},
): AsyncGenerator<DoctorFinding> {
  yield checkNode(process.version);
  const checked = await checkedEnvironment(shell, fromShell);
  const settings = tryLoad(checked.environment);
  if (settings instanceof SettingsError) {
    for (const problem of settings.problems)
      yield failed('Settings', problem, 'Correct it, then run doctor again.');
    return;
  }
  if (checked.findings.length === 0) yield ok('Settings', 'all valid');
  yield* checked.findings;
  yield* await inTime({
    name: 'Data folder',
    run: async () => [await checkDataFolder(settings.dataDir), ...(await checkFurtherFolders(settings))],
  });
  yield checkSecrets(settings);
  const checks = checksOf(settings, checked).filter(({ name }) => !checked.skipped.has(name));
  yield* asTheyEnd(checks.map((check) => inTime(check)));
}

interface DoctorCheck extends ServiceCheck {
  /** Milliseconds. */
  readonly limitMs?: number;
}

function checksOf(settings: Settings, { environment, isRunning, port }: CheckedEnvironment): DoctorCheck[] {
  return [
    { name: 'Port', run: async () => [await checkPort(settings, isRunning)] },
    ...(port === null ? [] : [{ name: 'Service', run: () => checkRunning(settings, port) }]),
    {
      name: 'Database',
      run: () => checkStores(settings, isRunning),
      ...(settings.databaseUrl || isRunning ? {} : { limitMs: DATABASE_LIMIT_MS }),
    },
    { name: 'Redis', run: () => checkRedis(settings.redisUrl) },
    { name: 'Outbound proxy', run: () => checkProxies(settings) },
    { name: 'ClickHouse', run: () => checkClickHouse(settings.clickhouse) },
    ...checkServices(settings, collectorHeaders(environment)),
    { name: 'Certificates', run: () => checkCertificates(settings, environment) },
  ];
}

async function inTime({ name, run, limitMs = PROBING_MS }: DoctorCheck): Promise<DoctorFinding[]> {
  const late = `no result within ${limitMs / 1_000} s`;
  try {
    return await answeredWithin(run(), limitMs, late);
  } catch (error) {
    return [failed(name, errorText(error), 'Check the address in the settings and that the server runs.')];
  }
}

/** The results of promises, in the order in which they settle. */
async function* asTheyEnd(works: readonly Promise<DoctorFinding[]>[]): AsyncGenerator<DoctorFinding> {
  const open = new Map(
    works.map((work, place) => [place, work.then((findings) => ({ place, found: findings }))]),
  );
  while (open.size > 0) {
    const { place, found } = await Promise.race(open.values());
    open.delete(place);
    yield* found;
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

/** An embedded database that was never created needs no check; a running one is checked where it runs. */
async function checkStores(settings: Settings, isRunning: boolean): Promise<DoctorFinding[]> {
  const url = settings.databaseUrl ?? (isRunning ? await runningUrl(settings.dataDir) : null);
  if (url) return checkDatabase(url, settings);
  if (!existsSync(pathsOf(settings.dataDir).postgres))
    return [ok('Database', 'is created on the first start')];
  try {
    return await withDatabase(settings, (own) => checkDatabase(own, settings));
  } catch (error) {
    const todo =
      error instanceof LauncherError ? 'See what it says.' : 'This is a fault of Gatehouse: report it.';
    return [failed('Database', errorText(error), todo)];
  }
}
