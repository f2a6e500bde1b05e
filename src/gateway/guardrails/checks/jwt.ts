import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import type { HttpCaller } from '../../../egress/http-caller.js';
import type { Check } from '../check.js';

type Parameters = ParametersOf<'default.jwt'>;
type Algorithm = Parameters['algorithms'][number];
type Claims = Readonly<Record<string, unknown>>;

interface Rules {
  readonly hash: string | null;
  readonly keyType: string;
  readonly options: Readonly<Record<string, unknown>>;
}

const RSA = { keyType: 'rsa', options: { padding: constants.RSA_PKCS1_PADDING } };
const EC = { keyType: 'ec', options: { dsaEncoding: 'ieee-p1363' } };

/** https://www.rfc-editor.org/rfc/rfc7518#section-3.1 and https://www.rfc-editor.org/rfc/rfc8037#section-3.1 */
const ALGORITHMS: Readonly<Record<Algorithm, Rules>> = {
  RS256: { hash: 'sha256', ...RSA },
  RS384: { hash: 'sha384', ...RSA },
  RS512: { hash: 'sha512', ...RSA },
  PS256: {
    hash: 'sha256',
    keyType: 'rsa',
    options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
  },
  ES256: { hash: 'sha256', ...EC },
  ES384: { hash: 'sha384', ...EC },
  EdDSA: { hash: null, keyType: 'ed25519', options: {} },
};

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };
const TOKEN_CHARS_MAX = 16_384;
const KEYS_TIMEOUT_MS = 3_000;
/** Minimum interval of requests for an unknown key. */
const ASK_AGAIN_MS = 30_000;
const NO_KEYS: ReadonlyMap<string, KeyObject> = new Map();

/** A header carries a token that is signed by a key of the issuer and currently valid: https://www.rfc-editor.org/rfc/rfc7519 */
export function jwt(parameters: Parameters, http: HttpCaller): Check {
  const keys = new IssuerKeys(parameters, http);
  return {
    run: async ({ facts: { headers, caller } }) => {
      const header = headers[parameters.headerKey.toLowerCase()];
      const token = typeof header === 'string' ? tokenIn(header) : null;
      const problem = token
        ? ((await signatureProblem(token, parameters, (kid) => keys.find(kid, caller.organizationId))) ??
          problemOfTime(token.claims, parameters))
        : `there is no token in the header "${parameters.headerKey}"`;
      return { verdict: problem === null, data: { explanation: problem ?? 'the token is valid' } };
    },
  };
}

interface Token {
  readonly head: Claims;
  readonly claims: Claims;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

function tokenIn(header: string): Token | null {
  if (header.length > TOKEN_CHARS_MAX) return null;
  const parts = header
    .replace(/^Bearer\s{1,8}/i, '')
    .trim()
    .split('.');
  const [head = '', payload = '', signature = ''] = parts;
  if (parts.length !== 3 || signature === '') return null;
  return {
    head: decoded(head),
    claims: decoded(payload),
    signed: Buffer.from(`${head}.${payload}`),
    signature: Buffer.from(signature, 'base64url'),
  };
}

async function signatureProblem(
  { head, signed, signature }: Token,
  { algorithms }: Parameters,
  keyOf: (kid: string) => Promise<KeyObject | undefined>,
): Promise<string | null> {
  const algorithm = algorithms.find((name) => name === head.alg);
  if (!algorithm) return 'its algorithm is not allowed';
  const key = typeof head.kid === 'string' ? await keyOf(head.kid) : undefined;
  const { hash, keyType, options } = ALGORITHMS[algorithm];
  if (key?.asymmetricKeyType !== keyType) return 'no key of the issuer matches it';
  return verify(hash, signed, { key, ...options }, signature) ? null : 'its signature is wrong';
}

function decoded(part: string): Claims {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Claims) : {};
  } catch {
    return {};
  }
}

function problemOfTime(
  { exp, nbf, iat }: Claims,
  { clockTolerance, maxTokenAge }: Parameters,
): string | null {
  const now = Date.now() / 1000;
  const oldest = Number.parseInt(maxTokenAge, 10) * (SECONDS[maxTokenAge.slice(-1)] ?? 0);
  if (exp !== undefined && !isAfter(exp, now - clockTolerance)) return 'it has expired';
  if (nbf !== undefined && isAfter(nbf, now + clockTolerance, true)) return 'it is not valid yet';
  if (isAfter(iat, now + clockTolerance, true)) return 'it does not say when it was issued';
  return isAfter(iat, now - oldest - clockTolerance) ? null : 'it was issued too long ago';
}

/** Whether a time is after another. Returns `otherwise` for a value that is not a time. */
function isAfter(moment: unknown, seconds: number, otherwise = false): boolean {
  return typeof moment === 'number' ? moment > seconds : otherwise;
}

/** The keys of an issuer, https://www.rfc-editor.org/rfc/rfc7517#section-5, cached for as long as the check allows. */
class IssuerKeys {
  private keys: Promise<ReadonlyMap<string, KeyObject>> = Promise.resolve(NO_KEYS);
  private askedAt = -Infinity;

  constructor(
    private readonly parameters: Parameters,
    private readonly http: HttpCaller,
  ) {}

  async find(kid: string, tenant: string): Promise<KeyObject | undefined> {
    const age = performance.now() - this.askedAt;
    if (age > this.parameters.cacheMaxAge * 1_000) this.ask(tenant);
    const key = (await this.keys).get(kid);
    if (key || performance.now() - this.askedAt < ASK_AGAIN_MS) return key;
    this.ask(tenant);
    return (await this.keys).get(kid);
  }

  private ask(tenant: string): void {
    this.askedAt = performance.now();
    this.keys = this.load(tenant);
    this.keys.catch(() => {
      this.keys = Promise.resolve(NO_KEYS);
      this.askedAt = -Infinity;
    });
  }

  private async load(tenant: string): Promise<ReadonlyMap<string, KeyObject>> {
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
    return new Map(keys.slice(0, 100).flatMap(keyOf));
  }
}

function keyOf(jwk: JsonWebKey & { readonly kid?: unknown }): readonly (readonly [string, KeyObject])[] {
  try {
    return typeof jwk.kid === 'string' ? [[jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]] : [];
  } catch {
    return [];
  }
}
