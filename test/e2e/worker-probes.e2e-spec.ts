import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpClient } from '../support/http-client.js';
import { freePort } from '../support/ports.js';
import { type OwnService, startService } from '../support/service.js';
import { sharedStore } from '../support/shared-store.js';
import { Started } from '../support/started.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { eventually } from '../support/waiting.js';

const started = new Started();
let proxy: TcpProxy;
let worker: OwnService;

beforeAll(async () => {
  const store = started.add(await sharedStore(), (it) => it.stop());
  // A worker waits for an API node that prepares the installation.
  if (!store.bootstrapDir)
    started.add(await startService({ env: { ...store.env, DATABASE_URL: store.databaseUrl } }), (it) =>
      it.dispose(),
    );
  const direct = new URL(store.databaseUrl);
  proxy = started.add(
    await TcpProxy.start({ host: direct.hostname, port: Number(direct.port || 5432) }),
    (it) => it.stop(),
  );
  const through = new URL(direct);
  through.hostname = '127.0.0.1';
  through.port = String(proxy.port);
  worker = await startService({
    env: {
      ...store.env,
      DATABASE_URL: through.href,
      GATEHOUSE_ROLE: 'worker',
      GATEHOUSE_PORT: String(await freePort()),
    },
  });
  started.add(worker, (it) => it.dispose());
});
afterAll(() => started.end());

const get = (path: string) => new HttpClient(worker.baseUrl).call({ path, fresh: true });

describe('an instance that only works in the background', () => {
  it('serves the probes of a gateway on its port, and nothing else', async () => {
    expect((await get('/livez')).status).toBe(200);
    expect((await get('/readyz')).status).toBe(200);
    expect((await get('/readyz?verbose')).body.toString()).toContain('"database"');
    expect((await get('/v1/models')).status).toBe(404);
  });

  it('has the ages of all its loops in its metrics', async () => {
    const metrics = (await get('/metrics')).body.toString();
    const loops = [
      ...metrics.matchAll(/^gatehouse_loop_last_success_age_seconds\{loop="([\w-]+)"\} (\S+)$/gm),
    ];

    expect(loops.map(([, name]) => name)).toEqual(
      expect.arrayContaining(['shipper', 'retention', 'sweep-batches', 'queue-aggregate-logs']),
    );
    for (const [, , age] of loops) expect(Number(age)).toBeLessThan(60);
    expect(metrics).toContain('gatehouse_spool_oldest_seconds');
  });

  it('lives and is not ready while its database is unavailable, and counts the failures of its loops', async () => {
    proxy.mode = 'refuse';
    await eventually(async () => (await get('/readyz')).status === 503, { what: 'that it is not ready' });
    expect((await get('/livez')).status).toBe(200);
    await eventually(
      async () =>
        /^gatehouse_loop_failures_total\{loop="shipper"\} [1-9]|^gatehouse_loop_failures_total\{loop="ingested-logs"\} [1-9]/m.test(
          (await get('/metrics')).body.toString(),
        ),
      { what: 'the count of failures' },
    );

    proxy.mode = 'pass';
    await eventually(async () => (await get('/readyz')).status === 200, { what: 'that it is ready again' });
  });
});
