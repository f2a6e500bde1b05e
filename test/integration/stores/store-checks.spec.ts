import { createServer } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { StoreChecks } from '../../../src/egress/store-checks.js';
import { Probes } from '../../../src/common/supervision/probes.js';
import { loadSettings } from '../../../src/common/settings/settings.js';
import { HttpClient, jsonOf } from '../../support/http-client.js';
import { OwnRedis } from '../../support/own-redis.js';
import { Started } from '../../support/started.js';
import { type ProxyMode, TcpProxy } from '../../support/tcp-proxy.js';
import { S3Server } from '../../support/upstreams/s3.js';
import { eventually } from '../../support/waiting.js';

const redis = await OwnRedis.start();
const started = new Started();
afterAll(() => started.end());

interface Verbose {
  readonly status: string;
  readonly checks: readonly { readonly name: string; readonly status: string }[];
}

describe.runIf(redis)('readiness', () => {
  it.each<ProxyMode>(['refuse', 'blackhole'])(
    'names each store that is unavailable (%s), stays ready, and names none when all are back',
    async (mode) => {
      started.add(redis, (it) => it?.kill());
      const s3 = started.add(await S3Server.start(), (it) => it.stop());
      const ping = started.add(
        createServer((_, response) => response.end('Ok.\n')).listen(0, '127.0.0.1'),
        (it) => it.close(),
      );
      await eventually(() => ping.listening, { what: 'the server' });
      const clickhouse = `http://127.0.0.1:${(ping.address() as { port: number }).port}`;
      const behind = {
        redis: await TcpProxy.before(redis?.url ?? ''),
        clickhouse: await TcpProxy.before(clickhouse),
        'object storage': await TcpProxy.before(s3.settings['GATEHOUSE_S3_ENDPOINT'] ?? ''),
      };
      for (const { proxy } of Object.values(behind)) started.add(proxy, (it) => it.stop());
      const settings = loadSettings({
        ...s3.settings,
        GATEHOUSE_S3_ENDPOINT: behind['object storage'].url,
        REDIS_URL: behind.redis.url,
        CLICKHOUSE_URL: behind.clickhouse.url.replace('//', '//user:hush@'),
      });
      const checks = started.add(new StoreChecks(settings), (it) => it.close());
      // Asked anew each time, so that the test need not wait until results are old.
      const probes = new Probes(
        checks.all.map((check) => ({ ...check, freshMs: 0 })),
        undefined,
      );
      const server = createServer((request, response) => void probes.answer(request, response));
      started.add(server.listen(0, '127.0.0.1'), (it) => it.close());
      await eventually(() => server.listening, { what: 'the server' });
      const client = new HttpClient(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
      started.add(client, (it) => it.close());

      const failing = async (): Promise<readonly string[]> => {
        const answer = await client.call({ path: '/readyz?verbose' });
        expect(answer.status).toBe(200);
        const { checks } = jsonOf(answer) as Verbose;
        // Files of this project share their process, and a loop that another file left behind stalls sooner or later.
        const found = checks.filter(({ name }) => !name.startsWith('loop '));
        expect(found.map(({ name }) => name)).toEqual(['redis', 'clickhouse', 'object storage']);
        return found.filter(({ status }) => status === 'degraded').map(({ name }) => name);
      };
      const fails = async (names: readonly string[]): Promise<true> => {
        expect(await failing()).toEqual(names);
        return true;
      };
      await eventually(() => fails([]), { what: 'all stores' });
      for (const [name, { proxy }] of Object.entries(behind)) {
        proxy.mode = mode;
        await eventually(() => fails([name]), { what: `only ${name} to be named` });
        proxy.mode = 'pass';
        await eventually(() => fails([]), { what: `${name} to be back` });
      }
    },
  );
});
