import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { authorizationOf, sha256 } from '../../../src/external-credentials/tokens/sigv4.js';

const REGION = 'eu-test-1';
const ACCESS_KEY = 'AKIDTEST';
const SECRET_KEY = 'canary-of-the-bucket-secret';
const BUCKET = 'gatehouse-test';
const PAGE = 3;

type Behaviour = (response: ServerResponse) => void;

/**
 * A bucket that speaks S3 over HTTP, in path style: put, get with ranges, delete, list with folders and pages. It works every
 * signature out anew, with the signer that Amazon's own vectors are held against, and refuses what does not fit.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export class S3Server {
  readonly objects = new Map<string, Buffer>();
  /** What requests for a key get in place of being served, tries and all. */
  readonly odd = new Map<string, Behaviour>();
  readonly refused: string[] = [];
  /** Answers 503 to everything. */
  isUnavailable = false;

  private constructor(private readonly server: ReturnType<typeof createServer>) {}

  static async start(): Promise<S3Server> {
    const server = createServer();
    const store = new S3Server(server);
    server.on('request', (request, response) => void store.take(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return store;
  }

  get settings(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return {
      GATEHOUSE_S3_BUCKET: BUCKET,
      GATEHOUSE_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      GATEHOUSE_S3_REGION: REGION,
      GATEHOUSE_S3_ACCESS_KEY_ID: ACCESS_KEY,
      GATEHOUSE_S3_SECRET_ACCESS_KEY: SECRET_KEY,
    };
  }

  keys(prefix = ''): string[] {
    return [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const odd = this.odd.get(pathOf(request).key);
    if (odd) return odd(response);
    if (this.isUnavailable) return failed(response, 503, 'SlowDown');
    const problem = problemOf(request, body);
    if (problem !== null) {
      this.refused.push(problem);
      return failed(response, 403, 'SignatureDoesNotMatch');
    }
    this.serve(request, body, response);
  }

  private serve(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { bucket, key, searchParams } = pathOf(request);
    if (bucket !== BUCKET) return failed(response, 404, 'NoSuchBucket');
    if (request.method === 'PUT') this.objects.set(key, body);
    if (request.method === 'DELETE') this.objects.delete(key);
    if (request.method !== 'GET')
      return void response.writeHead(request.method === 'DELETE' ? 204 : 200).end();
    if (key === '') return this.list(searchParams, response);
    this.get(key, request.headers.range, response);
  }

  private get(key: string, range: string | undefined, response: ServerResponse): void {
    const object = this.objects.get(key);
    if (!object) return failed(response, 404, 'NoSuchKey');
    const [, from, to = ''] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    const isWhole = from === undefined;
    const part = isWhole ? object : object.subarray(Number(from), Number(to) + 1);
    response.writeHead(isWhole ? 200 : 206, {
      'content-length': part.length,
      ...(isWhole ? {} : { 'content-range': `bytes ${from}-${to}/${object.length}` }),
    });
    response.end(part);
  }

  private list(query: URLSearchParams, response: ServerResponse): void {
    const prefix = query.get('prefix') ?? '';
    const delimiter = query.get('delimiter');
    const entries = new Set(
      this.keys(prefix).map((key) => {
        const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
        return end === -1 ? key : key.slice(0, end + 1);
      }),
    );
    const later = [...entries].filter((entry) => entry > (query.get('continuation-token') ?? ''));
    const page = later.slice(0, PAGE);
    const isTruncated = page.length < later.length;
    const listed = page.map((entry) =>
      delimiter !== null && entry.endsWith(delimiter)
        ? `<CommonPrefixes><Prefix>${entry}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${entry}</Key><Size>${this.objects.get(entry)?.length ?? 0}</Size></Contents>`,
    );
    const token = isTruncated ? `<NextContinuationToken>${page.at(-1) ?? ''}</NextContinuationToken>` : '';
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(
      `<?xml version="1.0"?><ListBucketResult><IsTruncated>${String(isTruncated)}</IsTruncated>${token}${listed.join('')}</ListBucketResult>`,
    );
  }
}

function pathOf(request: IncomingMessage) {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  const [, bucket, ...rest] = pathname.split('/').map(decodeURIComponent);
  return { bucket, key: rest.join('/'), searchParams };
}

function failed(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=[0-9a-f]{64}$/;

/** Null when the request is signed as it must be. */
function problemOf({ method = '', url = '', headers }: IncomingMessage, body: Buffer): string | null {
  const given = (headers.authorization ?? '').replaceAll(', ', ',').replaceAll(',', ', ');
  const [, accessKey, region, names = ''] = AUTHORIZATION.exec(given) ?? [];
  if (accessKey !== ACCESS_KEY || region !== REGION) return `the authorization is ${given}`;
  const payloadHash = String(headers['x-amz-content-sha256']);
  if (payloadHash !== 'UNSIGNED-PAYLOAD' && payloadHash !== sha256(body)) return 'the body is another';
  const signed = new Map(names.split(';').map((name) => [name, String(headers[name])]));
  if (!signed.has('host')) return 'the host is not signed';
  // The signer encodes a path once more than it came, which S3 alone of all services does not want.
  const [path = '', query] = url.split('?');
  const decoded = path.split('/').map(decodeURIComponent).join('/');
  const expected = authorizationOf(
    { method, path: query === undefined ? decoded : `${decoded}?${query}`, headers: signed, payloadHash },
    { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY },
    { region, service: 's3', timestamp: String(headers['x-amz-date']) },
  );
  return expected === given ? null : `expected ${expected}, got ${given}`;
}
