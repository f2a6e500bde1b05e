import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import type { ParametersOf } from '../../../common/contracts/guardrails/check-parameters.js';
import type { HttpCaller } from '../calling/http-caller.js';
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
/** A key that is not known is asked for again at most this often. */
const ASK_AGAIN_MS = 30_000;
const NO_KEYS: ReadonlyMap<string, KeyObject> = new Map();

/** A header carries a token that is signed by a key of the issuer and is in force: https://www.rfc-editor.org/rfc/rfc7519 */
export function jwt(parameters: Parameters, http: HttpCaller): Check {
  const keys = new IssuerKeys(parameters, http);
  const { headerKey, algorithms } = parameters;
  const judge = async (header: unknown, tenant: string): Promise<string | null> => {
    if (typeof header !== 'string') return `there is no header "${headerKey}"`;
    const [head = '', payload = '', signature = '', ...rest] = header
      .replace(/^Bearer\s{1,8}/i, '')
      .trim()
      .split('.');
    if (rest.length > 0 || signature === '' || header.length > TOKEN_CHARS_MAX) return 'it is no token';
    const { alg, kid } = decoded(head);
    const algorithm = algorithms.find((name) => name === alg);
    if (!algorithm) return 'its algorithm is not allowed';
    const key = typeof kid === 'string' ? await keys.find(kid, tenant) : undefined;
    const { hash, keyType, options } = ALGORITHMS[algorithm];
    if (key?.asymmetricKeyType !== keyType) return 'no key of the issuer fits it';
    const signed = Buffer.from(`${head}.${payload}`);
    if (!verify(hash, signed, { key, ...options }, Buffer.from(signature, 'base64url')))
      return 'its signature is wrong';
    return expiredBy(decoded(payload), parameters);
  };
  return {
    run: async ({ facts: { headers, caller } }) => {
      const problem = await judge(headers[headerKey.toLowerCase()], caller.organizationId);
      return { verdict: problem === null, data: { explanation: problem ?? 'the token is valid' } };
    },
  };
}

function decoded(part: string): Claims {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Claims) : {};
  } catch {
    return {};
  }
}

function expiredBy({ exp, nbf, iat }: Claims, { clockTolerance, maxTokenAge }: Parameters): string | null {
  const now = Date.now() / 1000;
  const oldest = Number.parseInt(maxTokenAge, 10) * (SECONDS[maxTokenAge.slice(-1)] ?? 0);
  if (exp !== undefined && !(typeof exp === 'number' && exp > now - clockTolerance)) return 'it has expired';
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now + clockTolerance))
    return 'it is not valid yet';
  if (typeof iat !== 'number' || iat > now + clockTolerance) return 'it does not say when it was issued';
  return iat < now - oldest - clockTolerance ? 'it was issued too long ago' : null;
}

/** The keys of an issuer, https://www.rfc-editor.org/rfc/rfc7517#section-5, remembered for as long as the check says. */
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
    if (status !== 200) throw new Error(`the address of the keys answered with status ${status}`);
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
