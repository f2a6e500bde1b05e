import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';

/** Longer than any unit of work takes; a process that hangs must not block others with its locks. */
const limits = (timeout: string): string => `
  SET LOCAL statement_timeout = '${timeout}';
  SET LOCAL idle_in_transaction_session_timeout = '30s'`;

/** Runs one unit of work on the rollups, atomically. `patience`: the statement timeout as a PostgreSQL interval. */
export function inTransaction<T>(
  database: DataSource,
  work: (transaction: Queryable) => Promise<T>,
  timeout = '60s',
): Promise<T> {
  return database.transaction(async (manager) => {
    await manager.query(limits(timeout));
    return work(manager);
  });
}
