import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Secret } from '../common/settings/secret.js';
import type { Settings } from '../common/settings/settings.js';
import { writeAtomically } from '../common/files/write-atomically.js';
import { LauncherError } from './launcher-error.js';

/** Paths in the data folder. */
export function pathsOf(dataDir: string) {
  return {
    secrets: join(dataDir, 'secrets.json'),
    bootstrap: join(dataDir, 'bootstrap.json'),
    postgres: join(dataDir, 'postgres'),
    /** Files that exist while the service runs: child processes read their secrets from them. */
    run: join(dataDir, 'run'),
  } as const;
}

/**
 * Creates the data folder, closed to other users. For root it stays passable (0711): the embedded database runs as another user and must
 * reach its own folder inside. The files in it are closed individually.
 */
export async function openDataFolder(dataDir: string): Promise<void> {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  try {
    await makeFolder(dataDir, mode);
    if (!(await stat(dataDir)).isDirectory()) throw new Error('it is not a folder');
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    const known = FOLDER_FAULTS[reason] ?? `cannot be used (${reason}). Make it writable for this user`;
    throw new LauncherError(
      `The data folder ${dataDir} ${known}, or set GATEHOUSE_DATA_DIR to another folder.`,
    );
  }
}

const FOLDER_FAULTS: Readonly<Record<string, string>> = {
  EEXIST: 'is a file. Remove it',
  ENOTDIR: 'is below a file. Remove that file',
  ENOENT: 'cannot be created: the system makes no folders there. Create it yourself',
};

/**
 * Creates a folder and its missing parents. Not with `recursive`, which retries indefinitely where an existing folder rejects mkdir with
 * ENOENT, as /proc and automounters do.
 */
async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isThere = code === 'EEXIST' && (await stat(path)).isDirectory();
    if (isThere) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    await makeFolder(dirname(path), mode);
    await mkdir(path, { mode });
  }
}

/** Secrets without which the database is unusable. */
export interface InstanceSecrets {
  /** Encrypts stored credentials: 32 random bytes in base64. */
  readonly masterKey: Secret;
  /** The key that is replacing it, during a rotation. */
  readonly nextMasterKey?: Secret | undefined;
  /** Secret for the hashes of API keys: 32 random bytes in base64. */
  readonly keyPepper: Secret;
}

const KEY_BYTES = 32;
const key = z.string().refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES);
const secretsFile = z.object({ master_key: key, next_master_key: key.optional(), key_pepper: key });
type SecretsFile = z.infer<typeof secretsFile>;

/**
 * The master key and the pepper: from the settings, else from `secrets.json` in the data folder, created there (mode 0600) on the first
 * call. A folder with a database but without its secrets is refused: new ones would make every stored credential and API key unusable, with
 * no visible error.
 */
export async function resolveSecrets(
  settings: Pick<Settings, 'dataDir' | 'masterKey' | 'nextMasterKey' | 'keyPepper'>,
): Promise<InstanceSecrets> {
  const { masterKey, nextMasterKey, keyPepper } = settings;
  if (masterKey && keyPepper) return { masterKey, nextMasterKey, keyPepper };
  const kept = (await readSecrets(settings.dataDir)) ?? (await makeSecrets(settings.dataDir));
  return {
    ...(masterKey ? { masterKey, nextMasterKey } : masterKeysIn(kept)),
    keyPepper: keyPepper ?? new Secret(kept.key_pepper),
  };
}

const masterKeysIn = ({ master_key, next_master_key }: SecretsFile) => ({
  masterKey: new Secret(master_key),
  nextMasterKey: next_master_key === undefined ? undefined : new Secret(next_master_key),
});

/** The keys of this instance, the current one first. */
export function masterKeysOf({
  masterKey,
  nextMasterKey,
}: Pick<InstanceSecrets, 'masterKey' | 'nextMasterKey'>): readonly Secret[] {
  return nextMasterKey ? [masterKey, nextMasterKey] : [masterKey];
}

/** Adds a new master key to `secrets.json`, beside the current one. */
export async function proposeMasterKey(dataDir: string): Promise<Secret> {
  const next = randomKey();
  await changeSecrets(dataDir, (kept) => ({ ...kept, next_master_key: next }));
  return new Secret(next);
}

/** Makes this the only master key in `secrets.json`. */
export async function settleMasterKey(dataDir: string, masterKey: Secret): Promise<void> {
  await changeSecrets(dataDir, ({ key_pepper }) => ({ master_key: masterKey.reveal(), key_pepper }));
}

async function changeSecrets(dataDir: string, changed: (kept: SecretsFile) => SecretsFile): Promise<void> {
  const kept = await readSecrets(dataDir);
  if (!kept) throw new LauncherError(`${pathsOf(dataDir).secrets} has no secrets.`);
  await keepSecrets(dataDir, changed(kept));
}

/** Replaces `secrets.json`. */
export const keepSecrets = (dataDir: string, secrets: SecretsFile): Promise<void> =>
  writeAtomically(pathsOf(dataDir).secrets, `${JSON.stringify(secrets, null, 2)}\n`);

/** The content of `secrets.json`, or null without the file. Rejects when it is damaged. */
export async function readSecrets(dataDir: string): Promise<SecretsFile | null> {
  const path = pathsOf(dataDir).secrets;
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new LauncherError(`The secrets in ${path} cannot be read (${code ?? message}).`);
  });
  if (text === null) return null;
  const parsed = secretsFile.safeParse(jsonOrNull(text));
  if (parsed.success) return parsed.data;
  throw new LauncherError(
    `The secrets in ${path} are damaged. Restore the file from a backup: without it stored credentials and API keys cannot be read.`,
  );
}

async function makeSecrets(dataDir: string): Promise<SecretsFile> {
  const { postgres } = pathsOf(dataDir);
  if (existsSync(postgres))
    throw new LauncherError(
      `The data folder ${dataDir} holds a database but no secrets.json. Restore that file from a backup, or give GATEHOUSE_MASTER_KEY and GATEHOUSE_KEY_PEPPER: the stored credentials and API keys need the same ones as before.`,
    );
  const made = { master_key: randomKey(), key_pepper: randomKey() };
  await keepSecrets(dataDir, made);
  return made;
}

function randomKey(): string {
  return randomBytes(KEY_BYTES).toString('base64');
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
