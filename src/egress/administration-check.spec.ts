import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CheckFailure } from '../common/supervision/probes.js';
import { administrationCheck } from './administration-check.js';

it('an administration that takes no connection degrades readiness, and one that does is well', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-administration-'));
  const path = join(folder, 'socket');
  const check = administrationCheck(path);
  const run = async (): Promise<void> => check.run();
  const server = createServer((socket) => socket.on('error', () => undefined));
  try {
    expect(check.isVital).toBe(false);
    await expect(run()).rejects.toThrow(CheckFailure);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    await expect(run()).resolves.toBeUndefined();
  } finally {
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true, force: true });
  }
});
