import type { DataSource } from 'typeorm';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';

/** Upgrades the schema. Instances that start at the same time take turns, and later ones find nothing left to do. */
export async function migrate(dataSource: DataSource): Promise<void> {
  const turn = dataSource.createQueryRunner();
  try {
    await turn.query('SET statement_timeout = 0');
    await turn.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrations]);
    await dataSource.runMigrations({ transaction: 'each' });
  } finally {
    await turn.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.migrations]);
    await turn.query('RESET statement_timeout');
    await turn.release();
  }
}
