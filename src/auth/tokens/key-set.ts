import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

/** A public key as stored: only the members that define the key. */
export interface StoredKey {
  readonly kid: string | null;
  readonly alg: string | null;
  readonly jwk: JsonWebKey;
}

const MOST_KEYS = 1000;
export const LARGEST_KEY_SET_BYTES = 300 * 1024;
const LONGEST_KEY_ID = 128;

/** Members of a public key by type: https://www.rfc-editor.org/rfc/rfc7518#section-6 */
const PUBLIC_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  RSA: ['n', 'e'],
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
};

/**
 * The signature keys of a published set (https://www.rfc-editor.org/rfc/rfc7517#section-5). Keys of other kinds are ignored, as that
 * document requires. Returns an error text for an invalid set: not a set, too many keys, no usable key, or two keys of one name, between
 * which a token could choose.
 */
export function keysInSet(set: unknown): readonly StoredKey[] | string {
  const { keys } = (typeof set === 'object' && set !== null ? set : {}) as { keys?: unknown };
  if (!Array.isArray(keys)) return 'it must be an object with a list "keys"';
  if (keys.length > MOST_KEYS) return `it has more than ${MOST_KEYS} keys`;
  const usable = keys.flatMap((key: unknown) => storedKey(key) ?? []);
  if (usable.length === 0) return 'it holds no public key for signatures (RSA, EC or OKP)';
  const names = usable.flatMap(({ kid }) => kid ?? []);
  return new Set(names).size === names.length ? usable : 'two of its keys have the same "kid"';
}

function storedKey(value: unknown): StoredKey | null {
  if (typeof value !== 'object' || value === null) return null;
  const key = value as Readonly<Record<string, unknown>>;
  const members = membersOf(key);
  const { kid = null, alg = null } = key;
  if (!members || !isForSignatures(key)) return null;
  if (!isKeyId(kid)) return null;
  const jwk = Object.fromEntries(['kty', ...members].map((name) => [name, key[name]])) as JsonWebKey;
  return { kid, alg: typeof alg === 'string' ? alg : null, jwk };
}

const isKeyId = (kid: unknown): kid is string | null =>
  kid === null || (typeof kid === 'string' && kid.length <= LONGEST_KEY_ID);

/** Null for a key that is not public or is incomplete. */
function membersOf(key: Readonly<Record<string, unknown>>): readonly string[] | null {
  const { kty } = key;
  const members =
    typeof kty === 'string' && Object.hasOwn(PUBLIC_MEMBERS, kty) ? PUBLIC_MEMBERS[kty] : undefined;
  return members?.every((name) => typeof key[name] === 'string') ? members : null;
}

function isForSignatures({ use, key_ops: operations }: Readonly<Record<string, unknown>>): boolean {
  return (
    (use === undefined || use === 'sig') &&
    (operations === undefined || (Array.isArray(operations) && operations.includes('verify')))
  );
}

/** A set of keys in use. A key is built on first use: a set may have a thousand, and tokens name one. */
export class KeySet {
  private readonly made = new Map<StoredKey, KeyObject | null>();

  constructor(private readonly keys: readonly StoredKey[]) {}

  /** The key that a token names, for its algorithm. Without a name, there must be only one candidate. */
  find(keyId: string | null, algorithm: string): KeyObject | null {
    const [key, another] = this.keys.filter(({ kid }) => keyId === null || kid === keyId);
    if (!key || another || (key.alg !== null && key.alg !== algorithm)) return null;
    return this.make(key);
  }

  has(keyId: string | null): boolean {
    return this.keys.some(({ kid }) => keyId === null || kid === keyId);
  }

  private make(key: StoredKey): KeyObject | null {
    const known = this.made.get(key);
    if (known !== undefined) return known;
    const made = keyObject(key.jwk);
    this.made.set(key, made);
    return made;
  }
}

function keyObject(jwk: JsonWebKey): KeyObject | null {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return null;
  }
}
