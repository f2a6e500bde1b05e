import type { Secret } from '../common/settings/secret.js';

/** What a provider needs to know the account: a key, and fields such as a project. */
export interface Credentials {
  readonly key: Secret | null;
  readonly fields: Readonly<Record<string, string>>;
}

/** Credentials that are more than a header: they are worked out from the key and the fields, and some from the request. */
export type SignerId = 'aws-sigv4' | 'google-service-account' | 'azure-entra';

/** How credentials become request headers. `none` is for providers that ask for no key. */
export interface AuthScheme {
  readonly id: 'bearer' | 'header' | 'basic' | 'signed' | 'none';
  /** Header that carries the key, lower case; null when there is none. */
  readonly header: string | null;
  value(key: Secret): string;
  /** Who works the header out, in place of `value`. */
  readonly signer?: SignerId;
}

export const bearer: AuthScheme = {
  id: 'bearer',
  header: 'authorization',
  value: (key) => `Bearer ${key.reveal()}`,
};

/** The bare key, or the key behind a word, in a header of the provider's own: `x-api-key: …`, `authorization: Token …`. */
export function inHeader(header: string, word = ''): AuthScheme {
  const prefix = word === '' ? '' : `${word} `;
  return { id: 'header', header, value: (key) => prefix + key.reveal() };
}

/** The signer takes the key; a caller who brings its own credential sends it in `Authorization`. */
export function signedBy(signer: SignerId): AuthScheme {
  return { id: 'signed', header: 'authorization', value: (key) => `Bearer ${key.reveal()}`, signer };
}

export const noAuth: AuthScheme = { id: 'none', header: null, value: () => '' };
