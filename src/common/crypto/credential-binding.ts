import type { CredentialBinding } from './envelope.js';

/** The columns that determine where the credentials are sent: of a virtual key, or of an integration, which may have no workspace. */
export interface BoundKey {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string | null;
  readonly providerId: string;
  readonly customHost: string | null;
}

/**
 * The binding of this row's credentials. It is built from the values that determine where they are sent, never from a stored copy:
 * credentials do not open for a row that was changed to another host or provider.
 */
export function credentialBindingOf(key: BoundKey): CredentialBinding {
  return {
    organizationId: key.organizationId,
    workspaceId: key.workspaceId ?? '',
    virtualKeyId: key.id,
    providerId: key.providerId,
    origin: key.customHost === null ? '' : new URL(key.customHost).origin,
    fieldSetVersion: 1,
  };
}
