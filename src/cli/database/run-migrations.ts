import type { DataSource } from 'typeorm';
import type { Secret } from '../../common/settings/secret.js';
import type { MigrationRetries } from '../../schema/migrate.js';
import { LauncherError } from '../launcher-error.js';
import { place } from './await-database.js';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const INSUFFICIENT_PRIVILEGE = '42501';

const TABLE_IN_USE =
  'A migration could not lock a table, because a transaction of another client uses it. Find the oldest with ' +
  '"SELECT pid, xact_start, query FROM pg_stat_activity ORDER BY xact_start", end it, and start again; finished migrations are kept.';

/** Runs the pending migrations. What the operator can resolve is reported as a sentence with the statement to run. */
export async function runMigrations(
  dataSource: DataSource,
  url: Secret,
  options?: MigrationRetries,
): Promise<void> {
  const { migrate, isLockTimeout } = await import('../../schema/migrate.js');
  await migrate(dataSource, options).catch((cause: unknown) => {
    if (lacksPrivilege(cause)) throw new LauncherError(missingPrivilege(url, cause as Error), { cause });
    if (isLockTimeout(cause)) throw new LauncherError(TABLE_IN_USE, { cause });
    throw cause;
  });
}

function lacksPrivilege(error: unknown): boolean {
  const { code, driverError } = error as {
    readonly code?: unknown;
    readonly driverError?: { code?: unknown };
  };
  return code === INSUFFICIENT_PRIVILEGE || driverError?.code === INSUFFICIENT_PRIVILEGE;
}

export function missingPrivilege(url: Secret, { message }: Error): string {
  const { username, pathname } = new URL(url.reveal());
  const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))];
  return (
    `The database user "${user}" lacks a privilege in ${place(url)} (${message}). As the owner of the database, run: ` +
    `GRANT CREATE ON DATABASE "${database}" TO "${user}"; GRANT CREATE ON SCHEMA public TO "${user}"; (docs/database.md)`
  );
}
