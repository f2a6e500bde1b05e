import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonOf } from '../../support/http-client.js';
import { portRange } from '../../support/ports.js';
import { type OwnService, startService } from '../../support/service.js';
import { SmallDisk } from '../../support/small-disk.js';
import { Started } from '../../support/started.js';
import { eventually, inParallel } from '../../support/waiting.js';
import { World } from '../../support/world.js';

/**
 * O10, P20: the disk of the spool is full. The built service goes on serving as if nothing were; every request has its row, those of
 * the bad time without bodies; when there is room again everything is as before, without anybody's help.
 */
const DISK_MIB = 64;
const WIDTH = 8;
const BODY = JSON.stringify({ model: 'gpt-4o-mini', filler: 'x'.repeat(30_000) });

const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-small-disk-'));
/** Only the spool lies on the small disk. */
const disk = join(dataDir, 'spool');
mkdirSync(disk);
const mounted = SmallDisk.mount(disk, DISK_MIB);

afterAll(() => {
  mounted?.remove();
  rmSync(dataDir, { recursive: true, force: true });
});

describe.runIf(mounted)('the built service on a full disk', () => {
  const started = new Started();
  let service: OwnService;
  let world: World;

  beforeAll(async () => {
    service = await startService({
      dataDir,
      egressPorts: await portRange(4),
      env: { GATEHOUSE_PROCESSES: '2', GATEHOUSE_DRAIN_DELAY_MS: '0' },
    });
    started.add(service, (it) => it.dispose());
    world = started.add(await World.create('full-disk', service), (it) => it.close());
    world.upstream.otherwise({ headers: [['content-type', 'application/json']], body: BODY });
  });
  afterAll(() => started.end());

  const metric = async (name: string): Promise<number> => {
    const text = (await service.client.call({ path: '/metrics' })).body.toString();
    const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'gm'))].map(([, value]) =>
      Number(value),
    );
    return values.length === 0 ? -1 : Math.max(...values);
  };

  /** Statuses of so many requests; each is noted as one that must have a row. */
  async function served(count: number): Promise<{ ids: string[]; statuses: Set<number> }> {
    const answers = await inParallel(Array.from({ length: count }), WIDTH, () =>
      world.send({
        method: 'POST',
        path: '/v1/chat/completions',
        body: BODY,
        headers: { ...world.headers, 'content-type': 'application/json' },
      }),
    );
    return {
      ids: answers.map(({ requestId }) => requestId),
      statuses: new Set(answers.map(({ status }) => status)),
    };
  }

  const hasBodies = async (id: string): Promise<boolean> =>
    JSON.stringify(jsonOf(await world.administration.call('GET', `/v1/logs/${id}`))).includes('xxxxxxxx');

  const filler = join(disk, 'filler');
  function fill(): void {
    try {
      writeFileSync(filler, Buffer.alloc(2 * DISK_MIB * 1024 * 1024));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
    expect(statfsSync(disk).bavail).toBe(0);
  }

  it(
    'serves every request, keeps every record, alarms, and recovers by itself',
    { timeout: 60_000 },
    async () => {
      const before = await served(20);
      await eventually(
        () =>
          readdirSync(disk, { recursive: true }).filter((name) => name.toString().endsWith('reserve'))
            .length >= 2,
        {
          what: 'the reserve of each process',
        },
      );
      // The worker must not make room while the disk is full: it would be a disk that is not.
      const { worker } = service.pids;
      if (worker !== null) process.kill(worker, 'SIGSTOP');
      fill();
      const during = await served(300);
      await eventually(() => service.output.includes('log_degraded'), { what: 'the alarm' });
      expect(await metric('gatehouse_spool_degraded')).toBeGreaterThan(0);
      expect(await service.ready(), '/readyz').toBe(true);
      if (worker !== null) process.kill(worker, 'SIGCONT');
      rmSync(filler);
      await eventually(async () => (await metric('gatehouse_spool_degraded')) === 0, {
        what: 'the alarm to end',
      });
      const after = await served(20);
      for (const { statuses } of [before, during, after]) expect(statuses).toEqual(new Set([200]));

      await world.checkLog();
      expect(await hasBodies(before.ids[0] ?? '')).toBe(true);
      expect(await hasBodies(during.ids.at(-1) ?? ''), 'bodies while there was no room').toBe(false);
      expect(await hasBodies(after.ids.at(-1) ?? '')).toBe(true);
      expect(await metric('gatehouse_spool_records_dropped_total')).toBeLessThanOrEqual(0);
    },
  );
});
