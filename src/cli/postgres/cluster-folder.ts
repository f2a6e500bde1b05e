import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OWNER_ONLY, syncFolder } from '../../common/files/write-atomically.js';
import { LauncherError } from '../launcher-error.js';
import { POSTGRES_MAJOR, type PostgresBinaries } from './binaries.js';
import type { RunAs } from './unprivileged.js';

export const DATABASE_USER = 'gatehouse';
const PASSWORD_FILE = 'password';

/** The programs get none of our environment, because process lists would show our secrets. */
export const MINIMAL_ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

export interface Cluster {
  readonly folder: string;
  readonly password: string;
  /** Created by this start. */
  readonly fresh: boolean;
}

/** Opens or creates PostgreSQL's data folder. */
export async function openCluster(
  folder: string,
  binaries: PostgresBinaries,
  runAs: RunAs,
): Promise<Cluster> {
  await removeUnfinished(folder);
  const fresh = !existsSync(folder);
  if (fresh) await makeCluster(folder, binaries, runAs);
  else await checkVersion(folder);
  await giveTo(folder, runAs);
  return { folder, password: await readPassword(folder), fresh };
}

/**
 * initdb works under a temporary name, and only a complete folder gets its final name: after a kill in between, the next start discards the
 * temporary folder, never half a database.
 */
async function makeCluster(folder: string, binaries: PostgresBinaries, runAs: RunAs): Promise<void> {
  const workshop = await makeWorkshop(folder);
  const passwordFile = join(workshop, PASSWORD_FILE);
  const cluster = join(workshop, 'cluster');
  await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: OWNER_ONLY, flag: 'wx' });
  await mkdir(cluster, { mode: 0o700 });
  if (runAs.owner)
    for (const path of [workshop, passwordFile, cluster]) await chown(path, runAs.owner.uid, runAs.owner.gid);
  await initdb(cluster, passwordFile, binaries, runAs);
  await rename(passwordFile, join(cluster, PASSWORD_FILE));
  await syncFolder(cluster);
  await rename(cluster, folder);
  await syncFolder(dirname(folder));
  await rm(workshop, { recursive: true });
}

/** The built-in C.UTF-8 sorts the same on every machine, so indexes survive a move or an upgrade of the C library. */
async function initdb(
  cluster: string,
  passwordFile: string,
  { initdb: program }: PostgresBinaries,
  { prefix, spawn: as }: RunAs,
): Promise<void> {
  const [command, ...args] = [
    ...prefix,
    program,
    ...['-D', cluster, '-U', DATABASE_USER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
    ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    '--no-instructions',
  ];
  const child = spawn(command, args, {
    ...as,
    cwd: '/',
    env: MINIMAL_ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  const code = await new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (status, signal) => resolve(status ?? String(signal)));
  });
  if (code !== 0)
    throw new LauncherError(
      `The embedded PostgreSQL could not make its data folder (${code}): ${complaint.trim()}`,
    );
}

async function checkVersion(folder: string): Promise<void> {
  const version = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version === null)
    throw new LauncherError(
      `${folder} is not a data folder of PostgreSQL. Move it away to start with an empty database.`,
    );
  if (version.trim() !== POSTGRES_MAJOR)
    throw new LauncherError(
      `${folder} belongs to PostgreSQL ${version.trim()}, and this release brings ${POSTGRES_MAJOR}. Dump it with the release that made it, and restore the dump into a new data folder.`,
    );
}

async function readPassword(folder: string): Promise<string> {
  const path = join(folder, PASSWORD_FILE);
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new LauncherError(`The password of the embedded PostgreSQL cannot be read from ${path}.`, {
      cause,
    });
  });
}

/**
 * Root may run the same folder as another user today and in a user namespace tomorrow, if a parent folder was closed meanwhile; its files
 * change owner accordingly. The folder itself is changed last: its owner shows whether all files have been changed.
 */
async function giveTo(folder: string, { owner }: RunAs): Promise<void> {
  if (!owner || (await stat(folder)).uid === owner.uid) return;
  const inside = await readdir(folder, { recursive: true });
  for (const path of inside) await lchown(join(folder, path), owner.uid, owner.gid);
  await chown(folder, owner.uid, owner.gid);
}

/** The initdb of a killed launcher keeps creating files in the folder that is being removed, for seconds, until one is missing. */
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 } as const;

/** A temporary folder beside the cluster's own, to create one in; its name marks it as disposable for later starts. */
export async function makeWorkshop(folder: string): Promise<string> {
  return mkdtemp(`${folder}.init-`);
}

/** Removes partly created clusters of killed starts, even if an orphan is still working on one. */
export async function removeUnfinished(folder: string): Promise<void> {
  const prefix = `${basename(folder)}.init-`;
  const siblings = await readdir(dirname(folder));
  const unfinished = siblings.filter((name) => name.startsWith(prefix));
  await Promise.all(unfinished.map((name) => rm(join(dirname(folder), name), REMOVAL)));
}
