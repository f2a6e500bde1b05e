import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDataSource } from '../../../src/schema/data-source.js';
import { migrate } from '../../../src/schema/migrate.js';
import { Shipper } from '../../../src/jobs/shipping/shipper.js';
import { type CompiledSource, compileSource } from '../../support/compiled-source.js';
import { OwnPostgres } from '../../support/own-postgres.js';
import { emptyLedger, type Ledger, SpoolProcesses } from '../../support/spool-processes.js';
import { eventually, sleep } from '../../support/waiting.js';

const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 8);
let source: CompiledSource;
let processes: SpoolProcesses;
let postgres: OwnPostgres;
let spool: string;
let ledger: Ledger;
let organisation: string;

beforeAll(async () => {
  source = compileSource();
  processes = new SpoolProcesses(source);
  postgres = await OwnPostgres.create();
  const dataSource = await createDataSource(postgres.url, 2, 'migrations').initialize();
  await migrate(dataSource);
  await dataSource.destroy();
});
afterAll(async () => {
  processes.killAll();
  await postgres.remove();
  source.remove();
});
beforeEach(() => {
  spool = mkdtempSync(join(tmpdir(), 'gatehouse-spool-'));
  ledger = emptyLedger();
  organisation = randomUUID();
});
afterEach(() => {
  processes.killAll();
  rmSync(spool, { recursive: true, force: true });
});

const aWriter = (paceMs = 4) => processes.writer(spool, ledger, { paceMs, organisation });
const aShipper = () => processes.shipper(spool, postgres.url);
const momentarily = (most: number) => sleep(20 + Math.random() * most);

/** Ships what is left, then compares the tables with what callers were told. */
async function settle() {
  const pool = new pg.Pool({ connectionString: postgres.url, max: 2 });
  pool.on('error', () => undefined);
  const counter = { countTokens: () => 1, costOf: () => 1 };
  const shipper = new Shipper({
    pool,
    spool,
    counter,
    logger: pino({ level: 'silent' }),
    batchQueue: { enqueue: async () => undefined },
  });
  await eventually(async () => !(await shipper.round()) && readdirSync(spool).length === 0, {
    withinMs: 60_000,
    what: 'the spool to be empty',
  });
  const { rows } = await pool.query<{ id: string; ending: string; attempts: number; bodies: number }>(
    `SELECT id, ending,
       (SELECT count(*)::int FROM request_attempts a WHERE a.id = l.id) AS attempts,
       (SELECT count(*)::int FROM request_bodies b WHERE b.request_id = l.id) AS bodies
     FROM request_logs l WHERE organisation_id = $1`,
    [organisation],
  );
  const batches = await pool.query<{ said: number; held: number }>(
    `SELECT (SELECT sum(rows)::int FROM log_batches WHERE id IN (SELECT batch_id FROM request_logs WHERE organisation_id = $1)) AS said,
       (SELECT count(*)::int FROM request_logs WHERE organisation_id = $1) AS held`,
    [organisation],
  );
  await pool.end();
  expect(batches.rows[0]?.said).toBe(batches.rows[0]?.held);
  return compare(rows);
}

function compare(rows: readonly { id: string; ending: string; attempts: number; bodies: number }[]) {
  const endings = new Map(rows.map(({ id, ending }) => [id, ending]));
  return {
    rows: rows.length,
    crashed: rows.filter(({ ending }) => ending === 'gateway_crashed').length,
    duplicated: rows.length - endings.size,
    lost: [...ledger.opened].filter((id) => !endings.has(id)).length,
    forgotten: [...ledger.closed].filter((id) => endings.get(id) !== 'completed').length,
    incomplete: rows.filter(
      ({ ending, attempts, bodies }) => attempts !== 1 || (ending === 'completed' && bodies !== 2),
    ).length,
  };
}

const FLAWLESS = { duplicated: 0, lost: 0, forgotten: 0, incomplete: 0 };

describe('no accepted record is lost or doubled', () => {
  it(`when gateway processes are killed at random moments, ${ROUNDS} times`, async () => {
    const shipper = await aShipper();
    for (let round = 0; round < ROUNDS; round++) {
      const writer = await aWriter();
      const before = ledger.closed.size;
      await eventually(() => ledger.closed.size > before + 1, {
        everyMs: 1,
        what: 'exchanges that have ended',
      });
      await momentarily(250);
      await writer.end('SIGKILL');
    }
    await shipper.end('SIGTERM');

    const found = await settle();

    expect(found).toMatchObject(FLAWLESS);
    expect(ledger.closed.size).toBeGreaterThan(ROUNDS);
    expect(found.crashed).toBeGreaterThan(ROUNDS);
  }, 120_000);

  it(`when the shipper is killed at random moments, ${ROUNDS} times, while two gateways write`, async () => {
    const writers = [await aWriter(), await aWriter()];
    for (let round = 0; round < ROUNDS; round++) {
      const shipper = await aShipper();
      await momentarily(600);
      await shipper.end('SIGKILL');
    }
    for (const writer of writers) await writer.end('SIGTERM');

    const found = await settle();

    expect(found).toMatchObject({ ...FLAWLESS, crashed: 0 });
    expect(found.rows).toBe(ledger.closed.size);
  }, 120_000);

  it('when two shippers work on one spool, and one of them is paused now and then', async () => {
    const writer = await aWriter();
    const shippers = [await aShipper(), await aShipper()];
    for (let round = 0; round < 8; round++) {
      const { pid } = shippers[round % 2] ?? { pid: 0 };
      process.kill(pid, 'SIGSTOP');
      await momentarily(500);
      process.kill(pid, 'SIGCONT');
      await momentarily(100);
    }
    await writer.end('SIGTERM');
    for (const shipper of shippers) await shipper.end('SIGTERM');

    expect(await settle()).toMatchObject({ ...FLAWLESS, crashed: 0 });
  }, 120_000);

  it('when connections are cut and the whole of PostgreSQL is killed while rows are shipped', async () => {
    const writer = await aWriter();
    const shipper = await aShipper();
    for (let round = 0; round < ROUNDS; round++) {
      await momentarily(400);
      if (round % 4 === 3) {
        await postgres.kill();
        await momentarily(200);
        await postgres.start();
      } else await cutConnections();
    }
    await writer.end('SIGTERM');
    await shipper.end('SIGTERM');

    expect(await settle()).toMatchObject({ ...FLAWLESS, crashed: 0 });
  }, 180_000);

  it('when everything is killed at once', async () => {
    for (let round = 0; round < 5; round++) {
      const running = [await aWriter(), await aWriter(), await aShipper()];
      await momentarily(800);
      await Promise.all([...running.map((one) => one.end('SIGKILL')), postgres.kill()]);
      await postgres.start();
    }

    expect(await settle()).toMatchObject(FLAWLESS);
  }, 180_000);
});

async function cutConnections(): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
  await client.end();
}
