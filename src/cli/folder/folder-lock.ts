import { createHash, randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LauncherError } from '../launcher-error.js';
import { isRunning, ownIdentity, type ProcessIdentity, sameRealm } from './process-identity.js';
import { OWNER_ONLY } from '../../common/files/write-atomically.js';

const HEARTBEAT_MS = 2_000;
/** Two missed heartbeats and a margin: then the holder in another container is gone. */
const WATCH_MS = 2 * HEARTBEAT_MS + 1_000;
const ATTEMPTS = 5;
/** Enough for another process to replace a stale lock. */
const CLAIM_MS = 100;

type Notice = (text: string) => void;

/**
 * One instance per data folder.
 *
 * The lock is a file that names its holder. If the holder on this machine no longer runs (its pid may have been reused, so the start time
 * counts too), the lock is stale and is taken over. A holder on another machine or in another container cannot be inspected; it touches its
 * lock every two seconds, so a lock that stays untouched during the watch is stale too. The lock also records the folder it was made in,
 * because a copy of the folder contains a copy of the lock.
 */
export class FolderLock {
  private readonly heartbeat: NodeJS.Timeout;

  private constructor(
    private readonly path: string,
    private readonly content: string,
  ) {
    this.heartbeat = setInterval(() => void this.touch(), HEARTBEAT_MS).unref();
  }

  /** Takes the lock of this folder, or throws an error that names the holder. `notice` is called before a wait of seconds. */
  static async acquire(
    folder: string,
    notice: Notice = () => undefined,
    watchMs = WATCH_MS,
  ): Promise<FolderLock> {
    const path = lockPath(folder);
    const content = JSON.stringify({ ...ownIdentity(), folder: await numberOf(folder) });
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await create(path, content)) return new FolderLock(path, content);
      const owner = await read(path);
      if (owner === null) continue;
      if (await isHeld(path, owner, notice, watchMs))
        throw new LauncherError(
          (await isCopied(folder, owner)) ? copied(folder, owner) : refusal(folder, owner),
        );
      if (await takeOver(path, owner, content)) return new FolderLock(path, content);
      await sleep(CLAIM_MS);
    }
    throw new LauncherError(
      `The data folder ${folder} is being taken by several instances at once. Try again.`,
    );
  }

  /** Whether an instance runs on this folder. */
  static async isHeld(folder: string): Promise<boolean> {
    const path = lockPath(folder);
    const owner = await read(path);
    if (owner === null || (await isCopied(folder, owner))) return false;
    return isHeld(path, owner, () => undefined, WATCH_MS);
  }

  /** Releases the folder. A lock that another process has taken over stays. */
  async release(): Promise<void> {
    clearInterval(this.heartbeat);
    if ((await read(this.path)) === this.content) await rm(this.path, { force: true });
  }

  /** Writers notice a deleted folder or full disk themselves; the heartbeat need not report it. */
  private async touch(): Promise<void> {
    const now = new Date();
    await utimes(this.path, now, now).catch(() => undefined);
  }
}

function lockPath(folder: string): string {
  return join(folder, 'gatehouse.lock');
}

/** A hard link appears with its complete content or not at all, and only for one of several concurrent attempts. */
async function create(path: string, content: string): Promise<boolean> {
  const own = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  await writeFile(own, content, { mode: OWNER_ONLY, flag: 'wx' });
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

async function isHeld(path: string, content: string, notice: Notice, watchMs: number): Promise<boolean> {
  const holder = parse(content);
  if (holder === null) return false;
  if (sameRealm(holder)) return isRunning(holder);
  notice(
    'The data folder was last used from another machine, container or boot. Watching whether it still is.',
  );
  const before = await touched(path);
  await sleep(watchMs);
  return (await touched(path)) !== before;
}

/**
 * Replaces a stale lock by one with this content. False if another process does so, or has done so. The lock is never absent meanwhile, and
 * only whoever has claimed its content may replace it: each content can be claimed once. A claim of a process that was killed is a stale
 * lock itself, and is claimed like one.
 */
async function takeOver(path: string, stale: string, content: string): Promise<boolean> {
  const claims = await claim(path, stale, content);
  if (claims === null) return false;
  // Whoever read the lock before it was replaced may claim it afterwards.
  const isStale = (await read(path)) === stale;
  if (isStale) {
    const own = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    await writeFile(own, content, { mode: OWNER_ONLY, flag: 'wx' });
    await rename(own, path);
  }
  for (const each of claims) await rm(each, { force: true });
  return isStale;
}

/** The files of the claim, or null if a running process has claimed this content. */
async function claim(path: string, stale: string, content: string): Promise<string[] | null> {
  const claims: string[] = [];
  for (let claimed = stale; ;) {
    const file = `${path}.${createHash('sha256').update(claimed).digest('hex').slice(0, 16)}.tmp`;
    claims.push(file);
    if (await create(file, content)) return claims;
    const other = await read(file);
    if (other === null || (await isClaiming(file, other))) return null;
    claimed = other;
  }
  return null;
}

/** Replacing a lock takes milliseconds, so an old claim of a machine or container that cannot be inspected is stale. */
async function isClaiming(file: string, content: string): Promise<boolean> {
  const claimant = parse(content);
  if (claimant !== null && sameRealm(claimant)) return isRunning(claimant);
  const at = await touched(file);
  return at !== null && Date.now() - at < WATCH_MS;
}

function refusal(folder: string, content: string): string {
  const holder = parse(content);
  const who = holder && sameRealm(holder) ? `process ${holder.pid}` : 'another machine or container';
  return `Gatehouse already runs on the data folder ${folder} (${who}). Stop it first, or set GATEHOUSE_DATA_DIR to another folder.`;
}

function copied(folder: string, content: string): string {
  return (
    `The data folder ${folder} is a copy of a data folder that was in use (by process ${parse(content)?.pid}). ` +
    'A database that was copied while it ran may be damaged: stop Gatehouse on the original and copy again. ' +
    `If the copy is a snapshot of one moment, such as one of the disk, delete ${lockPath(folder)} and start.`
  );
}

/** Whether the lock was made in another folder than the one that contains it. */
async function isCopied(folder: string, content: string): Promise<boolean> {
  const holder = parse(content);
  return holder?.folder !== undefined && sameRealm(holder) && holder.folder !== (await numberOf(folder));
}

/** Identifies a folder, but not its copies, across renames: device and inode. */
async function numberOf(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true });
  return `${dev}:${ino}`;
}

async function touched(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}

async function read(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null);
}

/** Locks of earlier releases do not record the folder. */
function parse(content: string): (ProcessIdentity & { readonly folder?: string | undefined }) | null {
  try {
    const { pid, started, realm, folder } = JSON.parse(content) as Partial<
      ProcessIdentity & { readonly folder: string }
    >;
    if (typeof pid !== 'number' || pid <= 0 || typeof realm !== 'string') return null;
    return { pid, started: started ?? null, realm, folder };
  } catch {
    return null;
  }
}
