import type { Egress } from '../../egress/egress.js';
import type { Token } from './token-cache.js';
import { callTokenService, FORM, oauthToken } from './token-service.js';

const ORIGIN = 'https://login.microsoftonline.com';

/** An application of Microsoft Entra ID, and what its token is for. */
export interface EntraApplication {
  /** An id, or a verified domain: it becomes a segment of the path. */
  readonly tenant: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
}

/** https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
export async function entraToken(
  egress: Egress,
  { tenant, clientId, clientSecret, scope }: EntraApplication,
): Promise<Token<string>> {
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope,
  };
  const answer = await callTokenService(egress, {
    origin: ORIGIN,
    path: `/${tenant}/oauth2/v2.0/token`,
    headers: ['content-type', FORM],
    body: new URLSearchParams(form).toString(),
  });
  const { token, expiresIn } = oauthToken(answer);
  return { value: token, expiresAt: Date.now() + expiresIn * 1_000 };
}
