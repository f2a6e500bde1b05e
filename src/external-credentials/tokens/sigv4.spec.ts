import { describe, expect, it } from 'vitest';
import { authorizationOf, sha256, timestampOf } from './sigv4.js';

/**
 * AWS's own signing test suite:
 * https://github.com/awslabs/aws-c-auth/tree/main/tests/aws-signing-test-suite/v4, and for the header cases
 * https://github.com/smithy-lang/smithy-typescript/blob/main/packages/signature-v4/src/suite.fixture.ts
 */
const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const TIMESTAMP = timestampOf(Date.UTC(2015, 7, 30, 12, 36, 0));
const SCOPE = { region: 'us-east-1', service: 'service', timestamp: TIMESTAMP };
const SESSION_TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';
const UNRESERVED = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

interface Sigv4Vector {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signature: string;
}

const VECTORS: readonly Sigv4Vector[] = [
  { name: 'get-vanilla', signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31' },
  {
    name: 'get-header-key-duplicate',
    headers: { 'my-header1': 'value2,value2,value1' },
    signature: 'c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea',
  },
  {
    name: 'get-header-value-trim',
    headers: { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
    signature: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  },
  {
    name: 'get-unreserved',
    path: `/${UNRESERVED}`,
    signature: '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  },
  {
    name: 'get-utf8',
    path: '/ሴ',
    signature: '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
  },
  {
    name: 'get-space-normalized',
    path: '/example space/',
    signature: '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
  },
  {
    name: 'get-relative-normalized, the signature of get-vanilla',
    path: '/example/..',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    name: 'get-slashes-normalized, the signature of get-vanilla for slashes alone',
    path: '//',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    name: 'get-vanilla-empty-query-key',
    path: '/?Param1=value1',
    signature: 'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  },
  {
    name: 'get-vanilla-query-order-key-case',
    path: '/?Param2=value2&Param1=value1',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  {
    name: 'get-vanilla-query-unreserved',
    path: `/?${UNRESERVED}=${UNRESERVED}`,
    signature: '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  },
  {
    name: 'get-vanilla-utf8-query',
    path: '/?ሴ=bar',
    signature: '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  },
  {
    name: 'post-vanilla',
    method: 'POST',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  {
    name: 'post-header-value-case',
    method: 'POST',
    headers: { 'my-header1': 'VALUE1' },
    signature: 'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
  },
  {
    name: 'post-sts-header-before',
    method: 'POST',
    headers: { 'x-amz-security-token': SESSION_TOKEN },
    signature: '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  },
  {
    name: 'post-vanilla-query-nonunreserved',
    method: 'POST',
    path: `/?${encodeURIComponent('@#$%^')}=&%2B=${encodeURIComponent('/,?><`";:\\|][{}')}`,
    signature: '66c82657c86e26fb25238d0e69f011edc4c6df5ae71119d7cb98ed9b87393c1e',
  },
  {
    name: 'post-x-www-form-urlencoded',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'Param1=value1',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
  {
    name: 'post-x-www-form-urlencoded-parameters',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf8' },
    body: 'Param1=value1',
    signature: '1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe',
  },
];

const authorization = ({
  method = 'GET',
  path = '/',
  headers = {},
  body = '',
}: Partial<Sigv4Vector>): string =>
  authorizationOf(
    {
      method,
      path,
      headers: new Map(
        Object.entries({ host: 'example.amazonaws.com', 'x-amz-date': TIMESTAMP, ...headers }),
      ),
      payloadHash: sha256(body),
    },
    CREDENTIALS,
    SCOPE,
  );

describe('AWS Signature Version 4', () => {
  it.each(VECTORS)('signs $name as the test suite of AWS does', (vector) => {
    const names = ['host', 'x-amz-date', ...Object.keys(vector.headers ?? {})].sort().join(';');
    expect(authorization(vector)).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${vector.signature}`,
    );
  });

  it('distinguishes an encoded path from a plain one, because it encodes what goes over the wire', () => {
    expect(authorization({ path: '/model/a%3A0/converse' })).not.toBe(
      authorization({ path: '/model/a:0/converse' }),
    );
  });

  it.each(['/%', '/?%zz=%', '/\ud800', '/?\udfff'])('signs %j without an error', (path) => {
    expect(authorization({ path })).toContain('Signature=');
  });
});
