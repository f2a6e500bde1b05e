import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { chmod, rm } from 'node:fs/promises';
import { AppError, errorBody } from '../common/errors/app-error.js';
import { takeClientAddress } from '../common/http/client-address.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import type { DashboardFiles } from './dashboard-files.js';

/** Every gateway process may send many at once; Node's default of 511 would be shared by all of them. */
const BACKLOG = 4_096;
/** How long a request may wait for an administration that is still starting. */
const STARTING_TIMEOUT_MS = 20_000;

/**
 * The server behind the relay. It serves the dashboard from the start, even while the database is unavailable; requests to the
 * administration wait until that has started.
 */
export class RelayedServer {
  readonly server: Server;
  private administration: RequestListener | null = null;
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly dashboard: DashboardFiles,
    private readonly startingTimeoutMs = STARTING_TIMEOUT_MS,
  ) {
    // Only the other side closes an idle connection, so that it never writes to a closed one.
    this.server = createServer({ keepAliveTimeout: 0 }, (request, response) =>
      this.handle(request, response),
    );
  }

  /** A killed predecessor may have left its socket behind. */
  async listen(path: string): Promise<void> {
    await rm(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ path, backlog: BACKLOG }, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
    await chmod(path, 0o600);
  }

  /** From now on `administration` handles requests other than the dashboard's, including those that have waited. */
  begin(administration: RequestListener): void {
    this.administration = administration;
    for (const goOn of this.waiting) goOn();
    this.waiting.clear();
  }

  private handle(request: IncomingMessage, response: ServerResponse): void {
    takeClientAddress(request);
    if (this.dashboard.answer(request, response)) return;
    if (this.administration) this.administration(request, response);
    else this.wait(request, response);
  }

  private wait(request: IncomingMessage, response: ServerResponse): void {
    const goOn = (): void => {
      clearTimeout(timer);
      this.administration?.(request, response);
    };
    const timer = setTimeout(() => {
      this.waiting.delete(goOn);
      refuse(response);
    }, this.startingTimeoutMs);
    response.once('close', () => {
      clearTimeout(timer);
      this.waiting.delete(goOn);
    });
    this.waiting.add(goOn);
  }
}

function refuse(response: ServerResponse): void {
  const requestId = uuidV7(Date.now());
  const detail =
    'it is starting or waiting for its database. Nothing was changed; try again in a few seconds';
  const error = new AppError('administration_unavailable', { detail });
  response.writeHead(error.spec.status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    connection: 'close',
    'retry-after': '1',
    'x-gateway-request-id': requestId,
    'x-gateway-error-source': 'gateway',
  });
  response.end(JSON.stringify(errorBody(error, requestId)));
}
