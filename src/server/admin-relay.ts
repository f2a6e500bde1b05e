import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request as connectTo,
  type ServerResponse,
} from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../common/errors/app-error.js';
import { bodyLimitOf } from '../common/http/body-limits.js';
import { CLIENT_ADDRESS_HEADER, type ClientAddresses } from '../common/http/client-address.js';
import { endLingering } from '../common/http/lingering-close.js';
import { createLogger } from '../common/observability/logger.js';
import { type Release, Semaphore } from '../common/processes/semaphore.js';
import { isDashboardPath } from './dashboard-files.js';

/** How long to wait for an administration that is restarting or overloaded. Nothing was sent by then. */
const RELAY_TIMEOUT_MS = 20_000;
const CONNECT_PAUSE_MS = 50;
/**
 * Maximum number of requests sent before earlier ones are answered. Further concurrent ones wait here, in order: a socket refuses
 * connections when many wait to be accepted, and a caller that retries is then served after later ones.
 */
const UNANSWERED = 64;
/** Maximum time that a slow request delays others. */
const UNANSWERED_MS = 1_000;
/** Maximum time that a slow sender, which needs no key, delays others. */
const SENDING_MS = 50;
/** Maximum number of idle connections. */
const IDLE_CONNECTIONS = 16;
/** Longer than any statement timeout of the administration. */
const SILENCE_MS = 60_000;

/** Headers that belong to one connection, and those that only this process may set. */
const NOT_RELAYED: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  CLIENT_ADDRESS_HEADER,
]);

/** Methods that usually have a body: RFC 9110, 8.6, requires a length of zero from one without. */
const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

const logger = createLogger('administration');

interface RelayedExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upstream: ClientRequest;
}

/**
 * Relays requests to the administration's process, and its responses back, unchanged. Connections are kept: the other side never closes an
 * idle one, so a broken one means that its process has ended.
 */
export class AdminRelay {
  private readonly connections = new Agent({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS });
  private readonly slots = new Semaphore(UNANSWERED);
  /** Ends each event stream that is being relayed. */
  private readonly eventStreams = new Set<() => void>();
  private isClosing = false;

  constructor(
    private readonly socketPath: string,
    private readonly addresses: ClientAddresses,
    private readonly refuse: (request: IncomingMessage, response: ServerResponse, error: AppError) => void,
    /** False while the administration waits for its database. */
    private readonly isExpected: () => boolean = () => true,
  ) {}

  /** Serves a request to the administration. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isExpected() && !isDashboardPath(request.url ?? '')) {
      this.refuse(request, response, new AppError('database_unavailable'));
      return;
    }
    void this.relay(request, response);
  }

  /** Ends event streams, present and future ones: they never finish by themselves, and their clients reconnect elsewhere. */
  endEventStreams(): void {
    this.isClosing = true;
    for (const end of this.eventStreams) end();
  }

  private async relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const deadline = performance.now() + RELAY_TIMEOUT_MS;
    let release: Release | undefined;
    try {
      release = await this.slots.take(RELAY_TIMEOUT_MS, { isGone: () => response.destroyed });
      const upstream = await this.connect(request, response, deadline);
      releaseSoon(request, upstream, release);
      this.carry(request, response, upstream);
    } catch {
      release?.();
      const detail =
        'it is starting, has just stopped, or is overloaded. Nothing was changed; try again in a few seconds';
      this.refuse(request, response, new AppError('administration_unavailable', { detail }));
    }
  }

  private async connect(
    request: IncomingMessage,
    response: ServerResponse,
    deadline: number,
  ): Promise<ClientRequest> {
    for (;;) {
      try {
        return await this.dial(request);
      } catch (error) {
        if (performance.now() > deadline || response.destroyed) throw error;
      }
      await sleep(CONNECT_PAUSE_MS);
    }
  }

  private dial(request: IncomingMessage): Promise<ClientRequest> {
    return new Promise((resolve, reject) => {
      const upstream = connectTo({
        socketPath: this.socketPath,
        method: request.method,
        path: request.url,
        headers: this.requestHeaders(request),
        agent: this.connections,
        timeout: SILENCE_MS,
      });
      upstream.once('error', reject);
      const isThere = (): void => {
        upstream.off('error', reject);
        resolve(upstream);
      };
      upstream.once('socket', (socket) => {
        if (socket.connecting) socket.once('connect', isThere);
        else isThere();
      });
    });
  }

  private carry(request: IncomingMessage, response: ServerResponse, upstream: ClientRequest): void {
    upstream.on('error', (error) => this.broken({ request, response, upstream }, error));
    upstream.once('timeout', () => upstream.destroy(new Error('no response in time')));
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answerHeaders(answer, request));
      answer.on('error', () => response.destroy());
      if (answer.headers['content-type'] === 'text/event-stream') this.watchEventStream(answer, response);
      if (request.complete) {
        answer.pipe(response);
        return;
      }
      // A response may arrive before the body was read, for example if it is too large.
      request.unpipe(upstream).resume();
      answer.pipe(response, { end: false });
      answer.once('end', () => endLingering(request, response));
    });
    response.once('close', () => upstream.destroy());
    // A client that disconnected while waiting will not close again.
    if (response.destroyed) {
      upstream.destroy();
      return;
    }
    if (hasBody(request)) carryBody(request, upstream);
    else upstream.end();
  }

  private watchEventStream(answer: IncomingMessage, response: ServerResponse): void {
    // The client waits for the head, which would otherwise leave with the first event.
    response.flushHeaders();
    const end = (): void => {
      answer.unpipe(response);
      // The last bytes would wait for a client that does not read.
      if (response.writableNeedDrain) response.destroy();
      else response.end();
    };
    this.eventStreams.add(end);
    response.once('close', () => this.eventStreams.delete(end));
    if (this.isClosing) setImmediate(end);
  }

  private broken({ request, response, upstream }: RelayedExchange, error: Error): void {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (isRetryable(upstream, request)) return this.handle(request, response);
    logger.warn({ err: error }, 'The administration stopped before it responded.');
    const detail = 'it stopped before it responded. Check whether the change was made before you try again';
    this.refuse(request, response, new AppError('administration_unavailable', { detail }));
  }

  /** Names and values in turn, as sent by the client. */
  private requestHeaders(request: IncomingMessage): string[] {
    const headers = relayed(request.rawHeaders);
    headers.push('connection', 'keep-alive', CLIENT_ADDRESS_HEADER, this.addresses.of(request));
    if (request.headers['transfer-encoding'] !== undefined) headers.push('transfer-encoding', 'chunked');
    // Node would announce a chunked body for a POST without a length, and the administration would require its type.
    else if (!hasBody(request) && BODY_METHODS.has(request.method ?? '')) headers.push('content-length', '0');
    return headers;
  }
}

/**
 * A body that announces too large a size is not relayed: the administration refuses the request by its head, and records the attempt. One
 * that grows too large is relayed as far as needed to detect it.
 */
function carryBody(request: IncomingMessage, upstream: ClientRequest): void {
  const limitBytes = bodyLimitOf(request.url ?? '');
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    upstream.flushHeaders();
    return;
  }
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > limitBytes) request.off('data', count).unpipe(upstream).pause();
  };
  // After the pipe, which has written the chunk by then.
  request.pipe(upstream);
  request.on('data', count);
}

/** Released when it is being answered, has ended, or took too long. */
function releaseSoon(request: IncomingMessage, upstream: ClientRequest, release: Release): void {
  const sending = setTimeout(() => request.complete || release(), SENDING_MS);
  const unanswered = setTimeout(release, UNANSWERED_MS);
  const onEnd = (): void => {
    clearTimeout(sending);
    clearTimeout(unanswered);
    release();
  };
  upstream.once('response', onEnd).once('close', onEnd);
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** A kept connection may break just as a request is sent on it. A request without side effects is retried on another. */
function isRetryable({ reusedSocket }: ClientRequest, request: IncomingMessage): boolean {
  return reusedSocket && (request.method === 'GET' || request.method === 'HEAD') && !hasBody(request);
}

/** A client that is still sending an unread body is informed that its connection ends with this response. */
function answerHeaders(answer: IncomingMessage, request: IncomingMessage): string[] {
  const headers = relayed(answer.rawHeaders);
  if (!request.complete) headers.push('connection', 'close');
  return headers;
}

function relayed(raw: readonly string[]): string[] {
  const headers: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name, value] = [raw[at] as string, raw[at + 1] as string];
    if (!NOT_RELAYED.has(name.toLowerCase())) headers.push(name, value);
  }
  return headers;
}
