import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../settings/secret.js';

/**
 * A value that is unique to this key (32 bytes in base64) and reveals nothing about it. Stored in the database, it lets a start with
 * another key be refused before anything is written with it.
 */
export function checkValueOf(key: Secret): Buffer {
  return createHmac('sha256', Buffer.from(key.reveal(), 'base64')).update('gatehouse/check-value').digest();
}

export function isCheckedBy(key: Secret, checkValue: Buffer): boolean {
  const own = checkValueOf(key);
  return own.length === checkValue.length && timingSafeEqual(own, checkValue);
}
