import { register } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresPool } from '../../../src/database/sessions/postgres-connections.js';
import { createDataSource } from '../../../src/schema/data-source.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database?.drop());

async function count(metric: string, use: string): Promise<number> {
  const text = await register.getSingleMetricAsString(metric);
  const line = new RegExp(`^${metric}(?:_count)?\\{use="${use}"\\} (\\d+)$`, 'm').exec(text);
  return Number(line?.[1] ?? 0);
}
const all = (use: string) => count('gatehouse_database_statement_seconds', use);
const slow = (use: string) => count('gatehouse_database_slow_statements_total', use);

describe('the metrics of statements', () => {
  it('count each statement of a pool once, and slow ones as slow', async () => {
    const pool = postgresPool(
      'logReading',
      { connectionString: database.url, application_name: 'test' },
      () => {},
    );
    const before = [await all('logReading'), await slow('logReading')] as const;
    await pool.query('SELECT $1::int', [1]);
    await expect(pool.query('SELECT nothing')).rejects.toThrow();
    await pool.query('SELECT pg_sleep(1.1)');
    await pool.end();

    expect([await all('logReading'), await slow('logReading')]).toEqual([before[0] + 3, before[1] + 1]);
  });

  it('count the statements of TypeORM and of its transactions', async () => {
    const dataSource = await createDataSource(database.url, 2, 'background').initialize();
    const before = await all('background');
    await dataSource.transaction((manager) => manager.query('SELECT 1'));
    await dataSource.destroy();

    expect(await all('background')).toBe(before + 3);
  });
});
