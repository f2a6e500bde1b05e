import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppError } from './common/errors/app-error.js';
import { uuidV7 } from './common/ids/uuid-v7.js';
import type { Probes } from './common/observability/probes.js';
import { refuse } from './gateway/delivery/refusal.js';
import { planeOf } from './gateway/door/front-door.js';
import { checkHead, HEADERS_MAX } from './gateway/door/request-hygiene.js';
import type { Pipeline } from './gateway/pipeline.js';

/** Slow headers are cut after this; a body has as long as a large upload on a slow line takes. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15 * 60_000;
const CHECKING_INTERVAL_MS = 1_000;
/** Longer than the idle timeout of common balancers (60 s), so that they close first and never meet a closed socket. */
const KEEP_ALIVE_MS = 75_000;

const ADMIN_BODY_BYTES_MAX = 1024 * 1024;

/**
 * The web server that both planes share. Requests of the data plane never enter Nest: they go from Node's
 * parser to the pipeline. Everything else is Nest's, on Fastify.
 */
export class FrontServer {
  readonly adapter: FastifyAdapter;
  private server: Server | undefined;
  private nest: RequestListener = () => undefined;
  private pipeline: Pipeline | undefined;
  private probes: Probes | undefined;
  isDraining = false;

  constructor() {
    this.adapter = new FastifyAdapter({
      bodyLimit: ADMIN_BODY_BYTES_MAX,
      serverFactory: (handler: RequestListener) => {
        this.nest = handler;
        return this.listen();
      },
    });
  }

  /** Both planes are ready to be asked. Before this call, everything is refused. */
  open(pipeline: Pipeline, probes: Probes): void {
    this.pipeline = pipeline;
    this.probes = probes;
  }

  /**
   * Stops accepting, lets what runs finish for `timeoutMs` at most, then cuts the rest. A connection that was
   * busy at the start becomes idle later, hence the loop.
   */
  async close(timeoutMs: number): Promise<void> {
    const server = this.server;
    if (!server) return;
    const closed = new Promise<void>((resolve) =>
      server.close(() => {
        resolve();
      }),
    );
    const idle = setInterval(() => {
      server.closeIdleConnections();
    }, 25);
    const cut = setTimeout(() => {
      server.closeAllConnections();
    }, timeoutMs);
    await closed;
    clearInterval(idle);
    clearTimeout(cut);
  }

  private listen(): Server {
    const options = {
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
      noDelay: true,
      highWaterMark: 64 * 1024,
    };
    const server = createServer(options, (request, response) => {
      this.handle(request, response);
    });
    server.headersTimeout = HEADERS_TIMEOUT_MS;
    server.requestTimeout = REQUEST_TIMEOUT_MS;
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.maxHeadersCount = HEADERS_MAX;
    this.server = server;
    return server;
  }

  private handle(request: IncomingMessage, response: ServerResponse): void {
    if (this.isDraining) response.shouldKeepAlive = false;
    try {
      checkHead(request);
      if (!this.pipeline || !this.probes) throw new AppError('overloaded');
    } catch (thrown) {
      refuse(request, response, { error: AppError.from(thrown), ...unidentified() });
      return;
    }
    if (planeOf(request.url ?? '') === 'gateway') this.pipeline.handle(request, response);
    else if (!this.probes.answer(request, response)) this.nest(request, response);
  }
}

/** A refusal before anybody was identified still has an id, for the operator's sake. */
function unidentified() {
  const requestId = uuidV7(Date.now());
  return { requestId, headers: ['x-gateway-request-id', requestId, 'x-gateway-error-source', 'gateway'] };
}
