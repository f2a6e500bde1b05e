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
import { type Release, Slots } from '../common/processes/slots.js';
import { isDashboardPath } from './dashboard-files.js';

/** How long to wait for an administration that is being started again, or has too much to do. Nothing was sent by then. */
const PATIENCE_MS = 20_000;
const CONNECT_PAUSE_MS = 50;
/**
 * Requests that are sent before earlier ones are being answered, at most. What more of them come at once waits here, in its order: a socket refuses
 * connections when many wait to be accepted, and a caller that retries then is served after later ones.
 */
const UNANSWERED = 64;
/** A request that takes long delays others no longer than this. */
const UNANSWERED_MS = 1_000;
/** And a slow sender, which anyone can be without a key, no longer than this. */
const SENDING_MS = 50;
/** Of connections that wait for the next request, at most. */
const IDLE_CONNECTIONS = 16;
/** Longer than any statement of the administration may take. */
const SILENCE_MS = 60_000;

/** What belongs to one connection, and what only this process may say. */
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

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upstream: ClientRequest;
}

/**
 * Carries requests of the administration to the process that answers them, and the answers back, as they are.
 * Connections are kept: the other side never closes one that waits, so one that breaks means that its process has ended.
 */
export class AdminRelay {
  private readonly connections = new Agent({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS });
  private readonly slots = new Slots(UNANSWERED);

  constructor(
    private readonly socketPath: string,
    private readonly addresses: ClientAddresses,
    private readonly refuse: (request: IncomingMessage, response: ServerResponse, error: AppError) => void,
    /** False while the administration waits for its database. */
    private readonly isExpected: () => boolean = () => true,
  ) {}

  /** Answers a request of the administration. Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isExpected() && !isDashboardPath(request.url ?? '')) {
      this.refuse(request, response, new AppError('database_unavailable'));
      return;
    }
    void this.relay(request, response);
  }

  private async relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    let release: Release | undefined;
    try {
      release = await this.slots.take(PATIENCE_MS, () => response.destroyed);
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
      // A client of an event stream waits for its head, which otherwise leaves with the first event.
      if (answer.headers['content-type'] === 'text/event-stream') response.flushHeaders();
      answer.on('error', () => response.destroy());
      if (request.complete) {
        answer.pipe(response);
        return;
      }
      // An answer may come before the body was read, as for one that is too large.
      request.unpipe(upstream).resume();
      answer.pipe(response, { end: false });
      answer.once('end', () => endLingering(request, response));
    });
    response.once('close', () => upstream.destroy());
    // A client that left while it waited will not close again.
    if (response.destroyed) {
      upstream.destroy();
      return;
    }
    if (hasBody(request)) carryBody(request, upstream);
    else upstream.end();
  }

  private broken({ request, response, upstream }: Exchange, error: Error): void {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (canBeAskedAgain(upstream, request)) return this.handle(request, response);
    logger.warn({ err: error }, 'The administration stopped before it responded.');
    const detail = 'it stopped before it responded. Check whether the change was made before you try again';
    this.refuse(request, response, new AppError('administration_unavailable', { detail }));
  }

  /** Names and values in turn, as the client wrote them. */
  private requestHeaders(request: IncomingMessage): string[] {
    const headers = relayed(request.rawHeaders);
    headers.push('connection', 'keep-alive', CLIENT_ADDRESS_HEADER, this.addresses.of(request));
    if (request.headers['transfer-encoding'] !== undefined) headers.push('transfer-encoding', 'chunked');
    // Node would announce a body in chunks with a POST that says no length, and the administration ask for its type.
    else if (!hasBody(request) && BODY_METHODS.has(request.method ?? '')) headers.push('content-length', '0');
    return headers;
  }
}

/**
 * A body that is announced too large stays where it is: the administration refuses the request by its head, and records the attempt. One that
 * grows too large is carried as far as shows it.
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
  // Behind the pipe, which has written the chunk by then.
  request.pipe(upstream);
  request.on('data', count);
}

/** When it is being answered, has ended, or took its time. */
function releaseSoon(request: IncomingMessage, upstream: ClientRequest, release: Release): void {
  const sending = setTimeout(() => request.complete || release(), SENDING_MS);
  const unanswered = setTimeout(release, UNANSWERED_MS);
  const isOver = (): void => {
    clearTimeout(sending);
    clearTimeout(unanswered);
    release();
  };
  upstream.once('response', isOver).once('close', isOver);
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** A kept connection may break just as a request is put on it. A request that changes nothing is retried over another. */
function canBeAskedAgain({ reusedSocket }: ClientRequest, request: IncomingMessage): boolean {
  return reusedSocket && (request.method === 'GET' || request.method === 'HEAD') && !hasBody(request);
}

/** A client that is still sending a body that is not read is informed that its connection ends with this response. */
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
