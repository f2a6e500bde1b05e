import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkedEnvironment } from './doctor/checked-environment.js';
import { examine } from './doctor/doctor.js';
import { FolderLock } from './folder/folder-lock.js';
import { writeRunningSettings } from './running-settings.js';

const PORT = 4711;
const instance = {
  GATEHOUSE_PROCESSES: '3',
  GATEHOUSE_EXPORT_DIR: './elsewhere',
  GATEHOUSE_S3_BUCKET: 'logs',
  GATEHOUSE_S3_ACCESS_KEY_ID: 'me',
  GATEHOUSE_S3_SECRET_ACCESS_KEY: 'canary-bucket',
  GATEHOUSE_SINK_S3: 'on',
  GATEHOUSE_INIT_OWNER_PASSWORD: 'canary-owner',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=canary-token',
  REDIS_URL: 'redis://:canary-redis@127.0.0.1:1',
  IDENTITY_HEADER: 'canary-identity',
  HOME: '/home/somebody',
};
let dataDir: string;
let lock: FolderLock;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-running-'));
  lock = await FolderLock.acquire(dataDir);
  await writeRunningSettings(dataDir, PORT, instance);
});

afterEach(async () => {
  await lock.release();
  await rm(dataDir, { recursive: true, force: true });
});

describe('the settings of a running instance', () => {
  it('are in a closed file that holds no secret and nothing that is no setting', async () => {
    const path = join(dataDir, 'run', 'settings.json');
    const text = await readFile(path, 'utf8');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(text).not.toMatch(/canary|somebody/);
    expect(JSON.parse(text)).toMatchObject({
      port: PORT,
      settings: { GATEHOUSE_PROCESSES: '3', GATEHOUSE_EXPORT_DIR: resolve('elsewhere') },
    });
  });

  it('are what doctor checks, with the secrets that the shell has', async () => {
    const shell = { GATEHOUSE_DATA_DIR: dataDir, REDIS_URL: 'redis://:own@127.0.0.1:2' };
    const { environment, port, skipped } = await checkedEnvironment(shell, false);
    expect([environment['GATEHOUSE_PROCESSES'], environment['REDIS_URL'], port]).toEqual([
      '3',
      shell.REDIS_URL,
      PORT,
    ]);
    expect([...skipped]).toEqual(['Object storage']);
  });

  it("are skipped when the shell's settings are requested", async () => {
    const { environment } = await checkedEnvironment({ GATEHOUSE_DATA_DIR: dataDir }, true);
    expect(environment['GATEHOUSE_PROCESSES']).toBeUndefined();
  });

  it('are distinguished from those of the shell, and a check without its secret is named', async () => {
    const rows: string[] = [];
    const shell = { GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_PROCESSES: '1' };
    for await (const { check, result, detail } of examine(shell)) rows.push(`${check} ${result} ${detail}`);
    const text = rows.join('\n');
    expect(text).toMatch(/^Settings warning .*this shell sets others: GATEHOUSE_PROCESSES$/m);
    expect(text).toMatch(/^Redis warning not checked: the instance has REDIS_URL/m);
    expect(text).toMatch(/^Object storage warning not checked/m);
    expect(text).not.toMatch(/not used/);
  });
});
