import type { Secret } from '../common/settings/secret.js';

/** The account at a provider: a key, and fields such as a project. */
export interface Credentials {
  readonly key: Secret | null;
  readonly fields: Readonly<Record<string, string>>;
  /** The organization in whose name the identity of the machine is used instead of a key. Only stored credentials have it. */
  readonly identityFor?: string;
}

/** The account field of stored credentials that use the identity of the machine. Its only value is `enabled`. */
export const WORKLOAD_IDENTITY = 'workload-identity';

/** Signers for credentials that are more than a header: computed from the key and the fields, and some also from the request. */
export type SignerId = 'aws-sigv4' | 'google-service-account' | 'azure-entra';

/** How credentials become request headers. `none` is for providers without a key. */
export interface AuthScheme {
  readonly id: 'bearer' | 'header' | 'basic' | 'signed' | 'none';
  /** Header that carries the key, lower case; null when there is none. */
  readonly header: string | null;
  value(key: Secret): string;
  /** Computes the header, in place of `value`. */
  readonly signer?: SignerId;
}

export const bearer: AuthScheme = {
  id: 'bearer',
  header: 'authorization',
  value: (key) => `Bearer ${key.reveal()}`,
};

/** The bare key, or the key after a word, in a header of the provider's own: `x-api-key: …`, `authorization: Token …`. */
export function inHeader(header: string, word = ''): AuthScheme {
  const prefix = word === '' ? '' : `${word} `;
  return { id: 'header', header, value: (key) => prefix + key.reveal() };
}

/** The signer uses the stored key; a caller's own credential is sent in `Authorization`. */
export function signedBy(signer: SignerId): AuthScheme {
  return { id: 'signed', header: 'authorization', value: (key) => `Bearer ${key.reveal()}`, signer };
}

export const noAuth: AuthScheme = { id: 'none', header: null, value: () => '' };
