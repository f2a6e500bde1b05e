import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outsideStores, runToEnd, type OwnService, startService } from '../support/service.js';
import { freePort, portRange } from '../support/ports.js';
import { Started } from '../support/started.js';
import { steadyLoad } from '../support/steady-load.js';
import { World } from '../support/world.js';

const started = new Started();
let folder: string;
let env: Record<string, string>;
let egressPorts: readonly number[];
let service: OwnService;
let world: World;

const start = async (): Promise<void> => {
  service = await startService({ dataDir: folder, egressPorts, env });
};
const restart = async (): Promise<void> => {
  await service.stop();
  await start();
};
const rotate = (): Promise<{ code: number | null; output: string }> =>
  runToEnd(['rotate', 'master-key', '--yes'], { ...env, GATEHOUSE_DATA_DIR: folder });
const secrets = (): Record<string, string> =>
  JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8')) as Record<string, string>;
/** Through a virtual key, whose credential its organization's key has sealed. */
const ask = async (): Promise<number> => {
  const answer = await service.client.call({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: world.headers,
    fresh: true,
    body: { model: 'gpt-4o-mini', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] },
  });
  return answer.status;
};

beforeAll(async () => {
  folder = started.add(mkdtempSync(join(tmpdir(), 'gatehouse-data-')), (path) =>
    rmSync(path, { recursive: true, force: true }),
  );
  egressPorts = await portRange(4);
  const stores = await outsideStores();
  started.add(null, () => stores.database?.drop());
  env = {
    ...stores.env,
    GATEHOUSE_PORT: String(await freePort()),
    GATEHOUSE_PROCESSES: '2',
    GATEHOUSE_DRAIN_DELAY_MS: '0',
  };
  await start();
  started.add(null, () => service.dispose());
  world = started.add(await World.create('master-key', service), (it) => it.close());
});
afterAll(() => started.end());

describe('N05: the master key in the data folder', () => {
  it(
    'is replaced under load without a failure, and the former one is needed for nothing',
    { timeout: 300_000 },
    async () => {
      const former = secrets();
      const proposed = await Promise.all([rotate(), rotate()]);
      // Of two at once the later one finds the key of the first, with which nobody was started yet.
      expect(proposed.map(({ code }) => code).sort()).toEqual([0, 1]);
      const outputs = proposed.map(({ output }) => output).join('');
      expect(outputs).toContain('Restart the service');
      expect(outputs).toContain('started without the next master key');
      const next = secrets()['next_master_key'];
      expect(secrets()).toEqual({ ...former, next_master_key: next });
      await restart();
      let rotated: Promise<{ code: number | null; output: string }> | undefined;
      const asked = await steadyLoad({
        perSecond: 50,
        forMs: 20_000,
        send: (at) => {
          if (at === 100) rotated = rotate();
          return ask();
        },
      });

      const done = await rotated;
      expect([done?.code, done?.output]).toEqual([0, expect.stringContaining('The master key was replaced')]);
      expect(secrets()).toEqual({ ...former, master_key: next });
      const again = await rotate();
      expect([again.code, again.output]).toEqual([0, expect.stringContaining('Back up secrets.json')]);
      expect(secrets()).toEqual({ ...former, master_key: next });
      expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([200]));
      await world.administration.createVirtualKey({
        name: 'made later',
        secret: 'sk-later',
        customHost: world.upstream.url,
      });
      await restart();
      expect(await ask()).toBe(200);
      const audit = await runToEnd(['audit', 'verify'], { ...env, GATEHOUSE_DATA_DIR: folder });
      expect([audit.code, audit.output]).toEqual([0, expect.stringContaining('records are intact')]);
    },
  );
});
