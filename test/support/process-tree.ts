import { readdirSync, readFileSync } from 'node:fs';

/** A process of the service, as the system sees it. */
export interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly arguments: readonly string[];
}

/** Reads one process from /proc; null when it is gone, or a zombie. */
export function processFacts(pid: number): ProcessFacts | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return null;
    const command = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    return { pid, parent: Number(parent), command, arguments: args };
  } catch {
    return null;
  }
}

/** Every living descendant of a process, nearest first. */
export function descendants(root: number): readonly ProcessFacts[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processFacts(Number(name)))
    .filter((facts) => facts !== null);
  const found: ProcessFacts[] = [];
  for (let wave = [root]; wave.length > 0;) {
    const next = all.filter(({ parent }) => wave.includes(parent));
    found.push(...next);
    wave = next.map(({ pid }) => pid);
  }
  return found;
}

export const isAlive = (pid: number): boolean => processFacts(pid) !== null;

/** Resident memory in bytes; 0 when the process is gone. */
export function residentBytes(pid: number): number {
  try {
    const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    return Number(line?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html: Linux counts a hundred of them in a second. */
const TICK_MS = 10;

/** Time that the process has had a processor for, milliseconds; 0 when it is gone. Unlike a clock it does not run while others are busy. */
export function processorMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // What follows the name begins with the third field; utime and stime are the 14th and 15th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}
