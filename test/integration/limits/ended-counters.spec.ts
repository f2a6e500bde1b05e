import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endLeases, sweepLimits } from '../../../src/request-log/charging/end-leases.js';
import { estimatedParts } from '../../../src/request-log/charging/verify-money.js';
import { counterKey } from '../../../src/common/limits/period.js';
import { freshDatabase } from '../../support/database.js';

const DAY_MS = 86_400_000;
const MANY = 2_500;

describe('counters of limits', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let pool: pg.Pool;
  beforeAll(async () => {
    database = await freshDatabase();
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const begun = (daysAgo: number) => {
    const startsAt = Math.floor((Date.now() - daysAgo * DAY_MS) / 1_000) * 1_000;
    return { startsAt, endsAt: startsAt + 365 * DAY_MS };
  };
  const add = (keys: readonly string[]) =>
    pool.query(
      `INSERT INTO limit_counters (key, organization_id, limit_id, measure, spent, amount, created_at)
       SELECT key, $2, $2, 'cost', 5, 9, now() - interval '3 years' FROM unnest($1::text[]) AS key`,
      [keys, randomUUID()],
    );
  const kept = async () => {
    const { rows } = await pool.query<{ key: string }>('SELECT key FROM limit_counters ORDER BY key');
    return rows.map(({ key }) => key);
  };

  it('stay while their period may still run, indefinitely without a reset, and are removed when it has ended', async () => {
    const id = randomUUID();
    const running = counterKey(id, begun(364), '');
    const justOver = counterKey(id, begun(380), 'group');
    const forEver = counterKey(id, { startsAt: 0, endsAt: Infinity }, 'group');
    const over = Array.from({ length: MANY }, (_, index) => counterKey(id, begun(401), `g${index}`));
    await add([running, justOver, forEver, ...over]);

    await sweepLimits(pool);

    expect(await kept()).toEqual([running, justOver, forEver].sort());
  });

  it('keep as spent what a machine held that was lost with its spool, until the spool is found again', async () => {
    const key = counterKey(randomUUID(), begun(1), '');
    const slots = `${key}-slots`;
    await add([key]);
    await pool.query(
      `INSERT INTO limit_counters (key, organization_id, limit_id, measure, amount) VALUES ($1, $2, $2, 'concurrency', 9)`,
      [slots, randomUUID()],
    );
    await pool.query(
      `INSERT INTO limit_leases (counter, holder, amount, expires_at) VALUES
        ($1, 'lost', 3, now() - interval '2 days'), ($1, 'alive', 1, now() + interval '50 minutes'),
        ($2, 'lost', 2, now() - interval '2 days')`,
      [key, slots],
    );
    const countedLeases = async () => {
      const { rows } = await pool.query<{ holder: string }>(
        'SELECT holder FROM limit_leases WHERE counter = ANY ($1) AND expires_at > now() ORDER BY 1',
        [[key, slots]],
      );
      return rows.map(({ holder }) => holder);
    };
    const lost = async () => {
      const parts = await estimatedParts({ query: async (sql) => (await pool.query(sql)).rows as unknown });
      return parts.filter(({ counter }) => counter === key).map((part) => part.lost);
    };

    await sweepLimits(pool);

    expect(await countedLeases()).toEqual(['alive', 'lost']);
    expect(await lost()).toEqual([3n]);

    await endLeases(pool, 'lost');

    expect(await countedLeases()).toEqual(['alive']);
    expect(await lost()).toEqual([]);
  });
});
