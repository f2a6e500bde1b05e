import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 100;
/** An older turn's holder was killed, and its pid may belong to another process. */
const STALE_MS = 120_000;

/**
 * Runs work while no other process that names the same folder does. The folder exists meanwhile and identifies the holder, so that a turn
 * whose processes were killed ends at once. `work` gets a function to register the pid of each process that works for it and may outlive
 * this one.
 */
export async function inTurn(folder, work) {
  const mine = `${folder}-${process.pid}`;
  mkdirSync(mine, { recursive: true });
  writeFileSync(join(mine, 'pids'), `${process.pid}\n`);
  let isTold = false;
  // Renaming a folder onto a non-empty one fails: so the second process fails.
  while (!moved(mine, folder)) {
    const holders = pidsIn(folder);
    if (holders && isOver(folder, holders)) {
      moved(folder, `${folder}-${holders[0]}-ended`);
      continue;
    }
    if (holders && !isTold) process.stderr.write(`Process ${holders[0]} is already building. Waiting ...\n`);
    isTold ||= holders !== null;
    await sleep(PAUSE_MS);
  }
  try {
    return await work((pid) => appendFileSync(join(folder, 'pids'), `${pid}\n`));
  } finally {
    leave(folder);
  }
}

/**
 * The folder that was set aside is removed last: while it exists, no process that still considers its holder dead can set another turn
 * aside.
 */
function leave(folder) {
  rmSync(folder, { recursive: true, force: true });
  const aside = readdirSync(dirname(folder)).filter((name) => name.startsWith(`${basename(folder)}-`) && name.endsWith('-ended'));
  for (const name of aside) rmSync(join(dirname(folder), name), { recursive: true, force: true });
}

function moved(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOTEMPTY', 'ENOENT', 'EPERM'].includes(error.code)) return false;
    throw error;
  }
}

/** Null when the turn has ended in the meantime. */
function pidsIn(folder) {
  try {
    return readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n').map(Number);
  } catch {
    return null;
  }
}

function isOver(folder, holders) {
  const since = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return !holders.some(isAlive) || Date.now() - since > STALE_MS;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
