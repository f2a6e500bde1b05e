import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../common/errors/app-error.js';
import { FastPath } from './fast-path/fast-path.js';
import type { ClientRequest, ClientResponse } from '../common/http/messages.js';
import { isClosing } from '../common/http/lingering-close.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import type { Settings } from '../common/settings/settings.js';
import type { Probes } from '../common/supervision/probes.js';
import { sendRefusal } from '../gateway/delivery/refusal.js';
import { notBuilt, type RequestPlane as Owner, planeOf } from '../gateway/ingress/front-door.js';
import { checkHead, checkMethod, HEADERS_MAX } from '../gateway/ingress/request-hygiene.js';
import { refuseMalformed } from './malformed-requests.js';
import { createTlsServer } from './tls/tls-server.js';
import { acceptUpgrades, type Sockets } from './upgrades.js';

/** Request line and headers together. */
const HEADERS_BYTES_MAX = 16 * 1024;
/** Slow headers are cut off after this, or sooner if a complete request has less time: Node would swap the two. */
const HEADERS_TIMEOUT_MS = 10_000;
/** A quarter of the two seconds within which a client must be notified of its timeout: the rest is a margin for a busy process. */
const CHECKING_INTERVAL_MS = 500;
/** Longer than the idle timeout of common load balancers (60 s), so that they close first and never use a closed socket. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Connections waiting in the kernel to be accepted; of more at once some are reset, with Node's default of 511 one in ten of a burst of
 * 2,000. The kernel applies its own limit if that is lower (net.core.somaxconn, 4,096 on Linux):
 * https://man7.org/linux/man-pages/man2/listen.2.html
 */
const BACKLOG = 4_096;

/** Handles requests. Never throws. */
export interface Plane<Request = IncomingMessage, Response = ServerResponse> {
  handle(request: Request, response: Response): void;
}

export type FrontServerSettings = Pick<Settings, 'requestTimeoutMs' | 'hasFastPath' | 'tls'>;

export interface Planes {
  readonly gateway: Plane<ClientRequest, ClientResponse>;
  readonly administration: Plane & { endEventStreams(): void };
  readonly probes: Probes;
  readonly sockets: Sockets;
}

/** The web server in front of both planes: refuses requests that no honest client sends, and routes the others to their plane. */
export class FrontServer {
  private readonly server: Server;
  /** Null for plain HTTP. */
  private readonly endHandshakes: (() => void) | null;
  /** Null when Node's server reads every request. */
  private readonly fastPath: FastPath | null;
  /** Responses of Node's server whose head may not have been sent. */
  private readonly running = new Set<ServerResponse>();
  private draining = false;

  /** `requestTimeoutMs`: how long a client may take to send a complete request; then it gets 408. */
  constructor(
    private readonly planes: Planes,
    { requestTimeoutMs, hasFastPath, tls }: FrontServerSettings,
  ) {
    const options = {
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
      noDelay: true,
      highWaterMark: 64 * 1024,
      maxHeaderSize: HEADERS_BYTES_MAX,
    };
    const handle = (request: IncomingMessage, response: ServerResponse): void =>
      this.handle(request, response);
    const secured = tls ? createTlsServer(tls, options, handle) : null;
    this.server = secured?.server ?? createServer(options, handle);
    this.endHandshakes = secured?.endHandshakes ?? null;
    this.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      continueWhenRead(request, response);
      this.handle(request, response);
    });
    this.server.on('clientError', refuseMalformed);
    this.server.headersTimeout = Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs);
    this.server.requestTimeout = requestTimeoutMs;
    this.server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.server.maxHeadersCount = HEADERS_MAX;
    const accepted = tls ? 'secureConnection' : 'connection';
    const serveByNode = serverOf(this.server, accepted);
    acceptUpgrades(this.server, planes.sockets, serveByNode);
    const fastPath = hasFastPath ? this.createFastPath(serveByNode) : null;
    this.fastPath = fastPath;
    this.server.on(accepted, (socket: Socket) => {
      // One whose client certificate was refused is destroyed.
      if (socket.destroyed) return;
      if (fastPath) fastPath.accept(socket);
      else serveByNode(socket);
    });
  }

  private createFastPath(serveByNode: (socket: Socket) => void): FastPath {
    return new FastPath({
      keepAliveMs: KEEP_ALIVE_MS,
      isTaken: (url) => planeOf(url) === 'gateway',
      handle: (request, response) => {
        if (this.admits(request, response, 'gateway')) this.planes.gateway.handle(request, response);
      },
      serveByNode,
    });
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /** From now on every response says that its connection ends, also one to a request that arrived before, if its head was not sent. */
  drain(): void {
    this.draining = true;
    for (const response of this.running) if (!response.headersSent) response.shouldKeepAlive = false;
    this.fastPath?.drain();
  }

  /** Rejects when the address is unavailable. */
  listen(port: number, host: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ port, host, backlog: BACKLOG }, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
  }

  /**
   * Stops accepting, ends the administration's event streams, lets running requests finish for at most `timeoutMs`, then cuts off the
   * rest. A connection that was busy at first becomes idle later, hence the loop.
   */
  async close(timeoutMs: number): Promise<void> {
    const { server } = this;
    const closed = new Promise<void>((resolve) =>
      server.close(() => {
        resolve();
      }),
    );
    this.planes.administration.endEventStreams();
    this.endHandshakes?.();
    const idle = setInterval(() => {
      server.closeIdleConnections();
      this.fastPath?.closeIdle();
    }, 25);
    const cut = setTimeout(() => {
      server.closeAllConnections();
      this.fastPath?.closeAll();
      this.planes.sockets.close();
    }, timeoutMs);
    await closed;
    clearInterval(idle);
    clearTimeout(cut);
  }

  private handle(request: IncomingMessage, response: ServerResponse): void {
    const { url = '' } = request;
    this.running.add(response);
    response.once('close', () => this.running.delete(response));
    const plane = planeOf(url);
    if (isClosing(request) || !this.admits(request, response, plane)) return;
    const { gateway, administration, probes } = this.planes;
    if (plane === 'gateway') {
      if (this.fastPath?.isBetterEnded(request)) response.shouldKeepAlive = false;
      gateway.handle(request, response);
    } else if (plane === 'unbuilt') refuseUnidentified(request, response, AppError.from(notBuilt(url)));
    else if (!probes.answer(request, response)) administration.handle(request, response);
  }

  private admits(request: ClientRequest, response: ClientResponse, plane: Owner): boolean {
    if (this.isDraining) response.shouldKeepAlive = false;
    try {
      checkHead(request);
      // Paths of the administration and of the probes define their own methods.
      if (plane !== 'administration') checkMethod(request);
      return true;
    } catch (thrown) {
      refuseUnidentified(request, response, AppError.from(thrown));
      return false;
    }
  }
}

/**
 * Sends 100 Continue to a client with `Expect: 100-continue` only when the body is first read, so that a request refused by its head gets
 * that response first: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1 Reading first calls the `_read` of the stream:
 * https://nodejs.org/docs/latest-v20.x/api/stream.html#readable_readsize
 */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const read = request._read.bind(request);
  request._read = (size) => {
    request._read = read;
    // The rest of a refused request is read and discarded, and nothing may follow its response.
    if (!response.headersSent) response.writeContinue();
    read(size);
  };
}

/**
 * A server's own handling of a connection. It is the last listener of its `connection` event, which the owner of a socket may emit, or with
 * TLS of `secureConnection`: https://nodejs.org/docs/latest-v20.x/api/http.html#event-connection
 */
function serverOf(server: Server, event: 'connection' | 'secureConnection'): (socket: Socket) => void {
  const listeners = server.listeners(event) as ((socket: Socket) => void)[];
  const serve = listeners.at(-1);
  if (!serve) throw new Error("Node's server does not listen to its connections.");
  server.off(event, serve);
  return (socket) => serve.call(server, socket);
}

/** A refusal before authentication also has an id, for the operator. */
export function refuseUnidentified(request: ClientRequest, response: ClientResponse, error: AppError): void {
  const requestId = uuidV7(Date.now());
  const headers = ['x-gateway-request-id', requestId, 'x-gateway-error-source', 'gateway'];
  sendRefusal(request, response, { error, requestId, headers });
}
