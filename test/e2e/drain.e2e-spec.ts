import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Balancer, HEALTH_CHECK_MS } from '../support/balancer.js';
import { HttpClient } from '../support/http-client.js';
import { freePort, portRange } from '../support/ports.js';
import { type OwnService, startService } from '../support/service.js';
import { type SharedStore, sharedStore } from '../support/shared-store.js';
import { Started } from '../support/started.js';
import { eventually, sleep } from '../support/waiting.js';
import { World } from '../support/world.js';

/** P8: restarts, one instance at a time, that nobody notices. */
const RESTARTS = 4;
const CLIENTS = 12;
const STREAMS = 10;
const EVENTS = 24;
/** Ten looks of the balancer: on a busy machine some of them come late. */
const DRAIN_DELAY_MS = 10 * HEALTH_CHECK_MS;

const started = new Started();
let store: SharedStore;
let ports: readonly number[];
let egressPorts: readonly number[];
const folders: string[] = [];
const instances: OwnService[] = [];
let balancer: Balancer;
let world: World;

const start = (index: number): Promise<OwnService> =>
  startService({
    dataDir: folders[index],
    bootstrapDir: store.bootstrapDir ?? folders[0],
    egressPorts,
    env: {
      ...store.env,
      DATABASE_URL: store.databaseUrl,
      GATEHOUSE_PORT: String(ports[index]),
      GATEHOUSE_PROCESSES: '1',
      GATEHOUSE_DRAIN_DELAY_MS: String(DRAIN_DELAY_MS),
      GATEHOUSE_DRAIN_TIMEOUT_MS: '20000',
    },
  });

beforeAll(async () => {
  store = started.add(await sharedStore(), (it) => it.stop());
  ports = [await freePort(), await freePort()];
  egressPorts = await portRange(4);
  folders.push(...[0, 1].map(() => mkdtempSync(join(tmpdir(), 'gatehouse-drain-'))));
  started.add(folders, (all) => all.forEach((folder) => rmSync(folder, { recursive: true, force: true })));
  started.add(instances, (all) => Promise.all(all.map((instance) => instance.dispose())));
  for (const index of [0, 1]) instances[index] = await start(index);
  balancer = started.add(await Balancer.start(ports), (it) => it.stop());
  await eventually(() => balancer.readyBackends === 2, {
    what: 'both instances behind the balancer',
  });
  world = started.add(await World.create('drain', instances[0]), (it) => it.close());
});
afterAll(() => started.end());

describe('P8: a rolling restart', () => {
  it(
    `${RESTARTS} times in a row fails no request and cuts no stream, and every instance ends by itself`,
    { timeout: 240_000 },
    async () => {
      const client = new HttpClient(balancer.url);
      world.upstream.on('/base/v9/streamed', {
        headers: [['content-type', 'text/event-stream']],
        body: async (response) => {
          for (let i = 0; i < EVENTS; i++) {
            response.write(`data: ${i}\n\n`);
            await sleep(80);
          }
          response.write('data: [DONE]\n\n');
        },
      });
      world.upstream.on('/base/v9/short', {
        delayMs: 20,
        headers: [['content-type', 'application/json']],
        body: '{"ok":true}',
      });

      const failures: string[] = [];
      const counts = { requests: 0, streams: 0 };
      let isOver = false;
      const clients = Array.from({ length: CLIENTS }, async () => {
        while (!isOver) {
          counts.requests++;
          const answer = await client
            .call({ method: 'POST', path: '/v1/short', headers: world.headers, body: { n: counts.requests } })
            .catch((error: unknown) => ({ status: 0, body: String(error) }));
          if (answer.status !== 200)
            failures.push(`request: ${answer.status} ${answer.body.toString().slice(0, 200)}`);
          await sleep(10);
        }
      });
      const streams = Array.from({ length: STREAMS }, async () => {
        while (!isOver) {
          counts.streams++;
          const text = await client
            .call({ path: '/v1/streamed', headers: world.headers })
            .then((answer) => answer.body.toString())
            .catch((error: unknown) => String(error));
          if (text.split('\n\n').length !== EVENTS + 2) failures.push(`stream: ${text.slice(-100)}`);
        }
      });

      const exits: unknown[] = [];
      const served: number[] = [];
      for (let i = 0; i < RESTARTS; i++) {
        const index = i % 2;
        const before = counts.requests;
        await sleep(500);
        exits.push(await (instances[index] as OwnService).stop());
        instances[index] = await start(index);
        await eventually(() => balancer.readyBackends === 2, { what: 'the instance to be back' });
        served.push(counts.requests - before);
      }
      isOver = true;
      await Promise.all([...clients, ...streams]);
      client.close();
      console.log(`${counts.requests} requests and ${counts.streams} streams through ${RESTARTS} restarts`);
      expect(failures).toEqual([]);
      expect(exits).toEqual(Array.from({ length: RESTARTS }, () => ({ code: 0, signal: null })));
      expect(Math.min(...served), 'requests during each restart').toBeGreaterThan(2 * CLIENTS);
    },
  );

  it('every request of it has its row, those of instances that are gone included', async () => {
    const expected = world.upstream.ledger.length;
    await eventually(async () => (await world.rows()).length >= expected, {
      everyMs: 500,
      what: `${expected} rows`,
    });
    const rows = await world.rows();
    expect(rows.length).toBe(expected);
    expect(new Set(rows.map(({ ending }) => ending))).toEqual(new Set(['completed']));
  });

  it('an open live view of the logs does not delay the end of an instance', async () => {
    const [instance] = instances as [OwnService];
    const headers = { 'x-gateway-api-key': instance.bootstrap.admin_api_key };
    const live = await instance.client.open({ path: '/v1/logs/stream', headers });
    expect(live.status).toBe(200);
    const ended = new Promise((resolve) => live.stream.resume().once('close', resolve));
    const from = Date.now();
    expect(await instance.stop()).toEqual({ code: 0, signal: null });
    expect(Date.now() - from).toBeLessThan(DRAIN_DELAY_MS + 5_000);
    await ended;
  });
});
