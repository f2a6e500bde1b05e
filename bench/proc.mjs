/** Linux's information about processes and cores, from /proc (see proc_pid_stat(5) and proc_stat(5)). */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const US_PER_TICK = 1e6 / TICKS_PER_SECOND;

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

/** Fields of /proc/<pid>/stat after the name, which may itself contain blanks and parentheses. */
function statFields(pid) {
  const text = read(`/proc/${pid}/stat`);
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** CPU time of the processes since they began, all threads, microseconds. Ended ones count 0. */
export function cpuMicroseconds(pids) {
  let ticks = 0;
  for (const pid of pids) {
    const fields = statFields(pid);
    if (fields) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * US_PER_TICK;
}

/**
 * CPU time of all current threads of the processes, microseconds, with the scheduler's nanosecond precision: for work that is too short for
 * ticks of 10 ms. Threads that ended are missing. https://docs.kernel.org/scheduler/sched-stats.html
 */
export function runMicroseconds(pids) {
  let nanoseconds = 0;
  for (const pid of pids)
    for (const thread of readdirSync(`/proc/${pid}/task`))
      nanoseconds += Number(read(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ')[0] ?? 0);
  return nanoseconds / 1000;
}

/** Resident memory of the processes, MiB. */
export function residentMib(pids) {
  let kib = 0;
  for (const pid of pids) kib += Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1] ?? 0);
  return kib / 1024;
}

/** The same with each shared page divided among the processes that map it: PostgreSQL's share their buffers. */
export function proportionalMib(pids) {
  let kib = 0;
  for (const pid of pids)
    kib += Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')?.[1] ?? 0);
  return kib / 1024;
}

/** The process and all of its descendants. */
export function familyOf(root) {
  const childrenOf = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statFields(name)?.[1]);
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)]);
  }
  const family = [root];
  for (const pid of family) family.push(...(childrenOf.get(pid) ?? []));
  return family;
}

export function commandLine(pid) {
  return (read(`/proc/${pid}/cmdline`) ?? '').split('\0').filter(Boolean);
}

/** A worker of node:cluster has its number in its environment. */
export function isClusterWorker(pid) {
  return (read(`/proc/${pid}/environ`) ?? '')
    .split('\0')
    .some((entry) => entry.startsWith('NODE_UNIQUE_ID='));
}

/** Microseconds that each core was busy since the machine began, by core. */
export function busyByCore() {
  const busy = new Map();
  for (const line of read('/proc/stat').split('\n')) {
    const match = /^cpu(\d+) (.*)/.exec(line);
    if (!match) continue;
    const [user, nice, system, , , irq, softirq, steal] = match[2].split(' ').map(Number);
    busy.set(Number(match[1]), (user + nice + system + irq + softirq + steal) * US_PER_TICK);
  }
  return busy;
}

/** The cores that this process may use, in order. */
export function allowedCores() {
  const list = /^Cpus_allowed_list:\s+(.*)$/m.exec(read('/proc/self/status') ?? '')?.[1] ?? '0';
  return list.split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
  });
}
