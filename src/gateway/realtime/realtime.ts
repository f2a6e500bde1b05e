import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { presentedKey } from '../../auth/credentials.js';
import { IdentityService } from '../../auth/identity.service.js';
import type { Principal } from '../../auth/principal.js';
import { requireScope } from '../../auth/require-scope.js';
import { AppError } from '../../common/errors/app-error.js';
import { createLogger } from '../../common/observability/logger.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { Delivery } from '../delivery/delivery.js';
import { refuseExchange } from '../delivery/refusal.js';
import { readGatewayHeaders } from '../door/gateway-headers.js';
import { Entry } from '../journal/entry.js';
import { exchangeBegan, exchangeEnded } from '../journal/exchange-metrics.js';
import { type Asked, Planner } from '../planning/planner.js';
import { requestPath } from '../planning/request-path.js';
import { LogSink, PriceBook } from '../ports.js';
import type { Exchange } from '../types/exchange.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import { checkLoop } from '../upstream/request-headers.js';
import { FailedAttempt } from '../upstream/retry.js';
import { Sender } from '../upstream/sender.js';
import { acceptUpgrade, checkHandshake, handshakeRequest, responseOn } from './handshake.js';
import { modelQuery } from './model-query.js';
import type { Session } from './session.js';
import { recordedSession } from './session-record.js';
import { Sessions } from './sessions.js';
import { takeKeyFromSubprotocols } from './subprotocols.js';

const logger = createLogger('realtime');

const SCOPE = 'completions.write';

/** A WebSocket that is being opened: the exchange, its socket, and what came on it behind the request. */
interface Opening extends Exchange {
  readonly socket: Duplex;
  readonly early: Buffer;
}

/**
 * The journey of a request that wants a WebSocket: the steps of `pipeline.ts` up to the provider's answer. A refusal, ours or
 * the provider's, is an ordinary HTTP answer; after a `101` bytes are relayed until one side goes.
 */
@Injectable()
export class Realtime {
  private readonly sessions: Sessions;

  constructor(
    private readonly identity: IdentityService,
    private readonly planner: Planner,
    private readonly sender: Sender,
    private readonly sink: LogSink,
    private readonly prices: PriceBook,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    this.sessions = new Sessions(settings.timeouts.idleMs);
  }

  /** Takes over the socket of a request that wants a WebSocket. `early` came behind it. Never throws. */
  handle(request: IncomingMessage, socket: Duplex, early: Buffer): void {
    takeKeyFromSubprotocols(request);
    const response = responseOn(request, socket);
    const entry = new Entry(request, this.sink, this.prices);
    const opening = { request, response, entry, socket, early };
    exchangeBegan();
    socket.once('close', exchangeEnded);
    this.sessions.isOpening(socket);
    this.travel(opening).catch((thrown: unknown) => {
      this.stop(opening, thrown);
    });
  }

  /** Ends every session with "going away", and lets none begin. */
  close(): void {
    this.sessions.close();
  }

  private async travel(opening: Opening): Promise<void> {
    const { request, entry } = opening;
    checkHandshake(request);
    const caller = await this.identify(request);
    entry.caller = caller;
    entry.gatewayKey = presentedKey(request.headers);
    const options = (entry.asked = readGatewayHeaders(request.headers));
    entry.traceId = options.traceId ?? entry.id;
    checkLoop(request.headers);
    this.sessions.checkRoom();

    const path = requestPath(request.url ?? '');
    const { query, model, slug } = modelQuery(path.query);
    entry.model = model;
    entry.isStreamed = true;
    const asked = { caller, headers: request.headers, options, modelSlug: slug };
    const target = (entry.target = await this.planner.plan(asked));
    const wire = handshakeRequest(opening, { ...path, query }, target);

    entry.overheadMs = performance.now() - entry.arrivedAt;
    await entry.open(caller);
    const attempt = this.sender.start(
      caller.workspaceId ?? '',
      target,
      wire,
      this.sender.limitsFor(options.timeoutMs),
    );
    await this.answered(attempt, opening.response);
    if (attempt.socket) this.begin(opening, attempt, attempt.socket, asked);
    else this.deliver(opening, attempt, target);
  }

  private async identify(request: IncomingMessage): Promise<Principal> {
    const caller = await this.identity.identify(request);
    requireScope(caller, SCOPE);
    return caller;
  }

  /** A client that leaves meanwhile ends the try. One that was never sent is not tried again: a client of a WebSocket does that itself. */
  private async answered(attempt: Attempt, response: ServerResponse): Promise<void> {
    const onLeft = (): void => attempt.cancel();
    response.once('close', onLeft);
    try {
      if (response.destroyed) onLeft();
      await attempt.reply;
    } catch (error) {
      throw new FailedAttempt(attempt, AppError.from(error));
    } finally {
      response.off('close', onLeft);
    }
  }

  private begin(opening: Opening, attempt: Attempt, upstream: Duplex, asked: Asked): void {
    const { request, entry, socket, early } = opening;
    if (!acceptUpgrade(opening, attempt)) {
      upstream.destroy();
      throw new FailedAttempt(attempt, new AppError('upstream_protocol_error'));
    }
    const target = entry.target as Target;
    const session: Session = recordedSession({
      sides: { client: socket, upstream },
      ...{ entry, attempt, target, prices: this.prices },
      onEnded: () => this.sessions.remove(session),
    });
    this.sessions.add(session, socket, async () => {
      await this.planner.plan({ ...asked, caller: await this.identify(request) });
    });
    session.start(early);
  }

  /** The provider refused, in HTTP: its answer goes to the client as any other does. */
  private deliver(opening: Opening, attempt: Attempt, target: Target): void {
    new Delivery(opening, attempt, target, (error) => {
      this.stop(opening, new FailedAttempt(attempt, error));
    }).start();
  }

  private stop(opening: Opening, thrown: unknown): void {
    const { entry, response } = opening;
    const failed = thrown instanceof FailedAttempt ? thrown : null;
    const error = AppError.from(failed ? failed.error : thrown);
    const hasLeft = response.destroyed || opening.socket.destroyed;
    if (error.code === 'internal_error')
      logger.error({ err: error, id: entry.id }, 'a WebSocket failed by our own fault');
    if (failed && entry.target) entry.addAttempt(failed.attempt, entry.target, hasLeft ? null : error.code);
    refuseExchange({ ...opening, error, hasLeft, attempt: failed ? failed.attempt : null });
  }
}
