import type { Egress } from '../../../egress/egress.js';
import type { Target } from '../../types/target.js';
import type { WireRequest } from '../wire.js';
import { serviceAccountToken } from '../../../external-credentials/tokens/service-account-token.js';
import { credentialId, TokenCache } from '../../../external-credentials/tokens/token-cache.js';
import type { WorkloadIdentity } from '../../../external-credentials/workload-identity/workload-identity.js';
import { mapMaybePromise } from '../../../common/maybe-promise.js';
import { type Signer, withBearer } from './signer.js';

/**
 * A service account of Google Cloud: the key is its JSON file, which is exchanged for access tokens
 * (https://developers.google.com/identity/protocols/oauth2/service-account). A key that is not JSON is an access token itself. The
 * `token_uri` of the file is not called: a file could name any address.
 */
export class GoogleSigner implements Signer {
  private readonly tokens = new TokenCache<string>();

  constructor(
    private readonly egress: Egress,
    private readonly identity: WorkloadIdentity,
  ) {}

  sign(
    request: WireRequest,
    { credentials: { key, identityFor } }: Target,
  ): WireRequest | Promise<WireRequest> {
    if (identityFor !== undefined)
      return mapMaybePromise(this.identity.google(identityFor), (token) => withBearer(request, token));
    if (key === null) return request;
    const text = key.reveal().trim();
    if (!text.startsWith('{')) return withBearer(request, text);
    const token = this.tokens.get(credentialId(text), () => serviceAccountToken(this.egress, text));
    return mapMaybePromise(token, (bought) => withBearer(request, bought));
  }
}
