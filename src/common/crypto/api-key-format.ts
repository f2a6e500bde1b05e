import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { bytesToBase62, numberToBase62 } from '../ids/base62.js';
import { Secret } from '../settings/secret.js';

/**
 * The format of a gateway API key: `gw_<kind>_`, 32 random bytes in base62 (43 characters), and a CRC-32 of everything before it in base62
 * (6 characters).
 *
 * The checksum is not a protection. It lets a mistyped or invented key be refused without a database query, and lets secret scanners
 * distinguish real keys from look-alikes (https://github.blog/engineering/behind-githubs-new-authentication-token-formats/).
 */
export type ApiKeyKind = 'admin' | 'ws' | 'user';

const RANDOM_BYTES = 32;
const RANDOM_WIDTH = 43;
const CHECKSUM_WIDTH = 6;
const API_KEY_FORMAT = new RegExp(`^gw_(?:admin|ws|user)_[0-9A-Za-z]{${RANDOM_WIDTH + CHECKSUM_WIDTH}}$`);
const GATEWAY_PREFIX = /^gw_(?:admin|ws|user)_/i;

/** Creates a key. The caller shows it once and stores only its hash. */
export function mintApiKey(kind: ApiKeyKind): Secret {
  const unsigned = `gw_${kind}_${bytesToBase62(randomBytes(RANDOM_BYTES), RANDOM_WIDTH)}`;
  return new Secret(unsigned + checksumOf(unsigned));
}

/** Whether a text has the format of a gateway key. Inspects only the text; about a microsecond. */
export function isWellFormedApiKey(text: string): boolean {
  if (!API_KEY_FORMAT.test(text)) return false;
  return checksumOf(text.slice(0, -CHECKSUM_WIDTH)) === text.slice(-CHECKSUM_WIDTH);
}

/** Whether a text begins like a gateway key, well-formed or not: such a text must never be sent to a provider. */
export function looksLikeGatewayKey(text: string): boolean {
  return GATEWAY_PREFIX.test(text);
}

/** The parts of a key that may be shown after its creation: the one that names its kind, and its last four characters. */
export function visiblePartsOf(key: Secret): { readonly prefix: string; readonly lastFour: string } {
  const text = key.reveal();
  return { prefix: text.slice(0, text.lastIndexOf('_') + 1), lastFour: text.slice(-4) };
}

function checksumOf(text: string): string {
  return numberToBase62(crc32(text), CHECKSUM_WIDTH);
}
