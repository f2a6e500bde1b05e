import type { DataSource } from 'typeorm';
import type { Queryable } from '../database/queryable.js';

/** More than the longest piece of work needs; a process that hangs must not keep others waiting for its locks. */
const LIMITS = `
  SET LOCAL statement_timeout = '60s';
  SET LOCAL idle_in_transaction_session_timeout = '30s'`;

/** One piece of work on the rollups, done whole or not at all. */
export function inTransaction<T>(
  database: DataSource,
  work: (transaction: Queryable) => Promise<T>,
): Promise<T> {
  return database.transaction(async (manager) => {
    await manager.query(LIMITS);
    return work(manager);
  });
}
