import { createHash } from 'node:crypto';
import { Agent, type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';

/** Header names and values as they go on the wire, in order; a name may repeat. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** What can be sent as it is: in one piece, or piece by piece with chunked encoding. */
type Bytes = Buffer | string | readonly Buffer[] | AsyncIterable<Buffer>;

export interface Call {
  readonly method?: string;
  /** Path and query exactly as they go on the wire. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A list is sent chunked, one write per item; a buffer, a string or JSON has a content length. */
  readonly body?: Bytes | object;
  readonly signal?: AbortSignal;
  /** Use a connection of its own, so that any of the processes behind the port may get it. */
  readonly fresh?: boolean;
}

/** An answer, unchanged: nothing is decompressed, followed or parsed. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: HeaderList;
  readonly body: Buffer;
  readonly sha256: string;
  /** `x-gateway-request-id`, or an empty string. */
  readonly requestId: string;
}

/** An answer whose body is still arriving. */
export interface OpenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestId: string;
  readonly stream: IncomingMessage;
  readonly request: ClientRequest;
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
export const jsonOf = (answer: { readonly body: Buffer }) => JSON.parse(answer.body.toString('utf8'));

export function pairs(rawHeaders: readonly string[]): HeaderList {
  const list: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    list.push([rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '']);
  return list;
}

/** A plain HTTP/1.1 client that adds nothing to what it was given, and keeps its connections. */
export class HttpClient {
  /** An idle connection is given up before the server closes it, after 75 s: otherwise a request may meet a socket that is closing. */
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 512, timeout: 60_000 });

  constructor(readonly baseUrl: string) {}

  async call(call: Call): Promise<Answer> {
    const { stream, ...head } = await this.open(call);
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    return { ...head, rawHeaders: pairs(stream.rawHeaders), body, sha256: sha256(body) };
  }

  /** Sends the request and answers as soon as the head of the answer is there. */
  open({ method = 'GET', path, headers = {}, body, signal, fresh }: Call): Promise<OpenAnswer> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(this.baseUrl);
      const bytes = isBytes(body) ? body : Buffer.from(JSON.stringify(body));
      const sent: Record<string, string> = isBytes(body)
        ? { ...headers }
        : { 'content-type': 'application/json', ...headers };
      if (Buffer.isBuffer(bytes) || typeof bytes === 'string')
        sent['content-length'] ??= String(Buffer.byteLength(bytes));
      // Node leaves a DELETE without any framing unless it is told.
      else if (bytes !== undefined) sent['transfer-encoding'] = 'chunked';
      const request = openRequest({
        hostname,
        port,
        method,
        path,
        headers: sent,
        agent: fresh ? false : this.agent,
        signal,
      });
      request.once('error', reject);
      request.once('response', (stream) => {
        const received = stream.headers as Record<string, string | undefined>;
        resolve({
          status: stream.statusCode ?? 0,
          headers: received,
          requestId: received['x-gateway-request-id'] ?? '',
          stream,
          request,
        });
      });
      send(request, bytes).catch(reject);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

async function send(request: ClientRequest, body: Bytes | undefined): Promise<void> {
  if (body === undefined || Buffer.isBuffer(body) || typeof body === 'string') {
    request.end(body);
    return;
  }
  for await (const part of body) {
    if (request.destroyed) return;
    if (!request.write(part)) await drained(request);
  }
  request.end();
}

const drained = (request: ClientRequest): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      request.off('drain', done).off('close', done);
      resolve();
    };
    request.on('drain', done).on('close', done);
  });

function isBytes(body: Call['body']): body is Bytes | undefined {
  return (
    typeof body !== 'object' ||
    Buffer.isBuffer(body) ||
    (Array.isArray(body) && body.every((item) => Buffer.isBuffer(item))) ||
    Symbol.asyncIterator in body
  );
}
