import { jwtVerify } from 'jose/jwt/verify';
import type { Claims, UnverifiedToken } from './compact-token.js';
import type { KeySet } from './key-set.js';
import type { TokenRules } from './token-rules.js';

/** The content of a valid token. */
export interface VerifiedToken {
  readonly claims: Claims;
  /** Milliseconds since the epoch, including the allowance for clock differences. */
  readonly expiresAt: number;
}

const SKEW_SECONDS = 60;
const LONGEST_TEXT = 255;

/**
 * Checks signature and claims by the organization's rules; null for an invalid token. `now` in milliseconds.
 * https://www.rfc-editor.org/rfc/rfc7519#section-4.1, https://www.rfc-editor.org/rfc/rfc8725
 */
export async function verifyToken(
  token: UnverifiedToken,
  rules: TokenRules,
  keys: KeySet,
  now: number,
): Promise<VerifiedToken | null> {
  const { claims } = token;
  const expiresAt = expiryOf(claims, rules, now / 1000);
  if (expiresAt === null || !isAccessToken(token, rules) || !isTextOrAbsent(claims['sub'])) return null;
  return (await isValid(token, rules, keys, now))
    ? { claims, expiresAt: (expiresAt + SKEW_SECONDS) * 1000 }
    : null;
}

/** Signature, issuer, audience and time. */
async function isValid(
  token: UnverifiedToken,
  rules: TokenRules,
  keys: KeySet,
  now: number,
): Promise<boolean> {
  const key = keys.find(token.keyId, token.algorithm);
  if (!key) return false;
  try {
    await jwtVerify(token.text, key, {
      algorithms: [...rules.algorithms],
      issuer: [...rules.issuers],
      audience: [...rules.audiences],
      clockTolerance: SKEW_SECONDS,
      currentDate: new Date(now),
    });
    return true;
  } catch {
    // A key that does not fit the algorithm is a TypeError of jose, everything else a JOSEError: the token is invalid in any case.
    return false;
  }
}

/** Claims that occur only in tokens about a sign-in: https://openid.net/specs/openid-connect-core-1_0.html#IDToken */
const SIGN_IN_CLAIMS = ['nonce', 'at_hash', 'c_hash'] as const;

/** An ID token proves a sign-in to a client; it grants nothing, regardless of its signer. */
function isAccessToken({ type, claims }: UnverifiedToken, { tokenTypes }: TokenRules): boolean {
  return (
    tokenTypes.includes(type ?? 'jwt') &&
    SIGN_IN_CLAIMS.every((name) => claims[name] === undefined) &&
    // Cognito's and Keycloak's marks of ID tokens.
    claims['token_use'] !== 'id' &&
    claims['typ'] !== 'ID'
  );
}

/** Seconds since the epoch; null for a token that has expired, is not yet valid, lasts too long or has no expiry. */
function expiryOf({ exp, nbf, iat }: Claims, { maxLifetimeSeconds }: TokenRules, now: number): number | null {
  if (!isTime(exp) || exp + SKEW_SECONDS <= now) return null;
  for (const from of [nbf, iat])
    if (from !== undefined && (!isTime(from) || from - SKEW_SECONDS > now)) return null;
  return exp - (isTime(iat) ? iat : now) > maxLifetimeSeconds + SKEW_SECONDS ? null : exp;
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || isText(value);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT && !value.includes('\0');
}
