import type { Egress } from '../../../egress/egress.js';
import type { Target } from '../../types/target.js';
import type { WireRequest } from '../wire.js';
import type { WorkloadIdentity } from '../../../external-credentials/workload-identity/workload-identity.js';
import { mapMaybePromise } from '../../../common/maybe-promise.js';
import { requiredField } from './credential-field.js';
import { type Signer, withBearer } from './signer.js';
import { entraToken } from '../../../external-credentials/tokens/entra-token.js';
import { credentialId, TokenCache } from '../../../external-credentials/tokens/token-cache.js';

const DEFAULT_SCOPE = 'https://cognitiveservices.azure.com/.default';

/** An id, or a verified domain: it becomes a segment of the path. */
const TENANT = /^[A-Za-z0-9](?:[A-Za-z0-9-]|\.(?!\.)){0,253}$/;
const CLIENT_ID = /^[A-Za-z0-9-]{1,64}$/;
const SCOPE = /^[!-~]{1,512}$/;

/**
 * An application of Microsoft Entra ID: the key is its client secret, which is exchanged for access tokens
 * (https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow).
 */
export class AzureSigner implements Signer {
  private readonly tokens = new TokenCache<string>();

  constructor(
    private readonly egress: Egress,
    private readonly identity: WorkloadIdentity,
  ) {}

  sign(
    request: WireRequest,
    { credentials: { key, fields, identityFor } }: Target,
  ): WireRequest | Promise<WireRequest> {
    const scope = requiredField(fields['azure-entra-scope'] || DEFAULT_SCOPE, SCOPE);
    if (identityFor !== undefined) {
      const token = this.identity.azure(identityFor, scope, fields['azure-managed-client-id']);
      return mapMaybePromise(token, (bearer) => withBearer(request, bearer));
    }
    if (key === null) return request;
    const application = {
      tenant: requiredField(fields['azure-entra-tenant-id'], TENANT),
      clientId: requiredField(fields['azure-entra-client-id'], CLIENT_ID),
      clientSecret: key.reveal(),
      scope,
    };
    const { tenant, clientId, clientSecret } = application;
    const id = credentialId(tenant, clientId, clientSecret, scope);
    const token = this.tokens.get(id, () => entraToken(this.egress, application));
    return mapMaybePromise(token, (bought) => withBearer(request, bought));
  }
}
