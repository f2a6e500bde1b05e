import { describe, expect, it } from 'vitest';
import { hashPassword, isPassword, mintPassword } from './password.js';
import { Secret } from '../../common/settings/secret.js';

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

  it('recognises a password that was stored at another cost', async () => {
    const password = mintPassword();
    const stored = await hashPassword(password, { ln: 4, r: 8, p: 1 });

    expect(stored).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$/);
    expect(await isPassword(password, stored)).toBe(true);
    expect(await isPassword(password, stored.replace('ln=4', 'ln=5'))).toBe(false);
  });

  it.each([
    '',
    'plain',
    'md5:a:b',
    'scrypt:AAAA:AAAA',
    '$scrypt$ln=4,r=8,p=1$AAAA$',
    '$scrypt$ln=x,r=8,p=1$AAAA$AAAA',
  ])('takes nothing for the password of "%s"', async (stored) => {
    expect(await isPassword(mintPassword(), stored)).toBe(false);
  });
});
