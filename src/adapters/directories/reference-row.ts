import type { SecretBox } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/settings/secret.js';
import { authPurpose } from '../../external-credentials/secret-managers/auth-purpose.js';
import type { ManagerType } from '../../external-credentials/secret-managers/manager-table.js';
import type { SecretLocation } from '../../external-credentials/secret-managers/secret-location.js';
import type { SecretPart } from '../../external-credentials/secret-managers/secret-text.js';

/** A secret reference as queries return it, in JSON: bytes are in base64. */
export interface ReferenceRow {
  readonly id: string;
  readonly slug: string;
  readonly organization_id: string;
  /** Changes with every change of the row. */
  readonly revision: string;
  readonly manager_type: ManagerType;
  readonly auth: Readonly<Record<string, string>>;
  readonly sealed_auth: string | null;
  readonly secret_path: string;
  readonly wrapped_key: string;
}

/** A field of a credential, and the secret that it is taken from. */
export interface MappingRow {
  /** `key`, or an account field of the provider. */
  readonly target_field: string;
  readonly secret_key: string | null;
  readonly value_format: SecretPart['format'];
  /** Null if the workspace must not use the reference, or no longer. */
  readonly reference: ReferenceRow | null;
}

/**
 * The mappings of a virtual key, or of the integration behind a workspace's provider, as `MappingRow`s; null without any. Uses the tables
 * of `USABLE_KEYS`.
 */
export const MAPPINGS = `
    (SELECT jsonb_agg(jsonb_build_object(
        'target_field', mapping ->> 'target_field',
        'secret_key', coalesce(mapping ->> 'secret_key', reference.secret_key),
        'value_format', mapping ->> 'value_format',
        'reference', CASE WHEN reference.id IS NOT NULL THEN jsonb_build_object(
          'id', reference.id, 'slug', reference.slug, 'organization_id', reference.organization_id,
          'revision', extract(epoch FROM reference.updated_at)::text,
          'manager_type', reference.manager_type, 'auth', reference.auth,
          'sealed_auth', encode(reference.sealed_auth, 'base64'), 'secret_path', reference.secret_path,
          'wrapped_key', encode(organization.wrapped_key, 'base64')) END))
      FROM jsonb_array_elements(coalesce(shared.secret_mappings, key.secret_mappings)) mapping
        LEFT JOIN secret_references reference ON reference.organization_id = key.organization_id
          AND reference.id = (mapping ->> 'secret_reference_id')::uuid
          AND (reference.allowed_workspace_ids IS NULL OR key.workspace_id = ANY (reference.allowed_workspace_ids)))`;

/** Throws `credential_unusable` if the manager's credential does not open. */
export function locationOf(box: SecretBox, row: ReferenceRow): SecretLocation {
  const { id, slug, organization_id: organizationId, manager_type: manager, auth, sealed_auth } = row;
  const place = { reference: slug, organizationId, manager, auth, path: row.secret_path };
  if (sealed_auth === null) return { ...place, secrets: {} };
  const key = { organizationId, wrapped: Buffer.from(row.wrapped_key, 'base64') };
  const purpose = authPurpose({ id, organizationId, manager, auth });
  const clear = box.openText(key, purpose, Buffer.from(sealed_auth, 'base64'));
  const secrets = Object.entries(JSON.parse(clear.reveal()) as Record<string, string>);
  return { ...place, secrets: Object.fromEntries(secrets.map(([name, value]) => [name, new Secret(value)])) };
}
