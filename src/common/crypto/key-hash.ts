import { createHmac } from 'node:crypto';
import type { Secret } from '../settings/secret.js';

const PEPPERS = new WeakMap<Secret, Buffer>();

/**
 * The form in which an API key is stored and looked up: HMAC-SHA-256 with the server's pepper (32 bytes in base64). A key has 256 random
 * bits, so a slow hash would cost time and add nothing; the pepper makes a stolen table useless, and a stolen hash is not itself a
 * credential.
 */
export function hashApiKey(pepper: Secret, key: string): Buffer {
  return createHmac('sha256', bytesOf(pepper)).update(key, 'utf8').digest();
}

function bytesOf(pepper: Secret): Buffer {
  const known = PEPPERS.get(pepper);
  if (known) return known;
  const bytes = Buffer.from(pepper.reveal(), 'base64');
  if (bytes.length !== 32) throw new Error('The key pepper must be 32 bytes in base64.');
  PEPPERS.set(pepper, bytes);
  return bytes;
}
