import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { associatedData } from '../../common/crypto/associated-data.js';
import { isCheckedBy } from '../../common/crypto/check-value.js';
import { openBytes, sealBytes } from '../../common/crypto/sealed-bytes.js';
import { Secret } from '../../common/settings/secret.js';

/** The part stored in the database. */
export interface KnownSealKey {
  readonly master_key_check: Buffer;
  /** Null until the master key is replaced for the first time. */
  readonly audit_seal_key: Buffer | null;
}

export const KNOWN_SEAL_KEY = 'SELECT master_key_check, audit_seal_key FROM installation WHERE id = 1';

const KEY_BYTES = 32;
const PLACE = associatedData(['audit seal key']);

/**
 * The key of the audit seals, 32 bytes in base64. It is derived from the first master key; once that is replaced, it is stored in the
 * database, sealed with the current one, so that earlier records stay valid. `masterKeys`: those of this process, one of which must be the
 * database's.
 */
export function auditSealKey(known: KnownSealKey | undefined, masterKeys: readonly Secret[]): Secret {
  const [first] = masterKeys;
  if (!first) throw new Error('There is no master key.');
  const own = known ? masterKeys.find((key) => isCheckedBy(key, known.master_key_check)) : first;
  if (!own) throw new Error('The master key does not open this database.');
  if (!known?.audit_seal_key) return derived(own, 'gatehouse/audit-seals');
  return new Secret(openBytes(keeperOf(own), PLACE, known.audit_seal_key).toString('base64'));
}

/** As stored in the database. */
export function sealedSealKey(key: Secret, masterKey: Secret): Buffer {
  return sealBytes(keeperOf(masterKey), PLACE, Buffer.from(key.reveal(), 'base64'));
}

const keeperOf = (masterKey: Secret): KeyObject =>
  createSecretKey(Buffer.from(derived(masterKey, 'gatehouse/kept-audit-seal-key').reveal(), 'base64'));

function derived(masterKey: Secret, use: string): Secret {
  const master = Buffer.from(masterKey.reveal(), 'base64');
  return new Secret(
    Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), use, KEY_BYTES)).toString('base64'),
  );
}
