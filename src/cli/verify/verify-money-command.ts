import { existsSync } from 'node:fs';
import type { DataSource, EntityManager } from 'typeorm';
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
import { CommandOutput, type JsonOption } from '../output.js';
import { table } from '../terminal.js';
import { isFreeRequest } from './free-requests.js';

export interface VerifyMoneyOptions extends JsonOption {
  readonly repair?: boolean;
}

/**
 * `gatehouse verify money`. Also reports how much of each budget is an estimate, and which attempts have no cost. Returns 1 when two books
 * differ without a known reason, and rejects with a LauncherError of exit code 2 when the service never ran on this database. Can run beside
 * a running service.
 */
export async function verifyMoneyCommand(
  environment: NodeJS.ProcessEnv,
  options: VerifyMoneyOptions,
): Promise<number> {
  const settings = loadSettings(environment);
  const output = new CommandOutput(options);
  const countedIn = settings.clickhouse ? 'ClickHouse' : 'PostgreSQL';
  if (settings.clickhouse) output.say('Rollups are in ClickHouse and are not compared.');
  const work = async (url: Secret): Promise<number> => {
    const { pending } = await readSchemaState(url, null);
    if (pending.length > 0) throw neverRan('this database');
    if (options.repair)
      output.say(`Budget counters corrected from the charged attempts: ${await repair(url)}.`);
    const findings = await verifyBooks(url, countedIn);
    report(findings, output.say);
    output.result({ is_equal: areEqual(findings), ...findings });
    return areEqual(findings) ? 0 : 1;
  };
  const url = settings.databaseUrl ?? (await urlOfRunning(settings));
  if (!url && !existsSync(pathsOf(settings.dataDir).postgres))
    throw neverRan(`the data folder ${settings.dataDir}`);
  return url ? work(url) : withDatabase(settings, work);
}

async function urlOfRunning({ dataDir }: Settings): Promise<Secret | null> {
  return (await FolderLock.isHeld(dataDir)) ? runningUrl(dataDir) : null;
}

type CountedIn = 'PostgreSQL' | 'ClickHouse';

const repair = (url: Secret): Promise<number> =>
  connected(url, (database) => database.transaction((manager) => rebuildCounters(manager)));

/** Compares the books of a database that has this release's schema, in one snapshot. */
export const verifyBooks = (url: Secret, countedIn: CountedIn): Promise<MoneyFindings> =>
  connected(url, (database) =>
    database.transaction('REPEATABLE READ', (manager) => inSnapshot(manager, countedIn)),
  );

async function connected<T>(url: Secret, work: (database: DataSource) => Promise<T>): Promise<T> {
  const database = await createDataSource(url.reveal(), 1, 'migrations').initialize();
  try {
    return await work(database);
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

/** What the books say. */
export interface MoneyFindings {
  readonly books: readonly Books[];
  readonly estimates: readonly EstimatedPart[];
  readonly causes: readonly EstimatedCause[];
  readonly unknown: readonly UnknownCost[];
}

async function inSnapshot(manager: EntityManager, countedIn: CountedIn): Promise<MoneyFindings> {
  await manager.query('SET TRANSACTION READ ONLY');
  return {
    books: await verifyMoney(manager, countedIn),
    estimates: await estimatedParts(manager),
    causes: await estimatedCauses(manager),
    unknown: await unknownCosts(manager, isFreeRequest),
  };
}

/** Whether no two books differ without a known reason. */
export const areEqual = ({ books }: MoneyFindings): boolean =>
  books.every(({ differences }) => differences.every(({ reason }) => reason !== null));

function report({ books, estimates, causes, unknown }: MoneyFindings, print: (text: string) => void): void {
  const rows = books.map(({ name, compared, differences }) => [
    name,
    String(compared),
    String(differences.length),
  ]);
  print(table(['Books', 'Compared', 'Different'], rows));
  for (const difference of books.flatMap((book) => book.differences)) print(explained(difference));
  for (const estimate of estimates) for (const line of linesOf(estimate)) print(line);
  if (estimates.length === 0) print('No budget includes estimated amounts.');
  if (causes.length > 0) print(table(['Estimated, because', 'Attempts', 'Nano-dollars'], causes.map(rowOf)));
  if (unknown.length > 0) print(table(['Cost unknown, because', 'Attempts'], unknown.map(unknownRowOf)));
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
