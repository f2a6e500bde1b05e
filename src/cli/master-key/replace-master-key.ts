import type { Client } from 'pg';
import {
  auditSealKey,
  KNOWN_SEAL_KEY,
  type KnownSealKey,
  sealedSealKey,
} from '../../admin/audit/audit-seal-key.js';
import { checkValueOf, isCheckedBy } from '../../common/crypto/check-value.js';
import { SecretBox, type WrappedKey } from '../../common/crypto/envelope.js';
import type { Secret } from '../../common/settings/secret.js';
import { wrongKey } from '../database/schema-state.js';
import { LauncherError } from '../launcher-error.js';

/** The current and the next master key. */
export interface Replacement {
  readonly present: Secret;
  readonly next: Secret;
}

/**
 * Reseals with the next master key what the current one sealed: the keys of organizations, which seal everything else, and the key of the
 * audit seals. Atomic and idempotent. Returns the number of organizations, or null if the database already uses the next key.
 */
export async function replaceMasterKey(
  client: Client,
  { present, next }: Replacement,
): Promise<number | null> {
  await client.query('BEGIN');
  try {
    const { rows } = await client.query<KnownSealKey>(`${KNOWN_SEAL_KEY} FOR UPDATE`);
    const [known] = rows;
    const organizations = known ? await replaceIn(client, known, { present, next }) : null;
    await client.query('COMMIT');
    return organizations;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function replaceIn(
  client: Client,
  known: KnownSealKey,
  { present, next }: Replacement,
): Promise<number | null> {
  if (isCheckedBy(next, known.master_key_check)) return null;
  if (!isCheckedBy(present, known.master_key_check))
    throw new LauncherError(wrongKey('GATEHOUSE_MASTER_KEY'));
  const box = new SecretBox(next, present);
  const { rows } = await client.query<WrappedKey>(
    'SELECT id AS "organizationId", wrapped_key AS wrapped FROM organizations ORDER BY id FOR UPDATE',
  );
  for (const key of rows)
    await client.query('UPDATE organizations SET wrapped_key = $2 WHERE id = $1', [
      key.organizationId,
      box.rewrap(key).wrapped,
    ]);
  await client.query('UPDATE installation SET master_key_check = $1, audit_seal_key = $2 WHERE id = 1', [
    checkValueOf(next),
    sealedSealKey(auditSealKey(known, [present]), next),
  ]);
  return rows.length;
}
