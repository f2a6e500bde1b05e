import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkValueOf, isCheckedBy } from './check-value.js';
import { Secret } from '../settings/secret.js';

const aKey = () => new Secret(randomBytes(32).toString('base64'));

describe('check value', () => {
  it('belongs to one key only', () => {
    const key = aKey();

    expect(isCheckedBy(new Secret(key.reveal()), checkValueOf(key))).toBe(true);
    expect(isCheckedBy(aKey(), checkValueOf(key))).toBe(false);
    expect(isCheckedBy(key, Buffer.alloc(0))).toBe(false);
  });
});
