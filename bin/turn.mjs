import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 100;
/** Older ones are of a holder that was killed and whose number another process has got since. */
const STALE_MS = 120_000;

/**
 * Does something while nobody else who names the same folder does it. The folder is there meanwhile and tells whose turn it is, so that a
 * turn whose processes were killed is over at once. `work` gets a function to which it tells the number of each process that works for it
 * and may outlive this one.
 */
export async function inTurn(folder, work) {
  const mine = `${folder}-${process.pid}`;
  mkdirSync(mine, { recursive: true });
  writeFileSync(join(mine, 'pids'), `${process.pid}\n`);
  let isTold = false;
  // A folder is never put in the place of one that holds something: whoever comes second fails.
  while (!moved(mine, folder)) {
    const holders = pidsIn(folder);
    if (holders && isOver(folder, holders)) {
      moved(folder, `${folder}-${holders[0]}-ended`);
      continue;
    }
    if (holders && !isTold) process.stderr.write(`Process ${holders[0]} is at it. Waiting for it ...\n`);
    isTold ||= holders !== null;
    await sleep(PAUSE_MS);
  }
  try {
    return await work((pid) => appendFileSync(join(folder, 'pids'), `${pid}\n`));
  } finally {
    leave(folder);
  }
}

/** What was put aside goes last: while it is there, nobody who still takes the holder for a dead one can put another turn aside. */
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

/** Null when the turn has ended meanwhile. */
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
