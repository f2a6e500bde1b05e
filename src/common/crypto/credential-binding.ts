import type { CredentialBinding } from './envelope.js';

/** The columns that say where the credentials will be sent: of a virtual key, or of an integration, which may have no workspace. */
export interface BoundKey {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string | null;
  readonly providerId: string;
  readonly customHost: string | null;
}

/**
 * What the credentials of this row are sealed for. It is read from the values that decide where they will be sent,
 * never from a stored copy: a row that somebody pointed at another host or provider does not open.
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
