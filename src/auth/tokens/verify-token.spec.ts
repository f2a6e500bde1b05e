import { beforeAll, describe, expect, it } from 'vitest';
import {
  ecKeys,
  edKeys,
  jwkOf,
  macSigned,
  rsaKeys,
  signed,
  signedText,
  type TokenKeys,
  unsigned,
} from '../../../test/support/tokens.js';
import { looksLikeToken, readToken } from './compact-token.js';
import { KeySet, keysInSet, LARGEST_KEY_SET_BYTES } from './key-set.js';
import { DEFAULT_CLAIMS, type TokenRules } from './token-rules.js';
import { verifyToken } from './verify-token.js';

const NOW = 1_900_000_000;
const RULES: TokenRules = {
  issuers: ['https://id.example/'],
  audiences: ['gatehouse'],
  algorithms: ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'],
  tokenTypes: ['jwt', 'at+jwt'],
  maxLifetimeSeconds: 86_400,
  claims: DEFAULT_CLAIMS,
};
const CLAIMS = { iss: 'https://id.example/', aud: 'gatehouse', sub: 'u1', iat: NOW, exp: NOW + 600 };
const HEADER = { alg: 'RS256', kid: 'k1', typ: 'JWT' };

let rsa: TokenKeys;
let ec: TokenKeys;
let ed: TokenKeys;
let keys: KeySet;

const setOf = (...jwks: object[]): KeySet => {
  const found = keysInSet({ keys: jwks });
  if (typeof found === 'string') throw new Error(found);
  return new KeySet(found);
};
const check = (text: string, rules: Partial<TokenRules> = {}, among = keys) => {
  const token = readToken(text);
  return token && verifyToken(token, { ...RULES, ...rules }, among, NOW * 1000);
};
const rs256 = (claims: object = {}, header: object = {}) =>
  signed({ ...HEADER, ...header }, { ...CLAIMS, ...claims }, rsa);

beforeAll(() => {
  [rsa, ec, ed] = [rsaKeys(), ecKeys(), edKeys()];
  keys = setOf(jwkOf(rsa, 'k1'), jwkOf(ec, 'k2'), jwkOf(ed, 'k3'));
});

describe('verifyToken', () => {
  it('accepts a token by its signature, issuer, audience and time', async () => {
    expect(await check(rs256())).toEqual({ claims: CLAIMS, expiresAt: (NOW + 660) * 1000 });
  });

  it.each([
    ['RS256', 'k1', () => rsa],
    ['PS256', 'k1', () => rsa],
    ['ES256', 'k2', () => ec],
    ['EdDSA', 'k3', () => ed],
  ])('reads %s', async (alg, kid, pair) => {
    expect(await check(signed({ ...HEADER, alg, kid }, CLAIMS, pair()))).not.toBeNull();
  });

  it.each([
    ['a claim', '{"sub":"u1","sub":"owner"', JSON.stringify(HEADER)],
    ['a claim, escaped', '{"sub":"u1","\\u0073ub":"owner"', JSON.stringify(HEADER)],
    ['a nested claim', '{"sub":"u1","realm":{"role":"a","role":"b"}', JSON.stringify(HEADER)],
    ['a header parameter', '{"sub":"u1"', '{"alg":"RS256","kid":"k1","kid":"k2"}'],
  ])('refuses a token that names %s twice', async (_, start, header) => {
    const rest = `"iss":"https://id.example/","aud":"gatehouse","iat":${NOW},"exp":${NOW + 600}}`;
    const text = `${start},${rest}`;
    const token = signedText(header, text, rsa);

    expect(JSON.parse(text)).toMatchObject({ aud: 'gatehouse' });
    expect(await check(token)).toBeNull();
    expect(await check(signedText(JSON.stringify(HEADER), `{"sub":"u1",${rest}`, rsa))).not.toBeNull();
  });

  it.each([undefined, 'none', 'None', 'nOnE', '', 'HS256', 'RS1', '__proto__'])(
    'refuses the algorithm %j',
    async (alg) => {
      expect(await check(`${unsigned({ ...HEADER, alg }, CLAIMS)}.`)).toBeNull();
      expect(await check(`${unsigned({ ...HEADER, alg }, CLAIMS)}.${rs256().split('.')[2]}`)).toBeNull();
    },
  );

  it('refuses a token that was signed with the public key for a secret, in every form of that key', async () => {
    const pem = String(rsa.publicKey.export({ format: 'pem', type: 'spki' }));
    const forms = [
      pem,
      ` ${pem}`,
      `\n${pem}`,
      rsa.publicKey.export({ format: 'der', type: 'spki' }),
      JSON.stringify(rsa.publicKey.export({ format: 'jwk' })),
      JSON.stringify(jwkOf(rsa, 'k1')),
    ];
    for (const form of forms)
      for (const alg of ['HS256', 'RS256'])
        expect(await check(macSigned({ ...HEADER, alg }, CLAIMS, form))).toBeNull();
  });

  it('refuses an algorithm that the organization did not allow, or that the key is not for', async () => {
    expect(await check(rs256(), { algorithms: ['ES256'] })).toBeNull();
    expect(await check(signed({ ...HEADER, alg: 'RS384' }, CLAIMS, rsa))).toBeNull();
    expect(await check(signed({ ...HEADER, kid: 'k2' }, CLAIMS, rsa))).toBeNull();
    expect(await check(rs256(), {}, setOf(jwkOf(rsa, 'k1', { alg: 'PS256' })))).toBeNull();
    expect(await check(signed({ ...HEADER, alg: 'ES384', kid: 'k2' }, CLAIMS, ec))).toBeNull();
  });

  it('refuses keys of less than 2048 bits', async () => {
    const small = rsaKeys(1024);
    expect(await check(signed(HEADER, CLAIMS, small), {}, setOf(jwkOf(small, 'k1')))).toBeNull();
  });

  it.each([
    ['one bit changed', (t: string) => flipped(t)],
    ['a part more', (t: string) => `${t}.e30`],
    ['two parts more, as an encrypted one has', (t: string) => `${t}.e30.e30`],
    ['a part less', (t: string) => t.slice(0, t.lastIndexOf('.'))],
    ['padding', (t: string) => `${t}=`],
    ['a blank before', (t: string) => ` ${t}`],
    ['a blank inside', (t: string) => t.replace('.', ' .')],
    ['a line break behind', (t: string) => `${t}\n`],
    ['stray bits at the end of the signature', (t: string) => withStrayBits(t)],
    [
      "another token's signature",
      (t: string) => `${t.slice(0, t.lastIndexOf('.'))}.${rs256({ sub: 'u2' }).split('.')[2]}`,
    ],
  ])('refuses a token with %s', async (_, change) => {
    expect(await check(rs256())).not.toBeNull();
    expect(await check(change(rs256()))).toBeNull();
  });

  it.each(['jku', 'x5u', 'jwk', 'x5c', 'crit', 'b64', 'zip'])(
    'refuses the header parameter %s, and looks nowhere',
    async (name) => {
      const own = { jwk: jwkOf(rsa, 'k1'), x5c: ['MIIB'], crit: ['exp'], b64: false, zip: 'DEF' } as Record<
        string,
        unknown
      >;
      expect(await check(rs256({}, { [name]: own[name] ?? 'https://evil.example/keys' }))).toBeNull();
    },
  );

  it.each<[string, (own: TokenKeys) => object]>([
    ['beside the usual key id', () => ({})],
    ['in the header', (own) => ({ jwk: jwkOf(own, 'k1') })],
    ['in the header, by a name of its own', (own) => ({ kid: 'own', jwk: jwkOf(own, 'own') })],
    ['as a certificate', () => ({ x5c: ['MIIB'] })],
  ])('H08: refuses a token that was signed with a key of its own: %s', async (_, header) => {
    const own = rsaKeys();
    expect(await check(signed({ ...HEADER, ...header(own) }, CLAIMS, own))).toBeNull();
  });

  it.each([
    '../../dev/null',
    "' OR '1'='1",
    'k'.repeat(10_240),
    'k1\0',
    7,
    ['k1'],
    { k: 1 },
    null,
    '',
    'toString',
    '__proto__',
  ])('refuses the key id %j', async (kid) => {
    expect(await check(rs256({}, { kid }))).toBeNull();
  });

  it('takes a token without key id only where there is one key', async () => {
    const header = { alg: HEADER.alg, typ: HEADER.typ };
    const token = signed(header, CLAIMS, rsa);
    expect(await check(token)).toBeNull();
    expect(await check(token, {}, setOf(jwkOf(rsa, 'k1')))).not.toBeNull();
  });

  it.each<[string, object, boolean]>([
    ['over', { exp: NOW - 61 }, false],
    ['over by less than clocks differ', { iat: NOW - 600, exp: NOW - 59 }, true],
    ['without expiry', { exp: undefined }, false],
    ['with a text for its expiry', { exp: String(NOW + 60) }, false],
    ['with an endless expiry', { exp: 1e308 }, false],
    ['valid later', { nbf: NOW + 61 }, false],
    ['valid in a minute', { nbf: NOW + 59 }, true],
    ['issued in the future', { iat: NOW + 61 }, false],
    ['that lasts longer than allowed', { exp: NOW + 86_461 }, false],
    ['that does not say since when it lasts too long', { iat: undefined, exp: NOW + 86_461 }, false],
    ['without subject', { sub: undefined }, true],
    ['with an empty subject', { sub: '' }, false],
    ['with an object for its subject', { sub: {} }, false],
    ['of another issuer', { iss: 'https://id.example' }, false],
    ['of no issuer', { iss: undefined }, false],
    ['of a list of issuers', { iss: ['https://id.example/'] }, false],
    ['for another audience', { aud: 'other' }, false],
    ['for no audience', { aud: undefined }, false],
    ['for several audiences, of which one is ours', { aud: ['other', 'gatehouse'] }, true],
    ['for the beginning of our audience', { aud: 'gate' }, false],
    ['for our audience in capitals', { aud: 'Gatehouse' }, false],
    ['for our audience inside of a list inside of a list', { aud: [['gatehouse']] }, false],
  ])('judges a token %s', async (_, claims, isGood) => {
    expect((await check(rs256(claims))) !== null).toBe(isGood);
  });

  it.each<[string, object, object]>([
    ['a nonce', { nonce: 'n' }, {}],
    ['the hash of an access token', { at_hash: 'h' }, {}],
    ['the mark of Cognito', { token_use: 'id' }, {}],
    ['the mark of Keycloak', { typ: 'ID' }, {}],
    ['a type of another use', {}, { typ: 'logout+jwt' }],
  ])('refuses what only identifies the user: a token with %s', async (_, claims, header) => {
    expect(await check(rs256(claims, header))).toBeNull();
  });

  it('can require access tokens by their type', async () => {
    const rules = { tokenTypes: ['at+jwt'] };
    expect(await check(rs256(), rules)).toBeNull();
    expect(await check(rs256({}, { typ: 'application/AT+JWT' }), rules)).not.toBeNull();
  });
});

describe('looksLikeToken', () => {
  it.each(['sk-abc', 'gw_ws_abc', 'ya29.a.b', 'eyJ.eyJ', 'a.b.c', '', 'ey.'.repeat(9000)])(
    'is not taken in by %j',
    (text) => {
      expect(looksLikeToken(text)).toBe(false);
    },
  );
});

describe('keysInSet', () => {
  it.each<[string, unknown]>([
    ['no object', 'x'],
    ['no list', { keys: {} }],
    ['an empty list', { keys: [] }],
    ['secrets only', { keys: [{ kty: 'oct', k: 'AAAA', kid: 'a' }] }],
    ['keys for encryption only', { keys: [{ kty: 'RSA', n: 'AA', e: 'AQAB', use: 'enc' }] }],
    [
      'too many keys',
      { keys: Array.from({ length: 1001 }, (_, i) => ({ kty: 'RSA', n: 'AA', e: 'AQAB', kid: `${i}` })) },
    ],
    ['two keys of one name', { keys: [1, 2].map(() => ({ kty: 'RSA', n: 'AA', e: 'AQAB', kid: 'a' })) }],
  ])('refuses %s', (_, set) => {
    expect(keysInSet(set)).toBeTypeOf('string');
  });

  it('keeps of a key what makes it, and nothing else', () => {
    const [key] = keysInSet({ keys: [{ ...jwkOf(rsa, 'a'), x5c: ['x'], d: 'private' }] }) as readonly {
      jwk: object;
    }[];
    expect(Object.keys(key?.jwk ?? {})).toEqual(['kty', 'n', 'e']);
  });

  it('holds a thousand keys', () => {
    const keys = Array.from({ length: 1000 }, (_, i) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      x: 'AA',
      kid: `${i}`,
    }));
    expect(keysInSet({ keys })).toHaveLength(1000);
    expect(JSON.stringify({ keys }).length).toBeLessThan(LARGEST_KEY_SET_BYTES);
  });
});

function flipped(token: string): string {
  const [head, body = '', ending] = token.split('.');
  const bytes = Buffer.from(body, 'base64url');
  bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1;
  return `${head}.${bytes.toString('base64url')}.${ending}`;
}

/** 256 bytes leave four bits of the last character unused. */
function withStrayBits(token: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = letters.indexOf(token.at(-1) ?? 'A');
  return token.slice(0, -1) + (letters[last + 1] ?? 'B');
}
