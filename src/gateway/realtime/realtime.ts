import type { IncomingMessage } from 'node:http';
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
import { findEndpointRow } from '../../providers/endpoints/index.js';
import { Delivery } from '../delivery/delivery.js';
import { refuseExchange } from '../delivery/refusal.js';
import { readGatewayHeaders } from '../door/gateway-headers.js';
import { exchangeBegan, exchangeEnded } from '../journal/exchange-metrics.js';
import { Journal } from '../journal/journal.js';
import { checkPolicy } from '../planning/check-policy.js';
import { ConfigPlans } from '../planning/config-plans.js';
import { Planner } from '../planning/planner.js';
import { requestPath } from '../planning/request-path.js';
import { Dispatcher } from '../routing/dispatcher.js';
import type { Answer } from '../types/answer.js';
import type { Exchange } from '../types/exchange.js';
import { checkLoop } from '../upstream/request-headers.js';
import { FailedAttempt } from '../upstream/retry.js';
import { takeKeyFromSubprotocols } from '../upstream/subprotocols.js';
import { acceptUpgrade, checkHandshake, responseOn } from './handshake.js';
import { modelQuery } from './model-query.js';
import type { Session } from './session.js';
import { recordedSession } from './session-record.js';
import { Sessions } from './sessions.js';

const logger = createLogger('realtime');

const SCOPE = 'completions.write';

/** What a handshake says besides its path. */
const SOCKET = {
  ...{ body: null, json: null, isStreamed: true, isRepeatable: true, waitedMs: 0 },
  isWebSocket: true,
} as const;

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
    private readonly configs: ConfigPlans,
    private readonly planner: Planner,
    private readonly dispatcher: Dispatcher,
    private readonly journal: Journal,
    @Inject(SETTINGS) settings: Settings,
  ) {
    this.sessions = new Sessions(settings.timeouts.idleMs);
  }

  /** Takes over the socket of a request that wants a WebSocket. `early` came behind it. Never throws. */
  handle(request: IncomingMessage, socket: Duplex, early: Buffer): void {
    takeKeyFromSubprotocols(request);
    const response = responseOn(request, socket);
    const entry = this.journal.begin(request);
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
    entry.endpoint = findEndpointRow('GET', path.path);
    const { query, model, slug } = modelQuery(path.query);
    const read = { ...SOCKET, path: { ...path, query }, model, modelSlug: slug };
    const config = await this.configs.find(caller, options.config);
    entry.config = config.saved;
    const answer = await this.dispatcher.dispatch({ exchange: opening, caller, read, leg: null }, config.plan);
    if (answer.attempt.socket) this.begin(opening, answer, answer.attempt.socket, slug);
    else this.deliver(opening, answer);
  }

  private async identify(request: IncomingMessage): Promise<Principal> {
    const caller = await this.identity.identify(request);
    requireScope(caller, SCOPE);
    return caller;
  }

  private begin(
    opening: Opening,
    { attempt, target, planned }: Answer,
    upstream: Duplex,
    modelSlug: string | null,
  ): void {
    const { request, entry, socket, early } = opening;
    if (!acceptUpgrade(opening, attempt)) {
      upstream.destroy();
      throw new FailedAttempt(attempt, new AppError('upstream_protocol_error'));
    }
    const session: Session = recordedSession({
      sides: { client: socket, upstream },
      ...{ entry, attempt, target, prices: this.journal.prices },
      onEnded: () => this.sessions.remove(session),
    });
    this.sessions.add(session, socket, async () => {
      const caller = await this.identify(request);
      if (caller.policy) checkPolicy(caller.policy, target.provider.id, entry.model);
      const { headers } = request;
      await this.planner.plan({ caller, headers, options: entry.asked, modelSlug, planned });
    });
    session.start(early);
  }

  /** The provider refused, in HTTP: its answer goes to the client as any other does. */
  private deliver(opening: Opening, { attempt, target }: Answer): void {
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
    if (failed?.attempt.target)
      entry.addDiscarded(failed.attempt, failed.attempt.target, hasLeft ? null : error.code);
    refuseExchange({ ...opening, error, hasLeft, attempt: failed ? failed.attempt : null });
  }
}
