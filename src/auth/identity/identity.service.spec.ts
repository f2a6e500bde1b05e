import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { mintApiKey } from '../../common/crypto/api-key-format.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { IdentityService } from './identity.service.js';
import type { ApiKeyDirectory, KnownKey, TokenDirectory } from '../ports.js';

const KEY = mintApiKey('ws').reveal();
const KNOWN: KnownKey = { principal: aCaller(), expiresAt: null };

const OF_KEY = { apiKeyId: 'key', organizationId: 'organization' };

const find = vi.fn<ApiKeyDirectory['find']>();
const endOf = vi.fn<ApiKeyDirectory['endOf']>();
const findToken = vi.fn<TokenDirectory['find']>();
let identity: IdentityService;

beforeEach(() => {
  find.mockReset().mockImplementation((key) => (key === KEY ? KNOWN : null));
  endOf.mockReset().mockResolvedValue(null);
  findToken.mockReset().mockReturnValue(null);
  identity = new IdentityService(
    { find, endOf },
    { find: findToken, isOurs: () => false },
    new ClientAddresses([]),
  );
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
  ])('F02: refuses %s without a store lookup', (_, key) => {
    expect(codeOf(withKey(key))).toBe('unauthenticated');
    expect(find).not.toHaveBeenCalled();
    expect(findToken).not.toHaveBeenCalled();
  });

  it.each([
    ['expired', 'This API key expired at 2026-11-25T04:41:50Z. Ask an administrator for a new one.'],
    ['revoked', 'This API key was revoked at 2026-11-25T04:41:50Z. Ask an administrator for a new one.'],
  ] as const)(
    'reveals only to the holder of the whole secret that its key is %s',
    async (reason, message) => {
      const held = mintApiKey('ws').reveal();
      endOf.mockImplementation(async (key) =>
        key === held ? { reason, at: new Date('2026-11-25T04:41:50.123Z'), ...OF_KEY } : null,
      );

      await expect(identity.identify(withKey(held))).rejects.toMatchObject({
        code: 'api_key_ended',
        message,
      });
      await expect(identity.identify(withKey(mintApiKey('ws').reveal()))).rejects.toMatchObject({
        code: 'unauthenticated',
      });
    },
  );

  it('refuses a missing key with another message than refused keys, which share one', async () => {
    const refusals = ['nonsense', 'gw_ws_short', KEY.slice(0, -1)].map(
      (key) => () => identity.identify(withKey(key)),
    );
    for (const call of refusals)
      expect(call).toThrow('The gateway API key or signed token is not valid. Send');
    await expect(identity.identify(withKey(mintApiKey('ws').reveal()))).rejects.toMatchObject({
      message: expect.stringMatching(/^The gateway API key or signed token is not valid\. Send/) as string,
    });
    const without = (headers: Record<string, string>) => () => identity.identify(requestOf(headers));
    expect(without({})).toThrow('The request has no gateway API key. Send');
    expect(without({ authorization: 'Bearer sk-proj-4711' })).toThrow(
      'The request has no gateway API key. Send',
    );
    expect(without({ 'x-gateway-apikey': KEY })).toThrow(
      'has no gateway API key: there is no header "x-gateway-apikey" (did you mean "x-gateway-api-key"?). Send',
    );
  });

  it('names the header that holds the key of a provider, without a store lookup, and shows nothing of the key', () => {
    const call = () => identity.identify(withKey('sk-proj-4711'));
    expect(call).toThrow('The header x-gateway-api-key holds a provider');
    expect(call).not.toThrow('4711');
    expect(find).not.toHaveBeenCalled();
    expect(endOf).not.toHaveBeenCalled();
  });

  const OTHER = mintApiKey('admin').reveal();
  const HEADERS = [
    'x-gateway-api-key',
    'x-portkey-api-key',
    'authorization',
    'x-api-key',
    'x-goog-api-key',
    'api-key',
  ] as const;
  const pairs = HEADERS.flatMap((one) =>
    HEADERS.filter((two) => two !== one).map((two) => [one, two] as const),
  );

  it.each(pairs)('refuses different keys in %s and %s as ambiguous, without a store lookup', (one, two) => {
    for (const [first, second] of [
      [KEY, OTHER],
      [KEY, `Bearer ${OTHER}`],
      [`bearer  ${KEY}`, OTHER],
      [KEY, 'gw_ws_not-even-a-key'],
    ] as const) {
      if (first !== KEY && one !== 'authorization') continue;
      expect(codeOf(requestOf({ [one]: first, [two]: second }))).toBe('ambiguous_credentials');
    }
    expect(find).not.toHaveBeenCalled();
  });

  it.each(pairs)('takes the same key in %s and %s for one', (one, two) => {
    const written = (name: string) => (name === 'authorization' ? `Bearer ${KEY}` : KEY);
    expect(codeOf(requestOf({ [one]: written(one), [two]: written(two) }))).toBe('known');
  });

  it('refuses different keys in one header, sent twice, as ambiguous', () => {
    for (const name of ['x-gateway-api-key', 'x-portkey-api-key'])
      expect(codeOf(requestOf({ [name]: `${KEY}, ${OTHER}` }))).toBe('ambiguous_credentials');
  });

  it("takes a provider's key beside it for the provider's", () => {
    for (const name of HEADERS.slice(1))
      expect(codeOf(requestOf({ 'x-gateway-api-key': KEY, [name]: 'sk-of-a-provider' }))).toBe('known');
  });

  it('refuses a key on the millisecond it expires', async () => {
    find.mockReturnValue({ ...KNOWN, expiresAt: Date.now() });
    await expect(identity.identify(withKey(KEY))).rejects.toMatchObject({ code: 'unauthenticated' });
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
