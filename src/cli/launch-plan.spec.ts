import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Secret } from '../common/settings/secret.js';
import { loadSettings } from '../common/settings/settings.js';
import { childEnvironment, connectionsNeeded, giveDatabaseUrl } from './launch-plan.js';

describe('childEnvironment', () => {
  it('names files instead of carrying secrets, and a child reads the same settings from it', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-plan-'));
    const key = (fill: number) =>
      new Secret(Buffer.from(Array.from({ length: 32 }, (_, at) => at + fill)).toString('base64'));
    const parent = { GATEHOUSE_DATA_DIR: dataDir, DATABASE_URL: 'postgres://u:pass@h/d' };
    const secrets = { masterKey: key(1), keyPepper: key(2) };

    const environment = await childEnvironment(loadSettings(parent), 4711, secrets);
    await giveDatabaseUrl(dataDir, new Secret(parent.DATABASE_URL));

    const shown = JSON.stringify(environment);
    for (const secret of ['pass', secrets.masterKey.reveal(), secrets.keyPepper.reveal()])
      expect(shown).not.toContain(secret);
    const child = loadSettings({ ...parent, ...environment });
    expect(child.port).toBe(4711);
    expect(child.databaseUrl?.reveal()).toBe(parent.DATABASE_URL);
    expect(child.masterKey?.reveal()).toBe(secrets.masterKey.reveal());
    expect(child.keyPepper?.reveal()).toBe(secrets.keyPepper.reveal());
    const path = environment['GATEHOUSE_MASTER_KEY_FILE'] ?? '';
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, 'utf8')).toBe(secrets.masterKey.reveal());
    expect(child.adminSocket).toBe(join(dataDir, 'run', 'admin.sock'));
    await rm(dataDir, { recursive: true });
  });

  it('picks a private socket path for a data folder whose own path is too long', async () => {
    const dataDir = join(await mkdtemp(join(tmpdir(), 'gatehouse-plan-')), 'deep'.repeat(40));
    const key = new Secret(Buffer.alloc(32).toString('base64'));
    const settings = loadSettings({ GATEHOUSE_DATA_DIR: dataDir });

    const environment = await childEnvironment(settings, 1, { masterKey: key, keyPepper: key });

    const path = environment['GATEHOUSE_ADMIN_SOCKET'] ?? '';
    expect(Buffer.byteLength(path)).toBeLessThan(104);
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    await rm(dirname(path), { recursive: true });
    await rm(dirname(dataDir), { recursive: true });
  });

  it.each([
    ['/nowhere/at/all/admin.sock', /cannot be made \(ENOENT\)\. Set GATEHOUSE_ADMIN_SOCKET/],
    [join(tmpdir(), 'x'.repeat(104)), /the path is too long/],
  ])(
    'refuses in one sentence the place %s for the socket, where none can be made',
    async (socket, message) => {
      const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-plan-'));
      const key = new Secret(Buffer.alloc(32).toString('base64'));
      const settings = loadSettings({ GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_ADMIN_SOCKET: socket });

      const made = childEnvironment(settings, 1, { masterKey: key, keyPepper: key });

      await expect(made).rejects.toThrow(message);
      await rm(dataDir, { recursive: true });
    },
  );
});

describe('connectionsNeeded', () => {
  it('leaves capacity for every process', () => {
    const of = (processes: string) =>
      connectionsNeeded(loadSettings({ GATEHOUSE_PROCESSES: processes, DATABASE_POOL_SIZE: '8' }));
    expect(of('2')).toBe(100);
    expect(of('64')).toBeGreaterThanOrEqual(66 * 8);
  });
});
