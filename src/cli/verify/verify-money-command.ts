import { existsSync } from 'node:fs';
import type { EntityManager } from 'typeorm';
import type { Secret } from '../../common/settings/secret.js';
import { createDataSource } from '../../schema/data-source.js';
import {
  type Books,
  type BookComparison,
  type EstimatedCause,
  estimatedCauses,
  type EstimatedPart,
  estimatedParts,
  rebuildCounters,
  verifyMoney,
} from '../../request-log/charging/verify-money.js';
import { type UnknownCost, unknownCosts } from '../../request-log/charging/unknown-costs.js';
import { loadSettings, type Settings } from '../../common/settings/settings.js';
import { pathsOf } from '../data-folder.js';
import { readSchemaState } from '../database/schema-state.js';
import { runningUrl, withDatabase } from '../database/with-database.js';
import { FolderLock } from '../folder/folder-lock.js';
import { LauncherError } from '../launcher-error.js';
import { say, table } from '../terminal.js';
import { isFree } from './free-requests.js';

export interface VerifyMoneyOptions {
  readonly repair?: boolean;
}

/**
 * `gatehouse verify money`. Also reports how much of each budget is an estimate, and which attempts have no cost. Returns 1 when two books differ without a known reason,
 * and rejects with a LauncherError of exit code 2 when the service never ran on this database. Can run beside a running service.
 */
export async function verifyMoneyCommand(
  environment: NodeJS.ProcessEnv,
  options: VerifyMoneyOptions,
): Promise<number> {
  const settings = loadSettings(environment);
  const countedIn = settings.clickhouse ? 'ClickHouse' : 'PostgreSQL';
  if (settings.clickhouse) say('Rollups are in ClickHouse and are not compared.');
  const work = (url: Secret): Promise<number> => verifyAt(url, options, countedIn);
  const url = settings.databaseUrl ?? (await urlOfRunning(settings));
  if (!url && !existsSync(pathsOf(settings.dataDir).postgres))
    throw neverRan(`the data folder ${settings.dataDir}`);
  return url ? work(url) : withDatabase(settings, work);
}

async function urlOfRunning({ dataDir }: Settings): Promise<Secret | null> {
  return (await FolderLock.isHeld(dataDir)) ? runningUrl(dataDir) : null;
}

type CountedIn = 'PostgreSQL' | 'ClickHouse';

async function verifyAt(url: Secret, { repair }: VerifyMoneyOptions, countedIn: CountedIn): Promise<number> {
  const { pending } = await readSchemaState(url, null);
  if (pending.length > 0) throw neverRan('this database');
  const database = await createDataSource(url.reveal(), 1, 'migrations').initialize();
  try {
    if (repair) {
      const wrong = await database.transaction((manager) => rebuildCounters(manager));
      say(`Budget counters corrected from the charged attempts: ${wrong}.`);
    }
    return report(await database.transaction('REPEATABLE READ', (manager) => inSnapshot(manager, countedIn)));
  } finally {
    await database.destroy();
  }
}

/** Also for a database that an older release has left: its schema lacks tables or columns of this one. */
const neverRan = (where: string): LauncherError =>
  new LauncherError(
    `This release has not run on ${where}, so there is nothing to verify. ` +
      'Start the service on it first, or correct GATEHOUSE_DATA_DIR or DATABASE_URL.',
    { exitCode: 2 },
  );

interface Findings {
  readonly books: readonly Books[];
  readonly estimates: readonly EstimatedPart[];
  readonly causes: readonly EstimatedCause[];
  readonly unknown: readonly UnknownCost[];
}

async function inSnapshot(manager: EntityManager, countedIn: CountedIn): Promise<Findings> {
  await manager.query('SET TRANSACTION READ ONLY');
  return {
    books: await verifyMoney(manager, countedIn),
    estimates: await estimatedParts(manager),
    causes: await estimatedCauses(manager),
    unknown: await unknownCosts(manager, isFree),
  };
}

function report({ books, estimates, causes, unknown }: Findings): number {
  const rows = books.map(({ name, compared, differences }) => [
    name,
    String(compared),
    String(differences.length),
  ]);
  say(table(['Books', 'Compared', 'Different'], rows));
  const differences = books.flatMap((book) => book.differences);
  for (const difference of differences) say(explained(difference));
  for (const estimate of estimates) for (const line of linesOf(estimate)) say(line);
  if (estimates.length === 0) say('No budget includes estimated amounts.');
  if (causes.length > 0) say(table(['Estimated, because', 'Attempts', 'Nano-dollars'], causes.map(rowOf)));
  if (unknown.length > 0) say(table(['Cost unknown, because', 'Attempts'], unknown.map(unknownRowOf)));
  return differences.some(({ reason }) => reason === null) ? 1 : 0;
}

const rowOf = ({ cause, attempts, nanoDollars }: EstimatedCause): string[] => [
  cause,
  String(attempts),
  String(nanoDollars),
];

const unknownRowOf = ({ cause, attempts }: UnknownCost): string[] => [cause, String(attempts)];

function linesOf({ counter, measure, spent, estimated, lost }: EstimatedPart): string[] {
  const unit = measure === 'cost' ? 'nano-dollars' : 'tokens';
  const lines: string[] = [];
  if (estimated > 0n)
    lines.push(
      `counter ${counter}: ${estimated} of ${spent} ${unit} are estimates, because their responses did not end`,
    );
  if (lost > 0n)
    lines.push(
      `counter ${counter}: ${lost} ${unit} more count as spent, because the processes that had leased them were lost with their spool`,
    );
  return lines;
}

function explained({ what, expected, found, reason }: BookComparison): string {
  return `${what}: found ${found}, expected ${expected} (${reason ?? 'unexplained'})`;
}
