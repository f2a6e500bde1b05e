import { describe, expect, it } from 'vitest';
import { normalizeEmail } from './normal-email.js';

describe('normalizeEmail', () => {
  it.each([
    ['Ada.Lovelace@Example.COM', 'ada.lovelace@example.com'],
    ['ada+gate@example.com', 'ada+gate@example.com'],
    ['ada@EXÄMPLE.com', 'ada@xn--exmple-cua.com'],
    ['ada@ｅｘａｍｐｌｅ.com', 'ada@example.com'],
    ['owner@localhost', 'owner@localhost'],
  ])('writes "%s" as "%s"', (text, email) => {
    expect(normalizeEmail(text)).toBe(email);
  });

  it.each([
    '',
    'ada',
    '@example.com',
    'ada@',
    'ada@exa mple.com',
    ' ada@example.com',
    'ada@example.com ',
    'a@b@example.com',
    '"ada"@example.com',
    'ada..l@example.com',
    '.ada@example.com',
    'аda@example.com', // A Cyrillic letter.
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@-example.com',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a.'.repeat(130)}com`,
  ])('refuses "%s"', (text) => {
    expect(normalizeEmail(text)).toBeNull();
  });

  it('gives a spelling that stays as it is', () => {
    const email = normalizeEmail('X+Y@BÜCHER.example') as string;
    expect(normalizeEmail(email)).toBe(email);
  });
});
