import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWellFormedApiKey, looksLikeGatewayKey, mintApiKey, visiblePartsOf } from './api-key-format.js';
import { bytesToBase62, numberToBase62 } from '../ids/base62.js';

const KINDS = ['admin', 'ws', 'user'] as const;

describe('API key format', () => {
  it.each(KINDS)('mints %s keys of one length that it recognises', (kind) => {
    const key = mintApiKey(kind).reveal();

    expect(key).toMatch(new RegExp(`^gw_${kind}_[0-9A-Za-z]{49}$`));
    expect(isWellFormedApiKey(key)).toBe(true);
    expect(looksLikeGatewayKey(key)).toBe(true);
  });

  it('never mints a key twice', () => {
    const keys = new Set(Array.from({ length: 2000 }, () => mintApiKey('ws').reveal()));

    expect(keys.size).toBe(2000);
  });

  it('refuses a key with any one character changed', () => {
    const key = mintApiKey('ws').reveal();
    fc.assert(
      fc.property(
        fc.nat(key.length - 1),
        fc.constantFrom('0', '9', 'A', 'Z', 'a', 'z', '_', '-', ' ', 'é'),
        (position, character) => {
          const changed = key.slice(0, position) + character + key.slice(position + 1);
          expect(isWellFormedApiKey(changed)).toBe(changed === key);
        },
      ),
    );
  });

  it.each([
    ['empty', ''],
    ['truncated', mintApiKey('ws').reveal().slice(0, -1)],
    ['longer', `${mintApiKey('ws').reveal()}0`],
    ['in small letters', mintApiKey('ws').reveal().toLowerCase()],
    ['of another kind', mintApiKey('user').reveal().replace('gw_user_', 'gw_admin_')],
    ['of an unknown kind', mintApiKey('ws').reveal().replace('gw_ws_', 'gw_root_')],
    ['followed by a line break', `${mintApiKey('ws').reveal()}\n`],
    ['of a provider', 'sk-proj-0000000000000000000000000000000000000000'],
    ['SQL', "' OR 1=1--"],
    ['100 KB long', 'gw_ws_' + 'a'.repeat(100_000)],
  ])('refuses a text that is %s', (_, text) => {
    expect(isWellFormedApiKey(text)).toBe(false);
  });

  it('takes a damaged or capitalised key for a gateway key, so that it is not sent to a provider', () => {
    expect(looksLikeGatewayKey(mintApiKey('admin').reveal().slice(0, 20))).toBe(true);
    expect(looksLikeGatewayKey('GW_WS_whatever')).toBe(true);
    expect(looksLikeGatewayKey('sk-gw_ws_1')).toBe(false);
  });

  it('shows the kind and the last four characters, and nothing else', () => {
    const key = mintApiKey('user');

    expect(visiblePartsOf(key)).toEqual({ prefix: 'gw_user_', lastFour: key.reveal().slice(-4) });
  });
});

describe('base62', () => {
  it('keeps the order of numbers and pads to the width', () => {
    expect(numberToBase62(0, 6)).toBe('000000');
    expect(numberToBase62(61, 6)).toBe('00000z');
    expect(numberToBase62(62, 6)).toBe('000010');
    expect(numberToBase62(0xffffffff, 6)).toHaveLength(6);
  });

  it('writes bytes as it writes numbers', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), (value) => {
        const bytes = Buffer.alloc(4);
        bytes.writeUInt32BE(value);
        expect(bytesToBase62(bytes, 6)).toBe(numberToBase62(value, 6));
      }),
    );
  });

  it('gives the largest 32 bytes 43 characters', () => {
    expect(bytesToBase62(Buffer.alloc(32, 0xff), 43)).toHaveLength(43);
  });
});
