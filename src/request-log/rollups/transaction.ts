import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';

/** More than the longest piece of work needs; a process that hangs must not keep others waiting for its locks. */
const limits = (patience: string): string => `
  SET LOCAL statement_timeout = '${patience}';
  SET LOCAL idle_in_transaction_session_timeout = '30s'`;

/** One piece of work on the rollups, done whole or not at all. `patience`: how long a statement of it may take, in words of PostgreSQL. */
export function inTransaction<T>(
  database: DataSource,
  work: (transaction: Queryable) => Promise<T>,
  patience = '60s',
): Promise<T> {
  return database.transaction(async (manager) => {
    await manager.query(limits(patience));
    return work(manager);
  });
}
