import type { Secret } from '../common/crypto/secret.js';

/** What a provider needs to know the account: a key, and fields such as a project. */
export interface Credentials {
  readonly key: Secret | null;
  readonly fields: Readonly<Record<string, string>>;
}

/** How credentials become request headers. `none` is for providers that ask for no key. */
export interface AuthScheme {
  readonly id: 'bearer' | 'none';
  /** Header that carries the key, lower case; null when there is none. */
  readonly header: string | null;
  value(key: Secret): string;
}

export const bearer: AuthScheme = {
  id: 'bearer',
  header: 'authorization',
  value: (key) => `Bearer ${key.reveal()}`,
};

export const noAuth: AuthScheme = { id: 'none', header: null, value: () => '' };
