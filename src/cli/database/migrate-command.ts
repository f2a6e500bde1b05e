import type { DataSource, MigrationInterface } from 'typeorm';
import type { Secret } from '../../common/settings/secret.js';
import { loadSettings } from '../../common/settings/settings.js';
import { LauncherError } from '../launcher-error.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { awaitDatabase } from './await-database.js';
import { runMigrations } from './run-migrations.js';
import { laterText, readSchemaState, type SchemaState } from './schema-state.js';
import { withRunningDatabase } from './with-database.js';

export interface MigrateOptions extends JsonOption {
  readonly status?: boolean;
  readonly dryRun?: boolean;
}

/** `gatehouse migrate`. Returns the exit code. */
export async function migrateCommand(
  environment: NodeJS.ProcessEnv,
  options: MigrateOptions,
): Promise<number> {
  const output = new CommandOutput(options);
  return withRunningDatabase(loadSettings(environment), async (url) => {
    const { pending, later } = await awaitDatabase(url, () => readSchemaState(url, null), {
      signal: new AbortController().signal,
      notice: output.say,
    });
    output.say(stateText({ pending, later }));
    const runs = !options.status && pending.length > 0;
    if (runs) await withDataSource(url, async (source) => output.say(await run(source, url, options)));
    output.result({ pending, later, applied: runs && !options.dryRun });
    return options.status && pending.length > 0 ? 1 : 0;
  });
}

function stateText({ pending, later }: Pick<SchemaState, 'pending' | 'later'>): string {
  const state =
    pending.length === 0
      ? 'The schema is up to date.'
      : `Pending:\n${pending.map((name) => `  ${name}`).join('\n')}`;
  return later.length === 0 ? state : `${laterText(later)}\n${state}`;
}

/** Returns what was done. */
async function run(dataSource: DataSource, url: Secret, { dryRun }: MigrateOptions): Promise<string> {
  if (dryRun) return runDry(dataSource);
  await runMigrations(dataSource, url);
  return 'All migrations are done.';
}

const RAN_DRY = 'The pending migrations ran and were rolled back. Nothing was changed.';

/**
 * All migrations in one transaction, rolled back; returns what was done. Those that build indexes are left out: they cannot run in a
 * transaction.
 */
async function runDry(dataSource: DataSource): Promise<string> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '2s'");
    const done = await doneMigrations(dataSource);
    const pending = dataSource.migrations.filter((migration) => !done.has(nameOf(migration)));
    for (const migration of pending) if (migration.transaction !== false) await migration.up(runner);
    const left = pending.filter(({ transaction }) => transaction === false).map(nameOf);
    return left.length === 0
      ? RAN_DRY
      : `${RAN_DRY} Not tried, because they only build indexes: ${left.join(', ')}.`;
  } catch (cause) {
    throw new LauncherError(`A migration fails: ${(cause as Error).message}. Nothing was changed.`, {
      cause,
    });
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}

const nameOf = (migration: MigrationInterface): string => migration.name ?? migration.constructor.name;

async function doneMigrations(dataSource: DataSource): Promise<ReadonlySet<string>> {
  const [table] = await dataSource.query<{ exists: boolean }[]>(
    "SELECT to_regclass('migrations') IS NOT NULL AS exists",
  );
  if (!table?.exists) return new Set();
  const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations');
  return new Set(rows.map(({ name }) => name));
}

async function withDataSource(url: Secret, work: (dataSource: DataSource) => Promise<void>): Promise<void> {
  const { createDataSource } = await import('../../schema/data-source.js');
  const dataSource = await createDataSource(url.reveal(), 2, 'migrations').initialize();
  try {
    await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
