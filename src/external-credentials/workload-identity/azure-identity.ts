import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import type { AzureIdentitySettings } from '../../common/settings/external-credential-settings.js';
import type { Egress } from '../../egress/egress.js';
import type { Token } from '../tokens/token-cache.js';
import { callTokenService, FORM, oauthToken, unusable } from '../tokens/token-service.js';

/** https://learn.microsoft.com/en-us/entra/identity/managed-identities-azure-resources/how-to-use-vm-token#get-a-token-using-http */
const METADATA = 'http://169.254.169.254/metadata/identity/oauth2/token';
const METADATA_VERSION = '2018-02-01';
/** https://learn.microsoft.com/en-us/azure/app-service/overview-managed-identity#rest-endpoint-reference */
const APP_SERVICE_VERSION = '2019-08-01';
/** https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow#third-case-access-token-request-with-a-federated-credential */
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const AUTHORITY = 'https://login.microsoftonline.com';
const TIMEOUT_MS = 5_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** What a token is for. */
export interface AzureTokenRequest {
  readonly scope: string;
  /** A user-assigned identity instead of the machine's own. */
  readonly clientId?: string | undefined;
}

/**
 * A token of the machine's identity: by its federated token (workload identity of Kubernetes), else from App Service, else from the metadata
 * service of a virtual machine. Rejects with `credential_unusable` and `upstream_error`.
 */
export function azureIdentityToken(
  egress: Egress,
  settings: AzureIdentitySettings,
  request: AzureTokenRequest,
): Promise<Token<string>> {
  const { federatedTokenFile, tenantId, endpoint, header } = settings;
  const clientId = request.clientId ?? settings.clientId;
  if (federatedTokenFile !== undefined && tenantId !== undefined && clientId !== undefined)
    return federatedToken(egress, {
      file: federatedTokenFile,
      authority: settings.authorityHost ?? AUTHORITY,
      tenantId,
      clientId,
      scope: request.scope,
    });
  const named: Readonly<Record<string, string>> = clientId === undefined ? {} : { client_id: clientId };
  const resource = request.scope.replace(/\/\.default$/, '');
  if (endpoint !== undefined && header !== undefined)
    return metadataToken(
      endpoint,
      { 'api-version': APP_SERVICE_VERSION, resource, ...named },
      { 'x-identity-header': header.reveal() },
    );
  return metadataToken(
    settings.metadataUrl ?? METADATA,
    { 'api-version': METADATA_VERSION, resource, ...named },
    { metadata: 'true' },
  );
}

interface FederatedIdentity {
  readonly file: string;
  readonly authority: string;
  readonly tenantId: string;
  readonly clientId: string;
  readonly scope: string;
}

/** The file is read each time: Kubernetes replaces it. */
async function federatedToken(
  egress: Egress,
  { file, authority, tenantId, clientId, scope }: FederatedIdentity,
): Promise<Token<string>> {
  const assertion = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unusable(error);
  });
  const form = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: assertion.trim(),
    scope,
  };
  const answer = await callTokenService(egress, {
    origin: new URL(authority).origin,
    path: `/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`,
    headers: ['content-type', FORM],
    body: new URLSearchParams(form).toString(),
  });
  return tokenIn(answer);
}

/** A service of the machine itself: no proxy, and none of the addresses that a tenant may name. */
function metadataToken(
  address: string,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Promise<Token<string>> {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return new Promise((resolve, reject) => {
    const failed = (cause?: unknown): void =>
      reject(
        new AppError(
          'upstream_error',
          { detail: 'the identity service of Azure did not respond' },
          { cause },
        ),
      );
    const call = request(url, { headers, timeout: TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES_MAX) call.destroy(new Error('The response is too long.'));
        else chunks.push(chunk);
      });
      response.on('error', failed);
      response.on('end', () => {
        const { statusCode = 0 } = response;
        if (statusCode >= 500 || statusCode === 429) return failed();
        if (statusCode !== 200)
          return reject(unusable(new Error(`The identity service returned ${statusCode}.`)));
        try {
          resolve(tokenIn(Buffer.concat(chunks).toString('utf8')));
        } catch (error) {
          reject(AppError.from(error));
        }
      });
    });
    call.on('timeout', () => call.destroy(new Error('The identity service did not respond in time.')));
    call.on('error', failed);
    call.end();
  });
}

/** App Service returns `expires_on`, seconds since the epoch, instead of `expires_in`. */
function tokenIn(text: string): Token<string> {
  const { token, expiresIn } = oauthToken(text);
  if (expiresIn > 0) return { value: token, expiresAt: Date.now() + expiresIn * 1_000 };
  const { expires_on: end } = JSON.parse(text) as { readonly expires_on?: unknown };
  return { value: token, expiresAt: Number(end) > 0 ? Number(end) * 1_000 : Date.now() };
}
