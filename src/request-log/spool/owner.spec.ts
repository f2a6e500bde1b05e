import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isOwnerDead, type Owner, writeOwner } from './owner.js';

let folder: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-owner-'));
  writeOwner(folder);
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const path = () => join(folder, 'owner.json');
const change = (given: Partial<Owner>) =>
  writeFileSync(path(), JSON.stringify({ ...(JSON.parse(readFileSync(path(), 'utf8')) as Owner), ...given }));
const minutesAgo = (minutes: number) =>
  utimesSync(path(), new Date(), new Date(Date.now() - minutes * 60_000));

describe('the owner of a spool folder', () => {
  it('lives while its process does', () => {
    expect(isOwnerDead(folder)).toBe(false);
  });

  it('is dead when another process has its number now', () => {
    change({ started: '1' });

    expect(isOwnerDead(folder)).toBe(true);
  });

  it('is dead once its process was killed', async () => {
    child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
    change({ pid: child.pid, started: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] });
    expect(isOwnerDead(folder)).toBe(false);

    const gone = new Promise((resolve) => child?.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;

    expect(isOwnerDead(folder)).toBe(true);
  });

  it('is judged by its heartbeat when its number belongs to another machine or container', () => {
    change({ realm: 'elsewhere', pid: 1, started: '1' });
    expect(isOwnerDead(folder)).toBe(false);

    minutesAgo(6);

    expect(isOwnerDead(folder)).toBe(true);
  });
});
