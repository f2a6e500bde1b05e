import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Administration, type CreatedKey } from '../support/administration.js';
import { type Answer, jsonOf } from '../support/http-client.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { freePort, portRange } from '../support/ports.js';
import { expectRefusal } from '../support/refusals.js';
import { type OwnService, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { type ProxyMode, TcpProxy } from '../support/tcp-proxy.js';
import { eventually, inParallel } from '../support/waiting.js';
import { World } from '../support/world.js';

/** O17, P1: how soon a gateway is ready that is started while its database is away. */
const READY_WITHIN_MS = 10_000;
/** So many that each of the two processes gets some. */
const WARM = 24;
const PATIENCE_MS = 20_000;

const started = new Started();
let folder: string;
let env: Record<string, string>;
let egressPorts: readonly number[];
let proxy: TcpProxy;
let service: OwnService;
let world: World;
let usualStartMs: number;
let second: CreatedKey;
let spent: CreatedKey;
let config: string;

async function start(): Promise<number> {
  const began = Date.now();
  service = await startService({ dataDir: folder, egressPorts, env });
  return Date.now() - began;
}

/** Ends every process of the instance at once, as a lost machine would. */
async function killAll(): Promise<void> {
  const { supervisor, gateways, administration, worker } = service.pids;
  for (const pid of [supervisor, ...gateways, administration, worker])
    if (pid !== null) process.kill(pid, 'SIGKILL');
  await service.ended;
}

beforeAll(async () => {
  const postgres = started.add(await OwnPostgres.create(), (it) => it.remove());
  const through = new URL(postgres.url);
  proxy = started.add(await TcpProxy.start({ host: through.hostname, port: Number(through.port) }), (it) =>
    it.stop(),
  );
  through.hostname = '127.0.0.1';
  through.port = String(proxy.port);
  folder = started.add(mkdtempSync(join(tmpdir(), 'gatehouse-data-')), (path) =>
    rmSync(path, { recursive: true, force: true }),
  );
  egressPorts = await portRange(4);
  env = {
    DATABASE_URL: through.href,
    GATEHOUSE_PORT: String(await freePort()),
    GATEHOUSE_PROCESSES: '2',
    GATEHOUSE_DRAIN_DELAY_MS: '0',
  };
  await start();
  started.add(null, () => service.dispose());
  // The second start is the measure of the machine: the first one made the database.
  await killAll();
  usualStartMs = await start();
  await eventually(
    async () => (await new Administration(service).call('GET', '/v1/api-keys')).status === 200,
    { withinMs: 90_000, what: 'the administration' },
  );
  world = started.add(await World.create('cold-start', service), (it) => it.close());
  const { workspace_id } = service.bootstrap;
  const { slug } = await world.administration.ask('POST', '/v1/guardrails', {
    name: 'No names',
    workspace_id,
    checks: [{ id: 'default.contains', parameters: { operator: 'none', words: ['Apollo'] } }],
    actions: { deny: true },
  });
  const saved = await world.administration.ask('POST', '/v1/configs', {
    name: 'Guarded',
    workspace_id,
    config: { virtual_key: world.virtualKey, input_guardrails: [slug] },
  });
  config = saved.data?.slug ?? saved.slug;
  second = await world.administration.createKey('second');
  spent = await world.administration.createKey('spent', ['completions.write'], {
    usage_limits: { credit_limit: 5 },
  });
});
afterAll(() => started.end());

/** On a connection of its own: connections are dealt to the processes in turn, and all of them are meant. */
const chat = (key: string, content: string, headers: Record<string, string>): Promise<Answer> =>
  service.client.call({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { ...headers, 'x-gateway-api-key': key },
    body: { model: 'gpt-4o-mini', max_tokens: 5, messages: [{ role: 'user', content }] },
    fresh: true,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
const byVirtualKey = (key: string): Promise<Answer> =>
  chat(key, 'Hello', { 'x-gateway-virtual-key': world.virtualKey });
const byConfig = (key: string, content = 'Hello'): Promise<Answer> =>
  chat(key, content, { 'x-gateway-config': config });

/** What many requests at once were answered; each is written down for the log where it is the first key's. */
async function statuses(send: () => Promise<Answer>, isLogged = false): Promise<Set<number>> {
  const answers = await inParallel(Array.from({ length: WARM }), 8, send);
  if (isLogged) for (const { requestId } of answers) world.note(requestId, 'once');
  return new Set(answers.map(({ status }) => status));
}

const refusal = (answer: Answer): [number, string] => {
  expectRefusal(answer.body, jsonOf(answer).error.code);
  return [answer.status, jsonOf(answer).error.code];
};

/** Times at which the snapshots were written. Half-written ones, which have another name, do not count. */
const written = (): number[] =>
  readdirSync(join(folder, 'snapshots'))
    .filter((name) => name.endsWith('.snapshot'))
    .map((name) => statSync(join(folder, 'snapshots', name)).mtimeMs);

describe.each<ProxyMode>(['refuse', 'blackhole'])(
  'O17: a start while the database is unavailable (%s)',
  (mode) => {
    it(
      'serves known keys with their configs and guardrails within 10 s, refuses all else, and makes up for it later',
      { timeout: 400_000 },
      async () => {
        expect(await statuses(() => byVirtualKey(world.apiKey.key), true)).toEqual(new Set([200]));
        expect(await statuses(() => byConfig(second.key))).toEqual(new Set([200]));
        expect(await statuses(() => byConfig(second.key, 'Apollo'))).toEqual(new Set([446]));
        expect(await statuses(() => byVirtualKey(spent.key))).toEqual(new Set([200]));
        const revoked = await world.administration.createKey('revoked');
        const unknown = await world.administration.createKey('never used');
        expect(await statuses(() => byVirtualKey(revoked.key))).toEqual(new Set([200]));
        // What is forgotten leaves the snapshots at once, and takes along what was learned.
        const before = Date.now();
        await world.administration.deleteKey(revoked.id);
        await eventually(() => written().filter((at) => at > before).length === 2, {
          what: 'both snapshots to be written',
        });

        proxy.mode = mode;
        await killAll();
        const startMs = await start();
        console.log(`${mode}: ready after ${startMs} ms; with the database it takes ${usualStartMs} ms`);
        expect(startMs, `ms; with the database it takes ${usualStartMs}`).toBeLessThan(
          READY_WITHIN_MS + usualStartMs,
        );

        expect(await statuses(() => byVirtualKey(world.apiKey.key), true)).toEqual(new Set([200]));
        expect(await statuses(() => byConfig(second.key))).toEqual(new Set([200]));
        expect(await statuses(() => byConfig(second.key, 'Apollo'))).toEqual(new Set([446]));
        expect(refusal(await byVirtualKey(unknown.key))).toEqual([503, 'auth_unavailable']);
        expect(refusal(await byVirtualKey(revoked.key))).toEqual([503, 'auth_unavailable']);
        expect(refusal(await byVirtualKey(spent.key))).toEqual([503, 'limits_unavailable']);
        expect(refusal(await world.administration.call('GET', '/v1/api-keys'))).toEqual([
          503,
          'database_unavailable',
        ]);
        const ready = await service.client.call({ path: '/readyz?verbose' });
        expect([ready.status, jsonOf(ready).status]).toEqual([200, 'degraded']);
        expect(service.output).toContain('are served from the snapshot');

        const { supervisor, gateways } = service.pids;
        proxy.mode = 'refuse';
        proxy.mode = 'pass';
        const back = Date.now();
        await eventually(
          async () => (await world.administration.call('GET', '/v1/api-keys')).status === 200,
          {
            withinMs: 60_000,
            what: 'the administration',
          },
        );
        console.log(`${mode}: the administration was there after ${Date.now() - back} ms`);
        expect(service.pids).toMatchObject({ supervisor, gateways });
        await eventually(async () => (await byVirtualKey(unknown.key)).status === 200, {
          what: 'the key that was not known',
        });
        await eventually(async () => (await byVirtualKey(revoked.key)).status === 401, {
          what: 'a 401 for the revoked key',
        });
        await eventually(
          async () => [...(await statuses(() => byVirtualKey(spent.key)))].every((status) => status === 200),
          { what: 'both processes to have asked for what is left of the budget' },
        );
        await world.checkLog();
      },
    );
  },
);
