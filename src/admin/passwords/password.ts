import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { bytesToBase62 } from '../../common/ids/base62.js';
import { Secret } from '../../common/settings/secret.js';

/** The cost of one hash: 2^`ln` blocks of 128 · `r` bytes, read `p` times. It is stored with each hash, so it can be raised later. */
interface HashCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#scrypt, with 32 MiB per hash. */
const COST: HashCost = { ln: 15, r: 8, p: 3 };
const MEMORY_BYTES_MAX = 64 * 1024 * 1024;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PASSWORD_BYTES = 15;
const PASSWORD_WIDTH = 21;

/** A password of 120 random bits, in letters and digits. */
export function mintPassword(): Secret {
  return new Secret(bytesToBase62(randomBytes(PASSWORD_BYTES), PASSWORD_WIDTH));
}

/**
 * A user's password as stored: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, both in base64
 * (https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md). Takes about 0.2 s at the default cost.
 */
export async function hashPassword(password: Secret, cost: HashCost = COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await scryptOf(password, salt, cost);
  const { ln, r, p } = cost;
  return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64')}$${hash.toString('base64')}`;
}

const STORED = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/;

export async function isPassword(password: Secret, stored: string): Promise<boolean> {
  const [, ln, r, p, salt, hash] = STORED.exec(stored) ?? [];
  if (!salt || !hash) return false;
  const expected = Buffer.from(hash, 'base64');
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  const actual = await scryptOf(password, Buffer.from(salt, 'base64'), cost);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function scryptOf(password: Secret, salt: Buffer, { ln, r, p }: HashCost): Promise<Buffer> {
  const cost = { N: 2 ** ln, r, p, maxmem: MEMORY_BYTES_MAX };
  return new Promise((resolve, reject) => {
    scrypt(password.reveal(), salt, HASH_BYTES, cost, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });
}
