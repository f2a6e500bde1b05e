import { describe, expect, it } from 'vitest';
import { hashPassword, isPassword, mintPassword } from './password.js';
import { Secret } from '../settings/secret.js';

describe('passwords', () => {
  it('recognises a password by its stored form, and no other', async () => {
    const password = mintPassword();
    const stored = await hashPassword(password);

    expect(stored).not.toContain(password.reveal());
    expect(await isPassword(password, stored)).toBe(true);
    expect(await isPassword(new Secret(`${password.reveal()}x`), stored)).toBe(false);
  });

  it('stores the same password differently each time', async () => {
    const password = mintPassword();

    expect(await hashPassword(password)).not.toBe(await hashPassword(password));
  });

  it.each(['', 'plain', 'md5:a:b', 'scrypt:', 'scrypt:AAAA:'])(
    'takes nothing for the password of "%s"',
    async (stored) => {
      expect(await isPassword(mintPassword(), stored)).toBe(false);
    },
  );
});
