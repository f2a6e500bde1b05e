import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDataSource } from '../../../src/schema/data-source.js';
import { isDatabaseBusy } from '../../../src/database/sessions/database-errors.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { PATIENCE_MS } from '../../support/waiting.js';

const CONNECTIONS = 4;
const CHANGE = 'UPDATE organizations SET name = name || $1';
const organizationId = randomUUID();

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
  await database.dataSource.query(
    "INSERT INTO organizations (id, name, wrapped_key) VALUES ($1, '', '\\x00')",
    [organizationId],
  );
});
afterAll(() => database.drop());

/** A process with so few connections, which waits so long for one. */
async function withProcess(
  connectTimeoutMS: number,
  work: (unit: UnitOfWork, pool: pg.Pool) => Promise<void>,
): Promise<void> {
  const dataSource = createDataSource(database.url, CONNECTIONS, 'migrations').setOptions({
    connectTimeoutMS,
  });
  await dataSource.initialize();
  try {
    await work(new UnitOfWork(dataSource), (dataSource.driver as unknown as { master: pg.Pool }).master);
  } finally {
    await dataSource.destroy();
  }
}

const write = (unit: UnitOfWork, what: string) =>
  unit.runFor({ organizationId, isReading: false }, () => unit.manager.query(CHANGE, [what]));
const read = (unit: UnitOfWork) =>
  unit.runFor({ organizationId, isReading: true }, () =>
    unit.manager.query<[{ name: string }]>('SELECT name FROM organizations'),
  );

/** While `work` runs, nobody else can change the organization. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM organizations FOR UPDATE');
    await work();
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

describe('connections of a process', () => {
  it('are left to readers while more writers wait than there are', () =>
    withProcess(PATIENCE_MS, async (unit) => {
      let writers: Promise<unknown>[] = [];
      await whileLocked(async () => {
        writers = Array.from({ length: 3 * CONNECTIONS }, () => write(unit, '.'));
        expect(await read(unit)).toEqual([{ name: '' }]);
      });
      await Promise.all(writers);
      expect(await read(unit)).toEqual([{ name: '.'.repeat(3 * CONNECTIONS) }]);
    }));

  it('are refused to a writer as by a busy database when others have them for too long', () =>
    withProcess(300, async (unit) => {
      let first: Promise<unknown>[] = [];
      // A writer that comes before the wall is known may be overtaken.
      await read(unit);
      // Half of the connections are for writers, and one organization gets all of these but one.
      const share = CONNECTIONS / 2 - 1;
      await whileLocked(async () => {
        first = Array.from({ length: share }, () => write(unit, 'x'));
        const refused = await write(unit, 'y').catch((error: unknown) => error);
        expect(isDatabaseBusy(refused)).toBe(true);
      });
      await Promise.all(first);
    }));

  it('come back from work that failed while it waited for one', () =>
    withProcess(PATIENCE_MS, async (unit, pool) => {
      for (const isReading of [true, false]) {
        const held = await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.connect()));
        const failing = unit.runFor({ organizationId, isReading }, async () => {
          void unit.manager.query('SELECT 1').catch(() => undefined);
          await Promise.resolve();
          throw new Error('meanwhile');
        });
        for (const each of held) each.release();
        await expect(failing).rejects.toThrow('meanwhile');
        await expect.poll(() => pool.idleCount).toBe(pool.totalCount);
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, () => write(unit, 'z')));
    }));
});
