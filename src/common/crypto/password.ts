import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { bytesToBase62 } from '../ids/base62.js';
import { Secret } from '../settings/secret.js';

/** https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#scrypt, with 32 MiB a hash. */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PASSWORD_BYTES = 15;
const PASSWORD_WIDTH = 21;

/** A password of 120 random bits, in letters and digits. */
export function mintPassword(): Secret {
  return new Secret(bytesToBase62(randomBytes(PASSWORD_BYTES), PASSWORD_WIDTH));
}

/** The form in which a person's password is stored: `scrypt:<salt>:<hash>`, both in base64. Takes about 0.2 s. */
export async function hashPassword(password: Secret): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await scryptOf(password, salt);
  return `scrypt:${salt.toString('base64')}:${hash.toString('base64')}`;
}

export async function isPassword(password: Secret, stored: string): Promise<boolean> {
  const [scheme, salt, hash] = stored.split(':');
  if (scheme !== 'scrypt' || !salt || !hash) return false;
  const expected = Buffer.from(hash, 'base64');
  const actual = await scryptOf(password, Buffer.from(salt, 'base64'));
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function scryptOf(password: Secret, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.reveal(), salt, HASH_BYTES, COST, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });
}
