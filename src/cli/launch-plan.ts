import { access, constants, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Secret } from '../common/settings/secret.js';
import type { Settings } from '../common/settings/settings.js';
import { type InstanceSecrets, pathsOf } from './data-folder.js';
import { writeAtomically } from '../common/files/write-atomically.js';
import { LauncherError } from './launcher-error.js';

const NEXT_KEY = 'GATEHOUSE_NEXT_MASTER_KEY';

/** Environment for children, beyond the one that this process got itself. */
export type ChildEnvironment = Readonly<Record<string, string>>;

/**
 * Passes the settings to child processes. Secrets go through files (mode 0600) that the environment only names, and their variables become
 * empty, which counts as unset: process lists show the environment. The file with the database URL follows once there is one:
 * `giveDatabaseUrl`.
 */
export async function childEnvironment(
  { dataDir, adminSocket }: Settings,
  port: number,
  { masterKey, nextMasterKey, keyPepper }: InstanceSecrets,
): Promise<ChildEnvironment> {
  await forgetChildEnvironment(dataDir);
  await mkdir(pathsOf(dataDir).run, { recursive: true, mode: 0o700 });
  await writeSecretFile(dataDir, 'GATEHOUSE_MASTER_KEY', masterKey);
  await writeSecretFile(dataDir, 'GATEHOUSE_KEY_PEPPER', keyPepper);
  if (nextMasterKey) await writeSecretFile(dataDir, NEXT_KEY, nextMasterKey);
  const names = ['DATABASE_URL', 'GATEHOUSE_MASTER_KEY', 'GATEHOUSE_KEY_PEPPER'];
  if (nextMasterKey) names.push(NEXT_KEY);
  const handed = names.flatMap((name) => [
    [name, ''],
    [`${name}_FILE`, secretFilePath(dataDir, name)],
  ]);
  const plain = {
    ...NOT_FOR_CHILDREN,
    GATEHOUSE_PORT: String(port),
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_ADMIN_SOCKET: adminSocket
      ? await usableSocketPath(adminSocket)
      : await socketPath(pathsOf(dataDir).run),
  };
  return { ...(Object.fromEntries(handed) as ChildEnvironment), ...plain };
}

/** The shortest limit among systems is macOS's 104 bytes with the final NUL: https://man.freebsd.org/cgi/man.cgi?query=unix&sektion=4 */
const SOCKET_PATH_BYTES_MAX = 103;

/** In the data folder; if that path is too long for a socket, in a closed temporary folder. */
async function socketPath(runDir: string): Promise<string> {
  const path = join(runDir, 'admin.sock');
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return path;
  return join(await mkdtemp(join(tmpdir(), 'gatehouse-')), 'admin.sock');
}

/** Otherwise the administration would fail at each start, and the service would wait for it silently. */
async function usableSocketPath(path: string): Promise<string> {
  const refused = (reason: string): LauncherError =>
    new LauncherError(
      `The socket ${path} cannot be made (${reason}). Set GATEHOUSE_ADMIN_SOCKET to a path of at most ${SOCKET_PATH_BYTES_MAX} bytes in a folder that this user may write to, or leave it out.`,
    );
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) throw refused('the path is too long');
  await access(dirname(path), constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw refused((error as NodeJS.ErrnoException).code ?? String(error));
  });
  return path;
}

export async function giveDatabaseUrl(dataDir: string, url: Secret): Promise<void> {
  await writeSecretFile(dataDir, 'DATABASE_URL', url);
}

/** Whether the service that runs on this data folder was started with this key as the next one. */
export async function runsWithNextKey(dataDir: string, nextMasterKey: Secret): Promise<boolean> {
  const handed = await readFile(secretFilePath(dataDir, NEXT_KEY), 'utf8').catch(() => null);
  return handed === nextMasterKey.reveal();
}

/** Only the launcher creates the first owner. */
const NOT_FOR_CHILDREN = {
  GATEHOUSE_INIT_OWNER_EMAIL: '',
  GATEHOUSE_INIT_OWNER_PASSWORD: '',
  GATEHOUSE_INIT_OWNER_PASSWORD_FILE: '',
};

async function writeSecretFile(dataDir: string, name: string, secret: Secret): Promise<void> {
  await writeAtomically(secretFilePath(dataDir, name), secret.reveal());
}

function secretFilePath(dataDir: string, name: string): string {
  return join(pathsOf(dataDir).run, name.toLowerCase());
}

/** Files left by a killed instance are invalid. */
export async function forgetChildEnvironment(dataDir: string): Promise<void> {
  await rm(pathsOf(dataDir).run, { recursive: true, force: true });
}

/**
 * Connections that the embedded server must allow: a pool per process, as many again for queues and change listeners, and some for the
 * launcher and a psql session.
 */
export function connectionsNeeded({ processes, databasePoolSize }: Settings): number {
  return 20 + (processes + 2) * (databasePoolSize + 12);
}
