import { type ApiKeyKind, mintApiKey, visiblePartsOf } from './api-key-format.js';
import { hashApiKey } from './key-hash.js';
import type { Secret } from '../settings/secret.js';

/** A new API key: the secret, to be shown once, and the parts that may be stored. */
export interface IssuedApiKey {
  readonly secret: Secret;
  readonly stored: { readonly keyHash: Buffer; readonly prefix: string; readonly lastFour: string };
}

export function issueApiKey(kind: ApiKeyKind, pepper: Secret): IssuedApiKey {
  const secret = mintApiKey(kind);
  return { secret, stored: { keyHash: hashApiKey(pepper, secret.reveal()), ...visiblePartsOf(secret) } };
}
