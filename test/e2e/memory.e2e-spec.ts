import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { portRange } from '../support/ports.js';
import { residentBytes } from '../support/process-tree.js';
import { type OwnService, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { eventually, sleep } from '../support/waiting.js';
import { World } from '../support/world.js';

const MIB = 1024 * 1024;
const BIG_MIB = 512;
const PIECE = Buffer.alloc(64 * 1024, 'gatehouse ');
/** Of one piece. */
const SMALL_MIB = 1 / 16;
const MAY_GROW = 16 * MIB;
const MAY_GROW_STALLED = 64 * MIB;

const started = new Started();
let service: OwnService;
let world: World;

beforeAll(async () => {
  service = await startService({
    env: { GATEHOUSE_PROCESSES: '1', GATEHOUSE_IDLE_TIMEOUT_MS: '60000' },
    egressPorts: await portRange(4),
  });
  started.add(service, (it) => it.dispose());
  world = started.add(await World.create('memory', service), (it) => it.close());
  world.upstream.on('/base/v9/big', ({ target }) => ({
    headers: [['content-type', 'application/octet-stream']],
    body: async (response) => {
      const pieces = (Number(new URL(target, 'http://x').searchParams.get('mib')) * MIB) / PIECE.length;
      for (let i = 0; i < pieces && !response.destroyed; i++)
        if (!response.write(PIECE)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    },
  }));
});
afterAll(() => started.end());

const once = (emitter: NodeJS.EventEmitter, event: string): Promise<void> =>
  new Promise((resolve) => void emitter.once(event, () => resolve()));

async function* pieces(mib: number): AsyncGenerator<Buffer> {
  for (let i = 0; i < (mib * MIB) / PIECE.length; i++) yield PIECE;
}

async function down(mib: number): Promise<number> {
  const answer = await world.open({ path: `/v1/big?mib=${mib}` });
  let bytes = 0;
  for await (const part of answer.stream) bytes += (part as Buffer).length;
  return bytes;
}

async function up(mib: number): Promise<number> {
  const answer = await world.send({
    method: 'POST',
    path: '/v1/upload',
    headers: { ...world.headers, 'content-type': 'application/octet-stream' },
    body: pieces(mib),
  });
  return (JSON.parse(answer.body.toString()) as { bytes: number }).bytes;
}

/** The most that the gateway process has in memory while `work` runs, bytes. */
async function highest(work: () => Promise<void>): Promise<number> {
  const [pid = 0] = service.pids.gateways;
  let bytes = residentBytes(pid);
  const watch = setInterval(() => (bytes = Math.max(bytes, residentBytes(pid))), 20);
  await work();
  clearInterval(watch);
  expect(service.pids.gateways, 'the process lives on').toContain(pid);
  return bytes;
}

/**
 * What small bodies took at most. Where the process stands between two of them says little: what is dead is collected now
 * or later, and given back to the system or not.
 */
let usual = 0;

/** How far the process rises above that while `work` runs. */
const growth = async (work: () => Promise<void>): Promise<number> =>
  Math.max(0, (await highest(work)) - usual);

describe('memory of a gateway process', () => {
  it('is warm', async () => {
    const transfers = async (): Promise<void> => {
      for (let i = 0; i < 50; i++) {
        expect(await down(SMALL_MIB)).toBe(PIECE.length);
        expect(await up(SMALL_MIB)).toBe(PIECE.length);
      }
    };
    await transfers();
    usual = await highest(transfers);
  });

  it(`stays flat while ${BIG_MIB} MiB come down`, async () => {
    const grown = await growth(async () => expect(await down(BIG_MIB)).toBe(BIG_MIB * MIB));
    console.log(`${BIG_MIB} MiB down: +${(grown / MIB).toFixed(1)} MiB`);
    expect(grown).toBeLessThanOrEqual(MAY_GROW);
  });

  it(`stays flat while ${BIG_MIB} MiB go up`, async () => {
    const grown = await growth(async () => expect(await up(BIG_MIB)).toBe(BIG_MIB * MIB));
    console.log(`${BIG_MIB} MiB up: +${(grown / MIB).toFixed(1)} MiB`);
    expect(grown).toBeLessThanOrEqual(MAY_GROW);
  });

  it('J01: five readers that stop reading stop their providers, and cost little', async () => {
    const grown = await growth(async () => {
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => world.open({ path: `/v1/big?mib=${BIG_MIB}` })),
      );
      await sleep(2_500);
      for (const { request } of answers) request.destroy();
      const calls = () => world.upstream.callsTo('/base/v9/big').slice(-5);
      await eventually(() => calls().every(({ cancelledAt }) => cancelledAt !== null), {
        what: 'five cancelled calls',
      });
      for (const { requestId } of answers)
        expect(await world.logs.row(requestId)).toMatchObject({ ending: 'client_aborted' });
    });
    console.log(`five stalled readers: +${(grown / MIB).toFixed(1)} MiB`);
    expect(grown).toBeLessThanOrEqual(MAY_GROW_STALLED);
  });

  it('logs each of these requests once, with its size and without its whole body', async () => {
    await world.checkLog();
    const sizes = (await world.rows())
      .filter(({ ending }) => ending === 'completed')
      .map((row) => Math.max(row.request_bytes, row.response_bytes));
    expect(sizes.filter((size) => size === BIG_MIB * MIB)).toHaveLength(2);
  });
});
