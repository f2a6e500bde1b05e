import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** One process, distinguished from later ones with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in the operating system's format; null if unavailable. */
  readonly started: string | null;
  /** The machine, boot and pid namespace in which `pid` is valid. */
  readonly realm: string;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, started: startOf(process.pid), realm: realm() };
}

/** Pids of another machine or container mean nothing here. */
export function sameRealm(identity: ProcessIdentity): boolean {
  return identity.realm === realm();
}

/** Whether that very process still runs. Only valid within the same realm. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  return exists(pid) && (started === null || startOf(pid) === started);
}

/** Signal 0 only checks; a permission error also proves that the process exists. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * On Linux field 22 of `/proc/<pid>/stat`, in clock ticks since boot (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html);
 * elsewhere the output of `ps`, to the second. The name in field 2 may contain spaces and brackets, so fields are counted from the last
 * bracket.
 */
function startOf(pid: number): string | null {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; its parent has not reaped it yet.
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** Boot and pid namespace where the kernel exposes them (a host's name may change while it runs), else the host name. */
function realm(): string {
  const boot = tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const namespace = tryRead(() => readlinkSync('/proc/self/ns/pid'));
  return boot && namespace ? `${boot} ${namespace}` : hostname();
}

function tryRead(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
