import type { ApiKeyKind } from './api-key-format.js';
import { type IssuedApiKey, issueApiKey } from './issued-api-key.js';
import type { Secret } from '../settings/secret.js';

/** Creates API keys hashed with the server's pepper. */
export class ApiKeyIssuer {
  constructor(private readonly pepper: Secret) {}

  issue(kind: ApiKeyKind): IssuedApiKey {
    return issueApiKey(kind, this.pepper);
  }
}
