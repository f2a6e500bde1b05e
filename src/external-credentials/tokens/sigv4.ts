import { createHash, createHmac } from 'node:crypto';

/** Keys of an AWS account, its own or those of a role. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/** The request to sign. `path` is as sent, with its query. */
export interface SignableRequest {
  readonly method: string;
  readonly path: string;
  /** All of these are signed: lower-case names and their values. */
  readonly headers: ReadonlyMap<string, string>;
  /** SHA-256 of the body as hexadecimal digits, or `UNSIGNED-PAYLOAD`. */
  readonly payloadHash: string;
}

export interface SigningScope {
  readonly region: string;
  readonly service: string;
  /** `20150830T123600Z` */
  readonly timestamp: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const UNRESERVED_BY_URI = /[!'()*]/g;

export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';

export const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

export function timestampOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/[-:]|\.\d{3}/g, '');
}

/**
 * The value of the `Authorization` header by AWS Signature Version 4:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export function authorizationOf(
  request: SignableRequest,
  { accessKeyId, secretAccessKey }: Pick<AwsCredentials, 'accessKeyId' | 'secretAccessKey'>,
  { region, service, timestamp }: SigningScope,
): string {
  const names = [...request.headers.keys()].sort();
  const date = timestamp.slice(0, 8);
  const scope = `${date}/${region}/${service}/aws4_request`;
  const signable = [ALGORITHM, timestamp, scope, sha256(canonicalRequest(request, names))].join('\n');
  const signingKey = [date, region, service, 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${secretAccessKey}`,
  );
  const signature = hmac(signingKey, signable).toString('hex');
  return `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
}

function canonicalRequest({ method, path, headers, payloadHash }: SignableRequest, names: string[]): string {
  const query = path.indexOf('?');
  const lines = names.map((name) => `${name}:${(headers.get(name) ?? '').trim().replace(/ +/g, ' ')}\n`);
  return [
    method,
    canonicalPath(query === -1 ? path : path.slice(0, query)),
    query === -1 ? '' : canonicalQuery(path.slice(query + 1)),
    lines.join(''),
    names.join(';'),
    payloadHash,
  ].join('\n');
}

/**
 * Every service except S3 encodes the sent path, which is encoded already, a second time, without dot segments and empty ones: a `%3A` in a
 * model's id is signed as `%253A`.
 */
function canonicalPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(encode(segment));
  }
  const end = segments.length > 0 && /\/\.{0,2}$/.test(path) ? '/' : '';
  return `/${segments.join('/')}${end}`;
}

function canonicalQuery(query: string): string {
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
      return [encode(decode(name)), encode(decode(value))] as const;
    });
  pairs.sort((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]));
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

/** Compares bytes, which are ASCII here, and not by locale. */
const compare = (a: string, b: string): number => Number(a > b) - Number(a < b);

/** Percent-encodes all but the unreserved characters of RFC 3986. An unpaired surrogate, which has no encoding, is replaced. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString()).replace(
    UNRESERVED_BY_URI,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
