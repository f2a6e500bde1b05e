import { constants, type KeyObject, verify } from 'node:crypto';

interface Algorithm {
  /** The kind of key in node:crypto. */
  readonly keyType: 'rsa' | 'ec' | 'ed25519';
  readonly curve?: string;
  readonly hash: string | null;
  readonly isPss?: true;
}

/**
 * The accepted signatures: https://www.rfc-editor.org/rfc/rfc7518#section-3.1. Asymmetric ones only: a key that can verify a symmetric
 * signature can also create one.
 */
const ALGORITHMS = {
  RS256: { keyType: 'rsa', hash: 'sha256' },
  RS384: { keyType: 'rsa', hash: 'sha384' },
  RS512: { keyType: 'rsa', hash: 'sha512' },
  PS256: { keyType: 'rsa', hash: 'sha256', isPss: true },
  PS384: { keyType: 'rsa', hash: 'sha384', isPss: true },
  PS512: { keyType: 'rsa', hash: 'sha512', isPss: true },
  ES256: { keyType: 'ec', curve: 'prime256v1', hash: 'sha256' },
  ES384: { keyType: 'ec', curve: 'secp384r1', hash: 'sha384' },
  ES512: { keyType: 'ec', curve: 'secp521r1', hash: 'sha512' },
  EdDSA: { keyType: 'ed25519', hash: null },
} as const satisfies Record<string, Algorithm>;

export type SignatureAlgorithm = keyof typeof ALGORITHMS;
export const SIGNATURE_ALGORITHMS = Object.keys(ALGORITHMS) as SignatureAlgorithm[];

export function isSignatureAlgorithm(name: string): name is SignatureAlgorithm {
  return Object.hasOwn(ALGORITHMS, name);
}

/** https://www.rfc-editor.org/rfc/rfc7518#section-3.3 */
const SHORTEST_RSA_BITS = 2048;

/** Whether a key matches this algorithm. The key decides, never the token alone. */
function fits(key: KeyObject, { keyType, curve }: Algorithm): boolean {
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails ?? {};
  return (
    key.asymmetricKeyType === keyType &&
    (curve === undefined || namedCurve === curve) &&
    (keyType !== 'rsa' || (modulusLength ?? 0) >= SHORTEST_RSA_BITS)
  );
}

/** Whether `signature` is this key's over these bytes. Elliptic curve signatures are in the plain pair format of tokens. */
export function isSignedBy(
  key: KeyObject,
  name: SignatureAlgorithm,
  { signed, signature }: { readonly signed: Buffer; readonly signature: Buffer },
): boolean {
  const algorithm: Algorithm = ALGORITHMS[name];
  if (!fits(key, algorithm)) return false;
  const padding = algorithm.isPss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {};
  try {
    return verify(algorithm.hash, signed, { key, dsaEncoding: 'ieee-p1363', ...padding }, signature);
  } catch {
    return false;
  }
}
