import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { anchorsIn, ChainAnchors } from '../../admin/audit/chain-anchors.js';
import { writeAtomically } from '../../common/files/write-atomically.js';
import { Secret } from '../../common/settings/secret.js';
import type { Settings } from '../../common/settings/settings.js';
import { type InstanceSecrets, keepSecrets, pathsOf, readSecrets } from '../data-folder.js';
import { LauncherError } from '../launcher-error.js';

/**
 * What a data folder holds and a database alone cannot replace. The spool is no part of it: its records belong to the machine, and the
 * service ships them within seconds.
 */
const content = z.object({
  master_key: z.string(),
  next_master_key: z.string().optional(),
  key_pepper: z.string(),
  /** The first API keys, as text of the file; null when the operator has moved it elsewhere. */
  bootstrap: z.string().nullable(),
  /** The ends of the audit chains, as text of the file; null when there are none yet. */
  audit_anchors: z.string().nullable(),
});
export type SecretContent = z.infer<typeof content>;

/** Read before the snapshot of the database, so that no anchor is later than its chain. */
export async function readContent(dataDir: string, secrets: InstanceSecrets): Promise<Secret> {
  const kept: SecretContent = {
    master_key: secrets.masterKey.reveal(),
    ...(secrets.nextMasterKey ? { next_master_key: secrets.nextMasterKey.reveal() } : {}),
    key_pepper: secrets.keyPepper.reveal(),
    bootstrap: await textOf(pathsOf(dataDir).bootstrap),
    audit_anchors: await textOf(new ChainAnchors(dataDir).path),
  };
  return new Secret(JSON.stringify(kept));
}

export const contentIn = (text: string): SecretContent => content.parse(JSON.parse(text));

export const instanceSecretsOf = (kept: SecretContent): InstanceSecrets => ({
  masterKey: new Secret(kept.master_key),
  nextMasterKey: kept.next_master_key === undefined ? undefined : new Secret(kept.next_master_key),
  keyPepper: new Secret(kept.key_pepper),
});

/** Rejects when a setting gives another key than the backup has: the service would refuse the restored database. */
export function checkSettings({ masterKey, keyPepper }: Settings, kept: SecretContent): void {
  const differ = (secret: Secret | undefined, known: string): boolean =>
    secret !== undefined && !Buffer.from(secret.reveal(), 'base64').equals(Buffer.from(known, 'base64'));
  const wrong = differ(masterKey, kept.master_key)
    ? 'GATEHOUSE_MASTER_KEY'
    : differ(keyPepper, kept.key_pepper)
      ? 'GATEHOUSE_KEY_PEPPER'
      : null;
  if (wrong)
    throw new LauncherError(
      `${wrong} differs from the one in the backup, and the restored database needs that one. Unset it to restore the key into secrets.json, or set the former one.`,
    );
}

/** Whether the data folder belongs to an installation with other keys. */
export async function hasOtherSecrets(dataDir: string, kept: SecretContent): Promise<boolean> {
  const there = await readSecrets(dataDir);
  return there !== null && (there.master_key !== kept.master_key || there.key_pepper !== kept.key_pepper);
}

/**
 * Writes the files of the backup into the data folder. Those of another installation are kept beside them, with `.replaced` in their names.
 * The snapshots for a start without the database would show the former one, so they are removed.
 */
export async function writeContent(settings: Settings, kept: SecretContent): Promise<void> {
  const { dataDir } = settings;
  const { secrets, bootstrap } = pathsOf(dataDir);
  if (await hasOtherSecrets(dataDir, kept)) await moveAway(secrets);
  if (!settings.masterKey || !settings.keyPepper)
    await keepSecrets(dataDir, {
      master_key: kept.master_key,
      ...(kept.next_master_key === undefined ? {} : { next_master_key: kept.next_master_key }),
      key_pepper: kept.key_pepper,
    });
  await writeFileOf(bootstrap, kept.bootstrap);
  const anchors = new ChainAnchors(dataDir);
  await moveAway(anchors.path);
  if (kept.audit_anchors !== null) await anchors.write(anchorsIn(kept.audit_anchors));
  await rm(join(dataDir, 'snapshots'), { recursive: true, force: true });
}

async function writeFileOf(path: string, text: string | null): Promise<void> {
  if ((await textOf(path)) === text) return;
  await moveAway(path);
  if (text !== null) await writeAtomically(path, text);
}

async function moveAway(path: string): Promise<void> {
  await rename(path, `${path}.replaced`).catch(unlessMissing);
}

async function textOf(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(unlessMissing);
}

function unlessMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}
