import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mintApiKey } from './api-key-format.js';
import { hashApiKey } from './key-hash.js';
import { Secret } from '../settings/secret.js';

const aPepper = () => new Secret(randomBytes(32).toString('base64'));

describe('hashApiKey', () => {
  it('is HMAC-SHA-256 under the pepper', () => {
    const pepper = aPepper();
    const key = mintApiKey('ws').reveal();
    const expected = createHmac('sha256', Buffer.from(pepper.reveal(), 'base64')).update(key).digest();

    expect(hashApiKey(pepper, key)).toEqual(expected);
    expect(hashApiKey(pepper, key)).toEqual(expected);
  });

  it('gives another hash under another pepper', () => {
    const key = mintApiKey('ws').reveal();

    expect(hashApiKey(aPepper(), key)).not.toEqual(hashApiKey(aPepper(), key));
  });

  it('refuses a pepper that is not 32 bytes', () => {
    expect(() => hashApiKey(new Secret('short'), 'key')).toThrow('32 bytes');
  });
});
