import { type ApiKeyKind, mintApiKey, visiblePartsOf } from './api-key-format.js';
import type { Secret } from '../settings/secret.js';
import { hashApiKey } from './key-hash.js';

/** A new API key: the secret, to be shown once, and the parts that may be stored. */
interface IssuedApiKey {
  readonly secret: Secret;
  readonly stored: { readonly keyHash: Buffer; readonly prefix: string; readonly lastFour: string };
}

function issueApiKey(kind: ApiKeyKind, pepper: Secret): IssuedApiKey {
  const secret = mintApiKey(kind);
  return { secret, stored: { keyHash: hashApiKey(pepper, secret.reveal()), ...visiblePartsOf(secret) } };
}

/** Creates API keys hashed with the server's pepper. */
export class ApiKeyIssuer {
  constructor(private readonly pepper: Secret) {}

  issue(kind: ApiKeyKind): IssuedApiKey {
    return issueApiKey(kind, this.pepper);
  }
}
