import type { DataSource } from 'typeorm';
import type { Secret } from '../../common/settings/secret.js';
import { LauncherError } from '../launcher-error.js';
import { place } from './await-database.js';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const INSUFFICIENT_PRIVILEGE = '42501';

/** Runs the pending migrations. A missing privilege of the database user is reported as a sentence with the statement to run. */
export async function runMigrations(dataSource: DataSource, url: Secret): Promise<void> {
  const { migrate } = await import('../../schema/migrate.js');
  await migrate(dataSource).catch((error: unknown) => {
    throw lacksPrivilege(error)
      ? new LauncherError(missingPrivilege(url, error as Error), { cause: error })
      : error;
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
