import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exists } from '../folder/process-identity.js';

/** Time for orphans to end: cleanly, then immediately, then by SIGKILL. Milliseconds each. */
const STEPS = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const;
const POLL_MS = 20;

/**
 * Cleans up after a killed launcher or server: stops PostgreSQL processes that still use the folder, and removes a `postmaster.pid` whose
 * pid now belongs to another program, because PostgreSQL would take that for a running server. The `postmaster.pid` of a dead process
 * stays: PostgreSQL reads its shared memory key to ensure that no backend of the old server is left. Only the holder of the data folder's
 * lock may call this: it could otherwise stop another instance's server.
 */
export async function clearStalePostmaster(folder: string): Promise<void> {
  const path = join(folder, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(path, 'utf8').catch(() => ''), 10);
  if (Number.isNaN(pid)) return;
  for (const [signal, timeoutMs] of STEPS) {
    const orphans = processesOn(folder, pid);
    for (const orphan of orphans) send(orphan, signal);
    if (orphans.length > 0) await gone(folder, pid, timeoutMs);
  }
  if (exists(pid) && processesOn(folder, pid).length === 0) await rm(path, { force: true });
}

async function gone(folder: string, pid: number, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (processesOn(folder, pid).length > 0 && performance.now() < deadline) await sleep(POLL_MS);
}

/**
 * The postmaster and its children have the data folder as working directory; on systems other than Linux only the postmaster is found, by
 * its command line.
 */
function processesOn(folder: string, postmaster: number): number[] {
  if (process.platform === 'linux') {
    const real = realpathSync(folder);
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && isPostgresIn(pid, real));
  }
  const command = tryRead(() =>
    execFileSync('ps', ['-o', 'command=', '-p', String(postmaster)], { encoding: 'utf8' }),
  );
  return command.includes(folder) ? [postmaster] : [];
}

function isPostgresIn(pid: number, folder: string): boolean {
  const name = tryRead(() => readFileSync(`/proc/${pid}/comm`, 'utf8')).trim();
  return name === 'postgres' && tryRead(() => readlinkSync(`/proc/${pid}/cwd`)) === folder;
}

/** A process may end while it is being inspected. */
function tryRead(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    return;
  }
}
