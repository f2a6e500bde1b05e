import type { DataSource } from 'typeorm';
import type { Secret } from '../../common/settings/secret.js';
import { loadSettings } from '../../common/settings/settings.js';
import { LauncherError } from '../launcher-error.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { awaitDatabase } from './await-database.js';
import { runMigrations } from './run-migrations.js';
import { readSchemaState } from './schema-state.js';
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
    const { pending } = await awaitDatabase(url, () => readSchemaState(url, null), {
      signal: new AbortController().signal,
      notice: output.say,
    });
    if (pending.length === 0) output.say('The schema is up to date.');
    else output.say(`Pending:\n${pending.map((name) => `  ${name}`).join('\n')}`);
    const runs = !options.status && pending.length > 0;
    if (runs)
      await withDataSource(url, (source) => (options.dryRun ? runDry(source) : runMigrations(source, url)));
    if (runs) output.say(options.dryRun ? RAN_DRY : 'All migrations are done.');
    output.result({ pending, applied: runs && !options.dryRun });
    return options.status && pending.length > 0 ? 1 : 0;
  });
}

const RAN_DRY = 'The pending migrations ran and were rolled back. Nothing was changed.';

/** All migrations in one transaction, rolled back. A statement that cannot run inside a transaction would fail here. */
async function runDry(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query('SET LOCAL statement_timeout = 0');
    const done = await doneMigrations(dataSource);
    for (const migration of dataSource.migrations)
      if (!done.has(migration.name ?? migration.constructor.name)) await migration.up(runner);
  } catch (cause) {
    throw new LauncherError(`A migration fails: ${(cause as Error).message}. Nothing was changed.`, {
      cause,
    });
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}

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
