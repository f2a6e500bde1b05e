import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bucketOf } from '../../../src/request-log/rollups/histogram.js';
import { derive, deriveRipe } from '../../../src/request-log/rollups/derive.js';
import { type DirtyBucket, dueBuckets } from '../../../src/request-log/rollups/dirty-buckets.js';
import { CUBE_COLUMNS, NIL_ID } from '../../../src/request-log/rollups/dimensions.js';
import { dropMinutes } from '../../../src/request-log/rollups/drop-old.js';
import { MEASURE_NAMES } from '../../../src/request-log/rollups/measures.js';
import { rebuildRollups } from '../../../src/request-log/rollups/rebuild.js';
import { PostgresBatchAggregator } from '../../../src/request-log/analytics/postgres/postgres-batch-aggregator.js';
import { cutDay } from '../../../src/jobs/retention/rewrite-day.js';
import { dayNamed } from '../../../src/jobs/retention/log-days.js';
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
beforeEach(async () => {
  await database.dataSource.query(`TRUNCATE ${ROLLUP_TABLES}`);
  await database.dataSource.query("UPDATE rollup_seals SET before = '-infinity'");
});

const DAY_MS = 86_400_000;
/** Three days ago, at midnight: over, and its partitions are made when they are needed. */
const START = Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS;

function spread(count: number, { from = START, overMs = 2 * DAY_MS, step = 1 } = {}): StoredRequest[] {
  return Array.from({ length: count }, (_, at) => ({
    created_at: new Date(from + ((at * 7_919 * step) % (overMs / 1_000)) * 1_000),
    model: `model-${at % 3}`,
    virtual_key: at % 5 === 0 ? null : `vk-${at % 2}`,
    status: [200, 200, 429, 500][at % 4] as number,
    cost_nano_usd: at % 4 === 0 ? null : at * 1_000_003,
    duration_ms: (at * 13) % 5_000,
    first_token_ms: at % 2 === 0 ? null : at % 900,
    metadata: { _user: `user-${at % 11}`, _environment: at % 2 ? 'test' : 'live' },
  }));
}

const add = async (requests: StoredRequest[]) =>
  aggregator.aggregate(await storeBatch(database.dataSource, requests));

const deriveAll = (): Promise<void> => deriveRipe(database.dataSource, 0);

const MEASURED = MEASURE_NAMES.join(', ');

/** Whole tables, bit for bit. */
async function contents(): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const grain of ['minute', 'hour', 'day']) {
    tables[`usage_${grain}`] = await database.dataSource.query(
      `SELECT bucket, key, ${CUBE_COLUMNS.join(', ')}, ${MEASURED}, durations FROM usage_${grain} ORDER BY 1, 2`,
    );
    tables[`usage_slice_${grain}`] = await database.dataSource.query(
      `SELECT bucket, dimension, value, ${MEASURED}, users, durations FROM usage_slice_${grain} ORDER BY 1, 2, 3`,
    );
  }
  return tables;
}

/** How many rows have nothing ready, and how many of the others say something else than the rows that they are made of. */
async function ready(grain: 'hour' | 'day'): Promise<Record<string, number>> {
  const [row] = await database.dataSource.query(
    `SELECT
       (SELECT count(*) FROM usage_${grain} WHERE durations IS NULL)::int AS without_durations,
       (SELECT count(*) FROM usage_slice_${grain} WHERE durations IS NULL)::int AS slices_without_durations,
       (SELECT count(*) FROM usage_slice_${grain} WHERE dimension = 'all' AND users IS NULL)::int AS without_users,
       (SELECT count(*) FROM usage_${grain} WHERE length(durations) <> 6 * (SELECT count(*) FROM jsonb_object_keys(duration_histogram)))::int
         + (SELECT count(*) FROM usage_slice_${grain}
           WHERE length(durations) <> 3 * (SELECT count(*) FROM jsonb_object_keys(duration_histogram)))::int
         + (SELECT count(*) FROM usage_slice_${grain} AS whole WHERE dimension = 'all' AND length(users) <> 8 * (
           SELECT count(*) FROM usage_slice_${grain} AS named
           WHERE named.bucket = whole.bucket AND named.workspace_id = whole.workspace_id AND named.dimension = 'end_user' AND named.value <> ''
         ))::int AS wrong`,
  );
  return row;
}

async function totals(table: string): Promise<unknown> {
  const [row] = await database.dataSource.query(
    `SELECT sum(requests)::int AS requests, sum(cost_nano_usd)::text AS cost, merged_counts(array_agg(duration_histogram)) AS times
     FROM ${table} ${table.includes('slice') ? "WHERE dimension = 'all'" : ''}`,
  );
  return row;
}

describe('the bucket of a histogram', () => {
  it('is the same in SQL as in code, next to powers of two as well', async () => {
    const edges = Array.from({ length: 52 }, (_, exponent) => 2 ** exponent).flatMap((power) => [
      power - 1,
      power,
      power + 1,
    ]);
    const any = fc.sample(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), 2_000);
    const values = [...edges, ...any, -5];

    const rows: { bucket: number }[] = await database.dataSource.query(
      'SELECT histogram_bucket(value) AS bucket FROM unnest($1::bigint[]) WITH ORDINALITY AS given (value, at) ORDER BY at',
      [values],
    );

    expect(rows.map(({ bucket }) => bucket)).toEqual(values.map(bucketOf));
  });
});

describe('hours and days', () => {
  it('are their minutes, in every table alike', async () => {
    await add(spread(300));
    await add(spread(300, { step: 3 }));
    const minutes = await totals('usage_minute');
    await deriveAll();

    expect(minutes).toMatchObject({ requests: 600 });
    for (const table of [
      'usage_slice_minute',
      'usage_hour',
      'usage_slice_hour',
      'usage_day',
      'usage_slice_day',
    ])
      expect(await totals(table), table).toEqual(minutes);
    expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));
  });

  it('take up what comes late', async () => {
    await add(spread(200));
    await deriveAll();
    await add(spread(100, { step: 5 }));
    expect(await totals('usage_day')).toMatchObject({ requests: 200 });
    await deriveAll();

    expect(await totals('usage_hour')).toEqual(await totals('usage_minute'));
    expect(await totals('usage_day')).toEqual(await totals('usage_minute'));
  });

  it('are exact with several workers that add and derive the same hours at once', async () => {
    const batches = await Promise.all(
      Array.from({ length: 24 }, (_, at) =>
        storeBatch(database.dataSource, spread(40, { overMs: 3 * 3_600_000, step: at + 1 })),
      ),
    );
    const deriving = async () => {
      for (let round = 0; round < 12; round++)
        for (const mark of await dueBuckets(database.dataSource, 0, 10))
          await derive(database.dataSource, mark);
    };
    await Promise.all([
      ...batches.map((batch) => aggregator.aggregate(batch)),
      ...batches.map((batch) => aggregator.aggregate(batch)),
      deriving(),
      deriving(),
    ]);
    await deriveAll();

    expect(await totals('usage_minute')).toMatchObject({ requests: 960 });
    for (const table of ['usage_hour', 'usage_day', 'usage_slice_day'])
      expect(await totals(table), table).toEqual(await totals('usage_minute'));
  });

  it('of one workspace are derived without those of another, and one that came late marks its own alone', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const requestsOf = (workspace_id: string | null, count: number) =>
      spread(count, { overMs: 3_600_000 }).map((request) => ({ ...request, workspace_id }));
    await add([...requestsOf(one, 60), ...requestsOf(other, 40), ...requestsOf(null, 20)]);
    const marks = await dueBuckets(database.dataSource, 0, 10);
    expect(marks.map(({ workspaceId }) => workspaceId)).toEqual([NIL_ID, one, other].sort());

    await derive(database.dataSource, marks.find(({ workspaceId }) => workspaceId === one) as DirtyBucket);
    expect(await totals('usage_hour')).toMatchObject({ requests: 60 });
    await deriveAll();
    await add(requestsOf(other, 10));

    expect(await dueBuckets(database.dataSource, 0, 10)).toMatchObject([
      { workspaceId: other, grain: 'hour' },
    ]);
    await deriveAll();
    for (const table of ['usage_hour', 'usage_day', 'usage_slice_day'])
      expect(await totals(table), table).toEqual(await totals('usage_minute'));
  });

  it('that cannot be derived keep only their own from it, and are derived when they can be', async () => {
    const broken = randomUUID();
    const hour = spread(30, { overMs: 3_600_000 });
    await add([...hour, ...hour.map((request) => ({ ...request, workspace_id: broken }))]);
    await database.dataSource.query(`
      CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.workspace_id = '${broken}' THEN RAISE 'not this one'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuse_one BEFORE INSERT ON usage_hour FOR EACH ROW EXECUTE FUNCTION refuse_one()`);
    try {
      await expect(deriveAll()).rejects.toThrow('not this one');
      expect(await totals('usage_day')).toMatchObject({ requests: 30 });
    } finally {
      await database.dataSource.query('DROP TRIGGER refuse_one ON usage_hour; DROP FUNCTION refuse_one');
    }
    await deriveAll();

    expect(await totals('usage_day')).toMatchObject({ requests: 60 });
  });

  it('that cannot be derived are passed over by later rounds, however many they are', async () => {
    const broken = randomUUID();
    await add(spread(30, { overMs: 3_600_000 }));
    await database.dataSource.query(
      `INSERT INTO rollup_marks (grain, bucket, organisation_id, workspace_id)
       SELECT 'hour', timestamptz '2020-01-01' + hour * interval '1 hour', '${broken}', '${broken}' FROM generate_series(1, 400) AS hour`,
    );
    await database.dataSource.query(`UPDATE rollup_marks SET touched_at = now() - interval '1 hour'`);
    await database.dataSource.query(`
      CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF OLD.workspace_id = '${broken}' THEN RAISE 'not this one'; END IF; RETURN OLD; END $$;
      CREATE TRIGGER refuse_one BEFORE DELETE ON rollup_marks FOR EACH ROW EXECUTE FUNCTION refuse_one()`);
    try {
      for (let round = 1; round <= 3; round++)
        await deriveRipe(database.dataSource, 60).catch((error: unknown) =>
          expect(String(error)).toContain('not this one'),
        );
      expect(await totals('usage_hour')).toMatchObject({ requests: 30 });
      expect(await database.dataSource.query('SELECT count(*)::int AS marks FROM rollup_marks')).toEqual([
        // Those that failed, and the day of the hour that did not.
        { marks: 401 },
      ]);
    } finally {
      await database.dataSource.query('DROP TRIGGER refuse_one ON rollup_marks; DROP FUNCTION refuse_one');
    }
  });

  it('leave an hour that is not over to its minutes', async () => {
    // Not even at the last moment of an hour is the one of the next minute over.
    await add([{ created_at: new Date(Date.now() + 60_000) }]);
    expect(await dueBuckets(database.dataSource, 0, 10)).toEqual([]);
  });
});

describe('a rebuild from the request rows', () => {
  it('gives the same to the bit, whatever had happened to the rollups', async () => {
    await add(spread(400));
    await add(spread(200, { step: 3 }));
    await deriveAll();
    const before = await contents();
    await database.dataSource.query(`
      DELETE FROM usage_minute WHERE model = 'model-1'; UPDATE usage_hour SET requests = requests + 7;
      TRUNCATE usage_slice_day; UPDATE usage_slice_minute SET cost_nano_usd = 0`);
    const progress: number[] = [];

    const { hours } = await rebuildRollups(database.dataSource, {
      onProgress: (done) => progress.push(done),
    });

    expect(await contents()).toEqual(before);
    expect(hours).toBeGreaterThan(20);
    expect(progress).toEqual(Array.from({ length: hours }, (_, at) => at + 1));
  });

  it('empties the hours of a workspace whose requests are gone', async () => {
    const lost = randomUUID();
    await add([...spread(50), ...spread(50).map((request) => ({ ...request, workspace_id: lost }))]);
    await deriveAll();
    await database.dataSource.query('DELETE FROM request_logs WHERE workspace_id = $1', [lost]);

    await rebuildRollups(database.dataSource);

    for (const table of ['usage_minute', 'usage_hour', 'usage_slice_hour', 'usage_day', 'usage_slice_day'])
      expect(await totals(table), table).toMatchObject({ requests: 50 });
  });

  it('counts nothing twice that waits for its turn or is added meanwhile', async () => {
    await add(spread(200));
    const waiting = await storeBatch(database.dataSource, spread(100, { step: 3 }));
    await Promise.all([rebuildRollups(database.dataSource), aggregator.aggregate(waiting)]);
    await deriveAll();

    expect(await totals('usage_minute')).toMatchObject({ requests: 300 });
    expect(await totals('usage_day')).toEqual(await totals('usage_minute'));
    expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));
  });
});

describe('retention', () => {
  const cut = new Date(START + DAY_MS);
  const partitions = async (parent: string): Promise<string[]> => {
    const rows: { name: string }[] = await database.dataSource.query(
      'SELECT relname AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = $1::regclass ORDER BY 1',
      [parent],
    );
    return rows.map(({ name }) => name);
  };

  it('waits for the hours, then drops whole days of minutes; hours and days keep what they say', async () => {
    await add(spread(300));
    expect(await dropMinutes(database.dataSource, cut)).toEqual([]);
    await deriveAll();
    const days = await totals('usage_day');

    const gone = await dropMinutes(database.dataSource, cut);

    expect(gone.length).toBeGreaterThanOrEqual(2);
    const [{ left }] = await database.dataSource.query(
      'SELECT count(*)::int AS left FROM usage_minute WHERE bucket < $1',
      [cut],
    );
    expect(left).toBe(0);
    expect(await totals('usage_day')).toEqual(days);
  });

  it('adds what comes later than its minutes to the hours, and the days take it up', async () => {
    await add(spread(300));
    await deriveAll();
    await dropMinutes(database.dataSource, cut);
    await add(spread(100, { step: 3 }));
    await deriveAll();

    expect(await totals('usage_hour')).toMatchObject({ requests: 400 });
    expect(await totals('usage_slice_day')).toEqual(await totals('usage_hour'));
    expect(await totals('usage_day')).toEqual(await totals('usage_hour'));
  });

  it('and no reader gets the pre-aggregates of an hour from before it grew', async () => {
    await add(spread(300));
    await deriveAll();
    const made = await ready('hour');
    expect(made).toEqual({ without_durations: 0, slices_without_durations: 0, without_users: 0, wrong: 0 });
    await dropMinutes(database.dataSource, cut);
    await add([{ ...spread(1)[0], created_at: new Date(START), metadata: { _user: 'somebody else' } }]);
    await deriveAll();

    const left = await ready('hour');
    expect(left.without_users).toBe(1);
    expect(left.without_durations).toBeLessThanOrEqual(1);
    expect(left.slices_without_durations).toBeGreaterThan(0);
    expect(left.wrong).toBe(0);
    expect(await ready('day')).toEqual(made);
  });

  it('drops days of request rows when their batches are counted, and never touches the default partition', async () => {
    const old = new Date(Date.now() - 2 * DAY_MS);
    const day = old.toISOString().slice(0, 10);
    const name = `request_logs_${day.replaceAll('-', '')}`;
    const next = new Date(Date.parse(day) + DAY_MS).toISOString();
    await database.dataSource.query(
      `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF request_logs FOR VALUES FROM ('${day}T00:00:00Z') TO ('${next}')`,
    );
    const batch = await storeBatch(database.dataSource, [{ created_at: old }]);
    const before = new Date(next);
    const cut = () =>
      cutDay(database.dataSource, {
        part: 'logs',
        day: dayNamed(name.slice(-8)),
        usual: { logs: 1, bodies: 0, minutes: 0 },
        now: Date.now(),
        isStopping: () => false,
      });
    await database.dataSource.query(`DROP TABLE IF EXISTS ${name.replace('logs', 'bodies')}`);
    expect(await cut()).toBeNull();
    await aggregator.aggregate(batch);

    expect((await cut())?.partitions).toContain(name);
    expect(await partitions('request_logs')).toContain('request_logs_default');
    await deriveAll();
    expect((await rebuildRollups(database.dataSource)).keptBefore).toEqual(before);
    expect(await totals('usage_day')).toMatchObject({ requests: 1 });
  });
});
