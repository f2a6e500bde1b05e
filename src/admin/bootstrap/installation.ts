import type { DataSource, EntityManager } from 'typeorm';
import { checkValueOf, isCheckedBy } from '../../common/crypto/check-value.js';
import type { Secret } from '../../common/settings/secret.js';

/** The keys of an installation. Each is 32 bytes in base64 and is stored outside the database; the pepper must not change. */
export interface InstallationKeys {
  readonly masterKey: Secret;
  /** The key that is replacing it, during a rotation. */
  readonly nextMasterKey?: Secret | undefined;
  readonly keyPepper: Secret;
}

interface CheckValues {
  readonly master_key_check: Buffer;
  readonly key_pepper_check: Buffer;
}

/** Stores check values of the keys. Does nothing when they are already stored. */
export async function rememberKeys(manager: EntityManager, keys: InstallationKeys): Promise<void> {
  await manager.query(
    'INSERT INTO installation (id, master_key_check, key_pepper_check) VALUES (1, $1, $2) ON CONFLICT DO NOTHING',
    [checkValueOf(keys.masterKey), checkValueOf(keys.keyPepper)],
  );
}

/** Rejects when the database uses another master key: its credentials could not be opened. */
export async function verifyMasterKey(
  store: DataSource | EntityManager,
  { masterKey, nextMasterKey }: Pick<InstallationKeys, 'masterKey' | 'nextMasterKey'>,
): Promise<void> {
  const known = await checkValues(store);
  const keys = nextMasterKey ? [masterKey, nextMasterKey] : [masterKey];
  if (known && !keys.some((key) => isCheckedBy(key, known.master_key_check)))
    throw new Error(
      'The master key does not open this database. Start with the GATEHOUSE_MASTER_KEY it was set up with.',
    );
}

/** Rejects when the database uses another pepper: none of its API keys would be recognized. */
export async function verifyKeyPepper(store: DataSource | EntityManager, keyPepper: Secret): Promise<void> {
  const known = await checkValues(store);
  if (known && !isCheckedBy(keyPepper, known.key_pepper_check))
    throw new Error(
      'The key pepper is not the one of this database. Start with the GATEHOUSE_KEY_PEPPER it was set up with.',
    );
}

async function checkValues(store: DataSource | EntityManager): Promise<CheckValues | undefined> {
  const [row] = await store.query<CheckValues[]>(
    'SELECT master_key_check, key_pepper_check FROM installation WHERE id = 1',
  );
  return row;
}
