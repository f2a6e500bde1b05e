import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FolderLock } from './folder-lock.js';
import { ownIdentity } from './process-identity.js';

describe('FolderLock', () => {
  let folder: string;
  const lockFile = (): string => join(folder, 'gatehouse.lock');
  const claimOf = (content: string): string =>
    `${lockFile()}.${createHash('sha256').update(content).digest('hex').slice(0, 16)}.tmp`;
  const leave = (holder: unknown): Promise<void> => writeFile(lockFile(), JSON.stringify(holder));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-lock-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('refuses a second holder at once, naming the first and what to do', async () => {
    const lock = await FolderLock.acquire(folder);

    await expect(FolderLock.acquire(folder)).rejects.toThrow(
      `Gatehouse already runs on the data folder ${folder} (process ${process.pid}). Stop it first`,
    );
    expect(await FolderLock.isHeld(folder)).toBe(true);
    await lock.release();
  });

  it('can be taken again after it was released, and leaves nothing behind', async () => {
    await (await FolderLock.acquire(folder)).release();
    expect(await readdir(folder)).toEqual([]);
    expect(await FolderLock.isHeld(folder)).toBe(false);

    await (await FolderLock.acquire(folder)).release();
  });

  it('takes over from a process that was killed', async () => {
    const child = spawn(process.execPath, ['-e', '0']);
    await once(child, 'exit');
    await leave({ ...ownIdentity(), pid: child.pid });

    const lock = await FolderLock.acquire(folder);

    expect(JSON.parse(await readFile(lockFile(), 'utf8'))).toMatchObject(ownIdentity());
    await lock.release();
  });

  it('takes over when the number of the holder has gone to another process', async () => {
    await leave({ ...ownIdentity(), started: 'long ago' });

    await (await FolderLock.acquire(folder)).release();
  });

  it('takes over a lock that is not readable as one', async () => {
    await writeFile(lockFile(), '{"pid":');

    await (await FolderLock.acquire(folder)).release();
  });

  it('lets exactly one of many take over a stale lock, fifty times', async () => {
    for (let round = 0; round < 50; round++) await takeOverOnce();
  });

  async function takeOverOnce(): Promise<void> {
    await leave({ ...ownIdentity(), started: 'long ago' });

    const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => FolderLock.acquire(folder)));

    const taken = attempts.filter((attempt) => attempt.status === 'fulfilled');
    expect(taken).toHaveLength(1);
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    await taken[0]?.value.release();
  }

  it('is taken over by one process where the one that was taking it over was killed', async () => {
    const killed = { ...ownIdentity(), started: 'before' };
    await leave({ ...ownIdentity(), started: 'long ago' });
    await writeFile(claimOf(await readFile(lockFile(), 'utf8')), JSON.stringify(killed));

    const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => FolderLock.acquire(folder)));

    const taken = attempts.filter((attempt) => attempt.status === 'fulfilled');
    expect(taken).toHaveLength(1);
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    await taken[0]?.value.release();
  });

  it('is not taken over while another process does so', async () => {
    await leave({ ...ownIdentity(), started: 'long ago' });
    await writeFile(claimOf(await readFile(lockFile(), 'utf8')), JSON.stringify(ownIdentity()));

    await expect(FolderLock.acquire(folder)).rejects.toThrow('is being taken by several instances at once');
  });

  it('does not remove the lock of whoever took its place', async () => {
    const lock = await FolderLock.acquire(folder);
    await leave({ ...ownIdentity(), pid: process.ppid });

    await lock.release();

    expect(await readdir(folder)).toEqual(['gatehouse.lock']);
  });

  it('distinguishes a copy of a folder in use from the folder itself, and explains what to do', async () => {
    const lock = await FolderLock.acquire(folder);
    const copy = await mkdtemp(join(tmpdir(), 'gatehouse-lock-copy-'));
    await cp(folder, copy, { recursive: true, preserveTimestamps: true });

    const refused = await FolderLock.acquire(copy).catch((error: unknown) => String(error));

    expect(refused).toContain(`${copy} is a copy of a data folder that was in use`);
    expect(refused).toContain(`process ${process.pid}`);
    expect(refused).toContain(`delete ${join(copy, 'gatehouse.lock')}`);
    expect(refused).not.toContain('already runs');
    expect(await FolderLock.isHeld(copy)).toBe(false);
    await rm(join(copy, 'gatehouse.lock'));
    await (await FolderLock.acquire(copy)).release();
    await rm(copy, { recursive: true });
    await lock.release();
  });

  it('knows its folder again when that was renamed', async () => {
    const lock = await FolderLock.acquire(folder);
    const renamed = `${folder}-renamed`;
    await rename(folder, renamed);

    await expect(FolderLock.acquire(renamed)).rejects.toThrow('already runs');
    await rename(renamed, folder);
    await lock.release();
  });

  it('watches a holder in another container: one that touches its lock keeps it, one that does not loses it', async () => {
    const notices: string[] = [];
    await leave({ pid: 1, started: '5', realm: 'another boot' });
    const alive = setInterval(
      () => void utimes(lockFile(), new Date(), new Date()).catch(() => undefined),
      10,
    );

    await expect(FolderLock.acquire(folder, (text) => notices.push(text), 100)).rejects.toThrow(
      '(another machine or container)',
    );
    clearInterval(alive);
    await (await FolderLock.acquire(folder, undefined, 100)).release();

    expect(notices).toHaveLength(1);
  });
});
