import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  countOf,
  fromStored,
  type Histogram,
  merge,
  record,
  toStored,
} from '../../../src/request-log/rollups/histogram.js';
import { MEASURES } from '../../../src/request-log/rollups/measures.js';
import { PostgresBatchAggregator } from '../../../src/request-log/analytics/postgres/postgres-batch-aggregator.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { ROLLUP_TABLES, rolledUp, summedUp } from '../../support/rollup.js';
import { storeBatch, type StoredRequest } from '../../support/stored-batches.js';

let database: TestDatabase;
let aggregator: PostgresBatchAggregator;

beforeAll(async () => {
  database = await freshDatabase();
  aggregator = new PostgresBatchAggregator(database.dataSource);
});
afterAll(() => database.drop());
beforeEach(() => database.dataSource.query(`TRUNCATE ${ROLLUP_TABLES}`));

/** Requests that differ in all that is summed, over few keys, so that batches meet in the same rows. */
function mixedRequests(count: number, models = 3): StoredRequest[] {
  return Array.from({ length: count }, (_, at) => ({
    created_at: new Date(Date.now() - (at % 3) * 60_000),
    model: at % 7 === 0 ? null : `model-${at % models}`,
    status: [200, 200, 429, 500][at % 4],
    usage_source: at % 5 === 0 ? 'counted' : 'provider',
    input_tokens: at % 11 === 0 ? null : at,
    output_tokens: at % 11 === 0 ? null : at * 2,
    cached_input_tokens: at % 2,
    reasoning_tokens: at % 3,
    cost_nano_usd: at % 4 === 0 ? null : at * 1_000_003,
    duration_ms: at * 13,
    first_token_ms: at % 2 === 0 ? null : at * 3,
  }));
}

describe('the minute rollup', () => {
  it('says what the raw rows say', async () => {
    for (const size of [1, 40, 400])
      await aggregator.aggregate(await storeBatch(database.dataSource, mixedRequests(size)));

    const rows = await rolledUp(database.dataSource);
    expect(rows.length).toBeGreaterThan(10);
    expect(rows).toEqual(await summedUp(database.dataSource));
  });

  it('counts a batch once that is delivered five times at once, and again later', async () => {
    const batch = await storeBatch(database.dataSource, mixedRequests(200));

    const outcomes = await Promise.all(Array.from({ length: 5 }, () => aggregator.aggregate(batch)));
    outcomes.push(await aggregator.aggregate(batch));

    expect(outcomes.sort()).toEqual(['aggregated', ...Array<string>(5).fill('already_aggregated')]);
    expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));
  });

  it('adds up batches with the same keys that are worked on at once, without a deadlock', async () => {
    const batches = await Promise.all(
      Array.from({ length: 40 }, (_, at) => {
        const requests = mixedRequests(60, 9);
        return storeBatch(database.dataSource, at % 2 === 0 ? requests : requests.reverse());
      }),
    );

    await Promise.all(batches.map((batch) => aggregator.aggregate(batch)));

    expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));
  });

  it('merges the histograms of batches into the histogram of all of their requests', async () => {
    const durations = Array.from({ length: 300 }, (_, at) => (at * at) % 90_001);
    const same = { created_at: new Date('2026-11-21T10:00:00Z') };
    for (let start = 0; start < durations.length; start += 50) {
      const requests = durations.slice(start, start + 50).map((duration_ms) => ({ ...same, duration_ms }));
      await aggregator.aggregate(await storeBatch(database.dataSource, requests));
    }
    const whole: Histogram = new Map();
    for (const duration of durations) record(whole, duration * 1_000);

    const [row] = await database.dataSource.query(
      'SELECT duration_histogram, first_token_histogram FROM usage_minute',
    );

    expect(row.duration_histogram).toEqual(toStored(whole));
    expect(countOf(fromStored(row.first_token_histogram))).toBe(300);
  });

  it('merges in SQL as in code', async () => {
    const one: Histogram = new Map([
      [1, 2],
      [700, 3],
    ]);
    const other: Histogram = new Map([
      [700, 4],
      [1_200, 1],
    ]);

    const added = (there: string, more: string) => MEASURES.duration_histogram.added(there, more);
    const [row] = await database.dataSource.query(
      `SELECT ${added('one', 'other')} AS merged, ${added('other', 'one')} AS turned, ${added('one', 'none')} AS as_before,
         ${added('none', 'one')} AS first, ${added('none', 'none')} AS nothing
       FROM (SELECT $1::jsonb AS one, $2::jsonb AS other, $3::jsonb AS none) AS given`,
      [toStored(one), toStored(other), {}],
    );

    const merged = toStored(merge(one, other));
    expect(row).toEqual({
      merged,
      turned: merged,
      as_before: toStored(one),
      first: toStored(one),
      nothing: {},
    });
  });

  it('makes the partitions of new days when several processes need them at once', async () => {
    const days = ['2031-03-01T23:59:59.999Z', '2031-03-02T00:00:00.000Z', '2031-03-03T12:00:00Z'];
    const batches = await Promise.all(
      Array.from({ length: 8 }, () =>
        storeBatch(
          database.dataSource,
          days.map((day) => ({ created_at: new Date(day) })),
        ),
      ),
    );

    await Promise.all(batches.map((batch) => aggregator.aggregate(batch)));

    expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));
    const [{ partitions }] = await database.dataSource.query(
      "SELECT count(*)::int AS partitions FROM pg_inherits WHERE inhparent = 'usage_minute'::regclass AND inhrelid::regclass::text LIKE '%_203103%'",
    );
    expect(partitions).toBe(3);
  });

  it('accepts whatever a client called its model', async () => {
    const models = [
      'x'.repeat(100_000),
      '💸'.repeat(5_000),
      `"'\\; DROP TABLE usage_minute`,
      '\u0001\u2028',
      '',
    ];
    await aggregator.aggregate(
      await storeBatch(
        database.dataSource,
        models.map((model) => ({ model })),
      ),
    );

    const [{ requests }] = await database.dataSource.query(
      'SELECT sum(requests)::int AS requests FROM usage_minute',
    );
    expect(requests).toBe(models.length);
  });

  it('L05: takes keys of the metadata that name prototypes for the words they are', async () => {
    const names = [
      '__proto__',
      '__proto__.polluted',
      'a.__proto__.polluted',
      'constructor.prototype.polluted',
    ];
    await database.dataSource.query(
      `INSERT INTO rollup_metadata_keys (key, counted_since, complete_since) SELECT unnest($1::text[]), 'epoch', 'epoch'`,
      [names],
    );
    const metadata = Object.fromEntries(names.map((name) => [name, 'yes']));

    await aggregator.aggregate(await storeBatch(database.dataSource, [{ metadata }]));

    const rows = await database.dataSource.query(
      `SELECT dimension, sum(requests)::int AS requests FROM usage_slice_minute WHERE value = 'yes' GROUP BY dimension ORDER BY dimension COLLATE "C"`,
    );
    await database.dataSource.query('DELETE FROM rollup_metadata_keys WHERE key = ANY($1)', [names]);
    expect(rows).toEqual(names.map((name) => ({ dimension: `metadata.${name}`, requests: 1 })));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('leaves a batch unmarked whose sums could not be added', async () => {
    const batch = await storeBatch(database.dataSource, mixedRequests(5));
    await database.dataSource.query(
      'ALTER TABLE usage_minute ADD CONSTRAINT broken CHECK (requests < 0) NOT VALID',
    );

    await expect(aggregator.aggregate(batch)).rejects.toThrow('broken');
    expect(await rolledUp(database.dataSource)).toEqual([]);

    await database.dataSource.query('ALTER TABLE usage_minute DROP CONSTRAINT broken');
    expect(await aggregator.aggregate(batch)).toBe('aggregated');
    expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));
  });

  it('counts all batches that are requested at once in one transaction', async () => {
    const batches: string[] = [];
    for (let at = 0; at < 6; at++) batches.push(await storeBatch(database.dataSource, mixedRequests(40)));

    const outcomes = await Promise.all(batches.map((batch) => aggregator.aggregate(batch)));

    expect(outcomes).toEqual(Array<string>(6).fill('aggregated'));
    const [{ transactions }] = await database.dataSource.query(
      'SELECT count(DISTINCT aggregated_at)::int AS transactions FROM log_batches WHERE id = ANY ($1)',
      [batches],
    );
    expect(transactions).toBe(1);
    expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));
  });

  it('lets a batch that cannot be counted keep no other from it', async () => {
    const first = await storeBatch(database.dataSource, mixedRequests(10));
    const bad = await storeBatch(database.dataSource, [{ model: 'bad' }]);
    const last = await storeBatch(database.dataSource, mixedRequests(20));
    await database.dataSource.query(
      "ALTER TABLE usage_minute ADD CONSTRAINT no_bad CHECK (model <> 'bad') NOT VALID",
    );

    const outcomes = await Promise.allSettled([first, bad, last].map((batch) => aggregator.aggregate(batch)));

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await database.dataSource.query('ALTER TABLE usage_minute DROP CONSTRAINT no_bad');
    expect(await aggregator.aggregate(bad)).toBe('aggregated');
    expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));
  });

  it('has slices for a key of the metadata from the moment on that it is counted, and for no request before', async () => {
    const at = (seconds: number) => new Date(Date.parse('2026-11-20T10:00:00Z') + seconds * 1_000);
    await database.dataSource.query(
      `INSERT INTO rollup_metadata_keys (key, counted_since, complete_since) VALUES ('tier', $1, $1)`,
      [at(0)],
    );
    const tiers = [
      [-1, 'gold'],
      [0, 'gold'],
      [1, 'gold'],
      [2, null],
    ] as const;
    const requests = tiers.map(([seconds, tier]) => ({
      created_at: at(seconds),
      metadata: tier === null ? null : { tier },
    }));

    await aggregator.aggregate(await storeBatch(database.dataSource, requests));

    const rows = await database.dataSource.query(
      `SELECT value, sum(requests)::int AS requests FROM usage_slice_minute WHERE dimension = 'metadata.tier' GROUP BY value ORDER BY value`,
    );
    await database.dataSource.query("DELETE FROM rollup_metadata_keys WHERE key = 'tier'");
    expect(rows).toEqual([
      { value: '', requests: 1 },
      { value: 'gold', requests: 2 },
    ]);
  });

  it('knows a batch that is not there', async () => {
    expect(await aggregator.aggregate(randomUUID())).toBe('absent');
  });
});
