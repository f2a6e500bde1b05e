import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** One process, distinguished from a later one that got the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it began, in the operating system's own words; null where that cannot be learned. */
  readonly started: string | null;
  /** The machine, boot and pid namespace in which `pid` means something. */
  readonly realm: string;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, started: startOf(process.pid), realm: realm() };
}

/** Numbers of another machine or container say nothing here. */
export function sameRealm(identity: ProcessIdentity): boolean {
  return identity.realm === realm();
}

/** Whether that very process still runs. Only meaningful within the same realm. */
export function isRunning({ pid, started }: ProcessIdentity): boolean {
  return exists(pid) && (started === null || startOf(pid) === started);
}

/** Signal 0 asks without sending; a refusal for lack of rights also proves that the process is there. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * On Linux field 22 of `/proc/<pid>/stat`, in clock ticks since boot
 * (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html); elsewhere what `ps` says, to the second.
 * The name in field 2 may hold spaces and brackets, so fields are counted from the last bracket.
 */
function startOf(pid: number): string | null {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; its parent has not read its status yet.
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** Boot and pid namespace where the kernel tells them (a host's name may change while it runs), else the name of the host. */
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
