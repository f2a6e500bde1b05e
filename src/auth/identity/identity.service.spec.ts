import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { mintApiKey } from '../../common/crypto/api-key-format.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { IdentityService } from './identity.service.js';
import type { ApiKeyDirectory, KnownKey, TokenDirectory } from '../ports.js';

const KEY = mintApiKey('ws').reveal();
const KNOWN: KnownKey = { principal: aCaller(), expiresAt: null };

const find = vi.fn<ApiKeyDirectory['find']>();
const findToken = vi.fn<TokenDirectory['find']>();
let identity: IdentityService;

beforeEach(() => {
  find.mockReset().mockImplementation((key) => (key === KEY ? KNOWN : null));
  findToken.mockReset().mockReturnValue(null);
  identity = new IdentityService({ find }, { find: findToken, isOurs: () => false }, new ClientAddresses([]));
});

const requestOf = (headers: IncomingHttpHeaders, remoteAddress = '192.0.2.1') =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage;
const withKey = (key: string, address?: string) => requestOf({ 'x-gateway-api-key': key }, address);
const codeOf = (request: IncomingMessage): string => {
  try {
    void identity.identify(request);
    return 'known';
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const changed = (at: number) => `${KEY.slice(0, at)}${KEY[at] === 'a' ? 'b' : 'a'}${KEY.slice(at + 1)}`;

describe('IdentityService', () => {
  it('knows a key that the directory knows', () => {
    expect(identity.identify(withKey(KEY))).toBe(KNOWN.principal);
  });

  it.each([
    ['nothing', ''],
    ['blanks', '   '],
    ['random text', 'nonsense'],
    ['another prefix', KEY.replace('gw_ws_', 'gw_admin_')],
    ['another checksum', changed(KEY.length - 1)],
    ['one character changed', changed(20)],
    ['one character less', KEY.slice(0, -1)],
    ['one character more', `${KEY}a`],
    ['small letters', KEY.toLowerCase()],
    ['Bearer before it', `Bearer ${KEY}`],
    ['the key twice, as two headers are joined', `${KEY}, ${KEY}`],
    ['SQL', "gw_ws_' UNION SELECT * FROM api_keys--"],
  ])('F02: refuses %s and asks no store', (_, key) => {
    expect(codeOf(withKey(key))).toBe('unauthenticated');
    expect(find).not.toHaveBeenCalled();
    expect(findToken).not.toHaveBeenCalled();
  });

  it('refuses a key on the millisecond it expires', () => {
    find.mockReturnValue({ ...KNOWN, expiresAt: Date.now() });
    expect(codeOf(withKey(KEY))).toBe('unauthenticated');
  });

  it('F09: slows who fails too often, and neither other addresses nor a valid key from the same one', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const codes = Array.from({ length: 100 }, () => codeOf(withKey('guess')));
      expect(new Set(codes.slice(0, 50))).toEqual(new Set(['unauthenticated']));
      expect(new Set(codes.slice(50))).toEqual(new Set(['rate_limited']));
      expect(codeOf(withKey('guess', '192.0.2.2'))).toBe('unauthenticated');
      expect([codeOf(withKey(KEY)), codeOf(withKey(KEY, '192.0.2.2'))]).toEqual(['known', 'known']);
      vi.advanceTimersByTime(1_000);
      expect(codeOf(withKey('guess'))).toBe('unauthenticated');
    } finally {
      vi.useRealTimers();
    }
  });
});
