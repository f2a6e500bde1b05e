import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

/**
 * AES-256-GCM with a random 96-bit nonce: format version (1 byte), nonce (12), tag (16), ciphertext.
 * One key may seal 2^32 times (NIST SP 800-38D, section 8.3), far more than an organization has credentials.
 */
const FORMAT = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

export function sealBytes(key: KeyObject, associated: Buffer, clear: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(associated);
  const sealed = Buffer.concat([cipher.update(clear), cipher.final()]);
  return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), sealed]);
}

/** Throws when key, associated data or bytes are not those that were sealed. */
export function openBytes(key: KeyObject, associated: Buffer, sealed: Buffer): Buffer {
  if (sealed.length < HEADER_BYTES || sealed[0] !== FORMAT)
    throw new Error('Not a sealed value of this format.');
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(associated)
    .setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES)), decipher.final()]);
}
