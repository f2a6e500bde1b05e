import type { Egress } from '../../../egress/egress.js';
import type { Target } from '../../types/target.js';
import type { WireRequest } from '../wire.js';
import { requiredField } from './credential-field.js';
import { type Signer, withBearer } from './signer.js';
import { credentialId, type Token, TokenCache } from './token-cache.js';
import { callTokenService, FORM, oauthToken } from './token-service.js';

const ORIGIN = 'https://login.microsoftonline.com';
const DEFAULT_SCOPE = 'https://cognitiveservices.azure.com/.default';

/** An id, or a verified domain: it becomes a segment of the path. */
const TENANT = /^[A-Za-z0-9](?:[A-Za-z0-9-]|\.(?!\.)){0,253}$/;
const CLIENT_ID = /^[A-Za-z0-9-]{1,64}$/;
const SCOPE = /^[!-~]{1,512}$/;

interface Application {
  readonly tenant: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

/**
 * An application of Microsoft Entra ID: the key is its client secret, which is exchanged for access tokens
 * (https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow).
 */
export class AzureSigner implements Signer {
  private readonly tokens = new TokenCache<string>();

  constructor(private readonly egress: Egress) {}

  sign(request: WireRequest, { credentials: { key, fields } }: Target): WireRequest | Promise<WireRequest> {
    if (key === null) return request;
    const application = {
      tenant: requiredField(fields['azure-entra-tenant-id'], TENANT),
      clientId: requiredField(fields['azure-entra-client-id'], CLIENT_ID),
      clientSecret: key.reveal(),
      scope: requiredField(fields['azure-entra-scope'] || DEFAULT_SCOPE, SCOPE),
    };
    const { tenant, clientId, clientSecret, scope } = application;
    const id = credentialId(tenant, clientId, clientSecret, scope);
    const token = this.tokens.get(id, () => this.buy(application));
    return typeof token === 'string'
      ? withBearer(request, token)
      : token.then((bought) => withBearer(request, bought));
  }

  private async buy({ tenant, clientId, clientSecret, scope }: Application): Promise<Token<string>> {
    const form = {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope,
    };
    const answer = await callTokenService(this.egress, {
      origin: ORIGIN,
      path: `/${tenant}/oauth2/v2.0/token`,
      headers: ['content-type', FORM],
      body: new URLSearchParams(form).toString(),
    });
    const { token, expiresIn } = oauthToken(answer);
    return { value: token, expiresAt: Date.now() + expiresIn * 1_000 };
  }
}
