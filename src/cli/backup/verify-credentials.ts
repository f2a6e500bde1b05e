import type { Client } from 'pg';
import { type BoundKey, credentialBindingOf } from '../../common/crypto/credential-binding.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import type { InstanceSecrets } from '../data-folder.js';

/** Stored credentials that were tried, and how many of them open. */
export interface CredentialCheck {
  readonly tried: number;
  readonly opened: number;
}

interface StoredCredential extends BoundKey {
  readonly sealed: Buffer;
  readonly wrapped: Buffer;
}

const MOST_TRIED = 1_000;

/** The newest of virtual keys and of integrations. */
const CREDENTIALS = ['virtual_keys', 'integrations']
  .map(
    (table) => `
  (SELECT k.id, k.organization_id AS "organizationId", k.workspace_id AS "workspaceId", k.provider_id AS "providerId",
     k.custom_host AS "customHost", k.sealed_credentials AS sealed, o.wrapped_key AS wrapped
   FROM ${table} k JOIN organizations o ON o.id = k.organization_id
   WHERE k.sealed_credentials IS NOT NULL ORDER BY k.id DESC LIMIT ${MOST_TRIED})`,
  )
  .join(' UNION ALL ');

const ORGANIZATIONS = `SELECT id AS "organizationId", wrapped_key AS wrapped FROM organizations LIMIT ${MOST_TRIED}`;

/** Opens the keys of organizations and stored credentials with the master key. No plaintext leaves this function. */
export async function verifyCredentials(
  client: Client,
  { masterKey, nextMasterKey }: InstanceSecrets,
): Promise<CredentialCheck> {
  const box = new SecretBox(masterKey, nextMasterKey);
  const opens = (work: () => unknown): boolean => {
    try {
      work();
      return true;
    } catch {
      return false;
    }
  };
  const { rows: keys } = await client.query<{ organizationId: string; wrapped: Buffer }>(ORGANIZATIONS);
  const { rows } = await client.query<StoredCredential>(CREDENTIALS);
  const results = [
    ...keys.map((key) => opens(() => box.rewrap(key))),
    ...rows.map((row) => opens(() => box.open(row, credentialBindingOf(row), row.sealed))),
  ];
  return { tried: results.length, opened: results.filter(Boolean).length };
}
