import { readFileSync, readlinkSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { OWNER_FILE } from './spool-files.js';

/**
 * The writer of a spool folder, from which readers can tell whether more may be written.
 *
 * A process id is not enough: ids are reused, and the first process of every container has id 1.
 */
export interface Owner {
  readonly pid: number;
  /** Start time of the process in clock ticks since boot; null on systems without /proc. */
  readonly started: string | null;
  /** The machine, boot and pid namespace in which `pid` is valid. */
  readonly realm: string;
}

/** How often a writer touches its owner file. */
export const HEARTBEAT_MS = 10_000;

/** If the process itself cannot be inspected, this much silence counts as death. Generous, because machines may be paused. */
const SILENCE_MS = 5 * 60_000;

export function writeOwner(folder: string): void {
  const owner: Owner = {
    pid: process.pid,
    started: processState(process.pid)?.started ?? null,
    realm: realm(),
  };
  const path = join(folder, OWNER_FILE);
  writeFileSync(`${path}.new`, JSON.stringify(owner), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Whether the writer of this folder can no longer append anything. */
export function isOwnerDead(folder: string, now = Date.now()): boolean {
  const owner = readOwner(folder);
  if (!owner || owner.realm !== realm()) return isSilent(folder, now);
  if (owner.started === null) return !exists(owner.pid);
  const state = processState(owner.pid);
  return state === null || state.hasEnded || state.started !== owner.started;
}

function readOwner(folder: string): Owner | null {
  try {
    return JSON.parse(readFileSync(join(folder, OWNER_FILE), 'utf8')) as Owner;
  } catch {
    return null;
  }
}

/** Time of the last heartbeat, milliseconds since the epoch. */
export function lastHeartbeat(folder: string): number {
  try {
    return statSync(join(folder, OWNER_FILE)).mtimeMs;
  } catch {
    return statSync(folder).mtimeMs;
  }
}

function isSilent(folder: string, now: number): boolean {
  try {
    return now - lastHeartbeat(folder) > SILENCE_MS;
  } catch {
    return false;
  }
}

interface ProcessState {
  readonly started: string;
  /** A killed process that its parent has not yet reaped still has an entry but no longer writes. */
  readonly hasEnded: boolean;
}

/**
 * Fields 3 (state) and 22 (start) of `/proc/<pid>/stat` (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html), counted from the last
 * bracket because the name in field 2 may contain anything. Null when the process or /proc does not exist.
 */
function processState(pid: number): ProcessState | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { started: fields[19] ?? '', hasEnded: fields[0] === 'Z' || fields[0] === 'X' };
  } catch {
    return null;
  }
}

/** Signal 0 only checks; a permission error also proves that the process exists. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

let knownRealm: string | undefined;

function realm(): string {
  knownRealm ??= [
    hostname(),
    attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    attempt(() => readlinkSync('/proc/self/ns/pid')),
  ].join(' ');
  return knownRealm;
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
