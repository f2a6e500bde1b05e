import { createPrivateKey, sign } from 'node:crypto';
import type { Egress } from '../../egress/egress.js';
import type { Token } from './token-cache.js';
import { callTokenService, FORM, oauthToken, unusable } from './token-service.js';

const ORIGIN = 'https://oauth2.googleapis.com';
const PATH = '/token';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The scope of every Vertex AI method: https://cloud.google.com/vertex-ai/docs/reference/rest */
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/** Google's maximum. */
const ASSERTION_SECONDS = 3_600;

interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | null;
  readonly privateKey: string;
}

/**
 * An access token for a service account of Google Cloud, from its JSON file
 * (https://developers.google.com/identity/protocols/oauth2/service-account). The `token_uri` of the file is not called: a file could name
 * any address.
 */
export async function serviceAccountToken(egress: Egress, file: string): Promise<Token<string>> {
  const assertion = assertionOf(serviceAccountOf(file), Math.floor(Date.now() / 1_000));
  const answer = await callTokenService(egress, {
    origin: ORIGIN,
    path: PATH,
    headers: ['content-type', FORM],
    body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
  });
  const { token, expiresIn } = oauthToken(answer);
  return { value: token, expiresAt: Date.now() + expiresIn * 1_000 };
}

function serviceAccountOf(file: string): ServiceAccount {
  const { type, client_email: email, private_key: privateKey, private_key_id: keyId } = parsed(file);
  if (type !== 'service_account' || typeof email !== 'string' || typeof privateKey !== 'string')
    throw unusable();
  return { email, privateKey, keyId: typeof keyId === 'string' ? keyId : null };
}

/** The parser's own error would quote the file, so it is not the cause. */
function parsed(file: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(file) as Readonly<Record<string, unknown>>;
  } catch {
    throw unusable();
  }
}

/** A JWT signed with RS256: https://www.rfc-editor.org/rfc/rfc7519, https://www.rfc-editor.org/rfc/rfc7518#section-3.3 */
function assertionOf({ email, keyId, privateKey }: ServiceAccount, now: number): string {
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId === null ? {} : { kid: keyId }) };
  const claims = { iss: email, scope: SCOPE, aud: ORIGIN + PATH, iat: now, exp: now + ASSERTION_SECONDS };
  const signable = [header, claims].map((part) => base64url(JSON.stringify(part))).join('.');
  return `${signable}.${base64url(signature(signable, privateKey))}`;
}

const base64url = (data: string | Buffer): string => Buffer.from(data as string).toString('base64url');

function signature(text: string, pem: string): Buffer {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== 'rsa') throw unusable();
    return sign('RSA-SHA256', Buffer.from(text), key);
  } catch {
    throw unusable();
  }
}
