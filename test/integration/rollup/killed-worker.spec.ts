import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CompiledSource, compileSource } from '../../support/compiled-source.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { OwnRedis } from '../../support/own-redis.js';
import { ROLLUP_TABLES, rolledUp, summedUp, waitingBatches } from '../../support/rollup.js';
import { storeBatch } from '../../support/stored-batches.js';
import { eventually, sleep } from '../../support/waiting.js';

/** Aggregates every waiting batch, and kills itself before or after the given statement. */
const KILLED_AT_STATEMENT = `
  import pg from 'pg';
  import { createDataSource } from './schema/data-source.js';
  import { PostgresBatchAggregator } from './request-log/analytics/postgres/postgres-batch-aggregator.js';

  const [url, statement, moment] = process.argv.slice(2);
  const dataSource = await createDataSource(url, 1, 'background').initialize();
  const waiting = await dataSource.query('SELECT id FROM log_batches WHERE aggregated_at IS NULL ORDER BY id');
  const { query } = pg.Client.prototype;
  const die = () => process.kill(process.pid, 'SIGKILL');
  let left = Number(statement);
  pg.Client.prototype.query = function (...given) {
    left -= 1;
    if (left === 0 && moment === 'before') die();
    const answer = query.apply(this, given);
    if (left === 0 && moment === 'sent') die();
    if (left === 0 && moment === 'after') return Promise.resolve(answer).then(die);
    return answer;
  };
  const aggregator = new PostgresBatchAggregator(dataSource);
  for (const { id } of waiting) await aggregator.aggregate(id);
  console.log('done');
  process.exit(0);
`;

/** A background process with the real queue, but for the shipper. */
const WORKER = `
  import 'reflect-metadata';
  import { Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  import { DataSource } from 'typeorm';
  import { createDataSource } from './schema/data-source.js';
  import { Secret } from './common/settings/secret.js';
  import { SettingsModule } from './common/settings/settings.module.js';
  import { loadSettings } from './common/settings/settings.js';
  import { JobsModule } from './jobs/jobs.module.js';
  import { BullBatchQueue } from './jobs/shipping/bull-batch-queue.js';

  const [url, redis] = process.argv.slice(2);
  const dataSource = await createDataSource(url, 4, 'background').initialize();
  class Root {}
  const database = { provide: DataSource, useValue: dataSource };
  const settings = { ...loadSettings({}), ...(redis ? { redisUrl: new Secret(redis) } : { databaseUrl: new Secret(url) }) };
  Module({})(Root);
  const app = await NestFactory.createApplicationContext({
    module: Root, global: true, providers: [database], exports: [database],
    imports: [SettingsModule.forRoot(settings), JobsModule],
  }, { logger: false });
  process.on('message', (id) => void app.get(BullBatchQueue).enqueue(id));
  process.send('ready');
`;

const KILLS = 20;
const MOMENTS = ['before', 'sent', 'after'];
const STATEMENTS_OF_A_BATCH = 12;
const VICTIM = 'gatehouse-victim';

let source: CompiledSource;
let database: TestDatabase;
const redis = await OwnRedis.start();

beforeAll(async () => {
  source = compileSource();
  database = await freshDatabase();
});
afterAll(async () => {
  await redis?.kill();
  await database.drop();
  source.remove();
});
beforeEach(() => database.dataSource.query(`TRUNCATE ${ROLLUP_TABLES}`));

const requests = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    model: `model-${at % 3}`,
    input_tokens: at,
    duration_ms: at * 7,
  }));

describe('the rollup, when its process is killed', () => {
  it('is exact whichever statement SIGKILL strikes, and whether before, during or after it', async () => {
    const program = source.program('killed-at-statement.js', KILLED_AT_STATEMENT);
    let killed = 0;
    for (let statement = 1; ; statement++) {
      await storeBatch(database.dataSource, requests(20));
      const signal = await runAndDie(program, statement);
      if (signal === 'SIGKILL') killed += 1;
      expect(await rolledUp(database.dataSource), `killed at statement ${statement}`).toEqual(
        await summedUp(database.dataSource, 'aggregated'),
      );
      if (signal === null) break;
    }
    expect(killed).toBeGreaterThanOrEqual(KILLS);
    expect(await waitingBatches(database.dataSource)).toBe(0);
    expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));
  }, 240_000);

  it.each([['PostgreSQL', []], ...(redis ? [['Redis', [redis.url]] as const] : [])] as const)(
    'loses and doubles nothing while workers of the queue on %s are killed at any time',
    async (_, more) => {
      const program = source.program('worker.js', WORKER);
      const ids: string[] = [];
      for (let kill = 0; kill < 4; kill++) {
        const worker = await startWorker(program, more);
        for (let batch = 0; batch < 10; batch++) {
          const id = await storeBatch(database.dataSource, requests(40));
          ids.push(id);
          worker.send(id);
        }
        await sleep(Math.random() * 60);
        worker.kill('SIGKILL');
        await once(worker, 'exit');
      }
      const last = await startWorker(program, more);
      for (const id of ids) last.send(id);

      await eventually(async () => (await waitingBatches(database.dataSource)) === 0, {
        withinMs: 60_000,
        what: 'all batches',
      });
      last.kill('SIGKILL');
      await once(last, 'exit');
      expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));
    },
    120_000,
  );
});

async function startWorker(program: string, more: readonly string[]): Promise<ChildProcess> {
  const worker = spawn(process.execPath, [program, database.url, ...more], {
    env: { ...process.env, GATEHOUSE_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(worker, 'message');
  return worker;
}

/** Answers the signal that ended the program; null when it came to its end. */
async function runAndDie(program: string, statement: number): Promise<string | null> {
  // The shift keeps a moment from meeting the same statements of each batch again and again.
  const moment = MOMENTS[
    (statement + Math.floor(statement / STATEMENTS_OF_A_BATCH)) % MOMENTS.length
  ] as string;
  const url = `${database.url}?application_name=${VICTIM}`;
  const child = spawn(process.execPath, [program, url, String(statement), moment], {
    env: { ...process.env, GATEHOUSE_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect(signal === 'SIGKILL' || code === 0).toBe(true);
  await victimIsGone();
  return signal;
}

/** What a dead client had sent, the server still does. It is over when the server has closed the connection. */
function victimIsGone(): Promise<boolean> {
  return eventually(
    async () => {
      const rows = await database.dataSource.query(
        'SELECT 1 FROM pg_stat_activity WHERE application_name = $1',
        [VICTIM],
      );
      return rows.length === 0;
    },
    { everyMs: 10, what: 'the end of the killed process at the server' },
  );
}
