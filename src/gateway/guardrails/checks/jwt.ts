import type { JSONWebKeySet, JWTVerifyOptions } from 'jose';
import * as errors from 'jose/errors';
import { createLocalJWKSet } from 'jose/jwks/local';
import { jwtVerify } from 'jose/jwt/verify';
import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import type { HttpCaller } from '../../../egress/http-caller.js';
import type { Check } from '../check.js';

type JwtParameters = ParametersOf<'default.jwt'>;
type Keys = ReturnType<typeof createLocalJWKSet>;

const TOKEN_CHARS_MAX = 16_384;
const KEYS_MAX = 100;
const KEYS_TIMEOUT_MS = 3_000;
/** Minimum interval of requests for an unknown key. */
const ASK_AGAIN_MS = 30_000;

/** A header carries a token that is signed by a key of the issuer and currently valid: https://www.rfc-editor.org/rfc/rfc7519 */
export function jwt(parameters: JwtParameters, http: HttpCaller): Check {
  const keys = new IssuerKeys(parameters, http);
  return {
    run: async ({ facts: { headers, caller } }) => {
      const header = headers[parameters.headerKey.toLowerCase()];
      const token = typeof header === 'string' ? tokenIn(header) : '';
      const problem =
        token === ''
          ? `there is no token in the header "${parameters.headerKey}"`
          : await problemOf(token, parameters, keys, caller.organizationId);
      return { verdict: problem === null, data: { explanation: problem ?? 'the token is valid' } };
    },
  };
}

function tokenIn(header: string): string {
  return header.length > TOKEN_CHARS_MAX ? '' : header.replace(/^Bearer\s{1,8}/i, '').trim();
}

/** Null for a valid token. Rejects when the issuer's keys cannot be read. */
async function problemOf(
  token: string,
  { algorithms, clockTolerance, maxTokenAge }: JwtParameters,
  keys: IssuerKeys,
  tenant: string,
): Promise<string | null> {
  const options = { algorithms, clockTolerance, maxTokenAge };
  const current = keys.current(tenant);
  const problem = await problemWith(token, await current, options);
  if (problem !== NO_KEY) return problem;
  const newer = await keys.newerThan(current, tenant);
  return newer ? problemWith(token, newer, options) : problem;
}

async function problemWith(token: string, keys: Keys, options: JWTVerifyOptions): Promise<string | null> {
  try {
    await jwtVerify(token, keys, options);
    return null;
  } catch (error) {
    return explanationOf(error);
  }
}

const NO_KEY = 'no key of the issuer matches it';

/** By code of the error, and for one about a claim by the claim. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: 'its algorithm is not allowed',
  ERR_JWKS_NO_MATCHING_KEY: NO_KEY,
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: NO_KEY,
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'its signature is wrong',
  'ERR_JWT_EXPIRED exp': 'it has expired',
  'ERR_JWT_EXPIRED iat': 'it was issued too long ago',
  'ERR_JWT_CLAIM_VALIDATION_FAILED exp': 'it does not say when it expires',
  'ERR_JWT_CLAIM_VALIDATION_FAILED nbf': 'it is not valid yet',
  'ERR_JWT_CLAIM_VALIDATION_FAILED iat': 'it does not say when it was issued, or names a time in the future',
};

function explanationOf(error: unknown): string {
  // A key that does not fit the algorithm or is too short, which is no error of the token.
  if (!(error instanceof errors.JOSEError)) return NO_KEY;
  const isAboutClaim = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
  return (
    EXPLANATIONS[isAboutClaim ? `${error.code} ${error.claim}` : error.code] ?? 'it is not a signed token'
  );
}

/** The keys of an issuer, https://www.rfc-editor.org/rfc/rfc7517#section-5, cached for as long as the check allows. */
class IssuerKeys {
  private keys: Promise<Keys> | null = null;
  private askedAt = -Infinity;

  constructor(
    private readonly parameters: JwtParameters,
    private readonly http: HttpCaller,
  ) {}

  current(tenant: string): Promise<Keys> {
    const isFresh = performance.now() - this.askedAt <= this.parameters.cacheMaxAge * 1_000;
    return this.keys && isFresh ? this.keys : this.ask(tenant);
  }

  /** The keys that another request has asked for since, or as they are published now; null if these were read a moment ago. */
  newerThan(known: Promise<Keys>, tenant: string): Promise<Keys> | null {
    if (this.keys && this.keys !== known) return this.keys;
    return performance.now() - this.askedAt < ASK_AGAIN_MS ? null : this.ask(tenant);
  }

  /** A failure is not cached. */
  private ask(tenant: string): Promise<Keys> {
    this.askedAt = performance.now();
    const keys = this.load(tenant);
    this.keys = keys;
    keys.catch(() => {
      if (this.keys === keys) this.keys = null;
    });
    return keys;
  }

  private async load(tenant: string): Promise<Keys> {
    const { status, text } = await this.http.call(tenant, {
      method: 'GET',
      url: this.parameters.jwksUri,
      headers: ['accept', 'application/json'],
      body: null,
      timeoutMs: KEYS_TIMEOUT_MS,
    });
    if (status !== 200) throw new Error(`the address of the keys returned status ${status}`);
    const { keys } = JSON.parse(text) as { readonly keys?: unknown };
    if (!Array.isArray(keys)) throw new Error('the address of the keys has none');
    const usable: readonly unknown[] = keys.filter((key) => typeof key === 'object' && key !== null);
    return createLocalJWKSet({ keys: usable.slice(0, KEYS_MAX) } as JSONWebKeySet);
  }
}
