import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { IdentityService } from '../../auth/identity/identity.service.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { findEndpointRow } from '../../providers/endpoints/index.js';
import { Delivery } from '../delivery/delivery.js';
import { brokenResponse, type StopReason, stopExchange } from '../delivery/refusal.js';
import { authenticate, checkAccess, checkCaller, withOptions } from '../ingress/arrival.js';
import { exchangeBegan, exchangeEnded } from '../recording/exchange-metrics.js';
import { ExchangeRecorders } from '../recording/exchange-recorder.js';
import { checkPolicy } from '../planning/check-allowed.js';
import { checkNamedKey } from '../planning/check-targets.js';
import { ConfigPlans } from '../planning/config-plans.js';
import { httpInstead } from '../planning/http-instead.js';
import { Planner } from '../planning/planner.js';
import { trailOf } from '../types/attempt-trail.js';
import { requestPath } from '../types/request-path.js';
import { TargetAttempts } from '../attempt/attempt-target.js';
import { RequestAttempts } from '../attempt/request-attempts.js';
import { Router } from '../routing/router.js';
import type { Answer } from '../attempt/answer.js';
import type { ReadRequest } from '../types/content.js';
import type { Exchange } from '../recording/exchange.js';
import { withFacts } from '../types/exchange-facts.js';
import { Admission } from '../upstream/admission.js';
import { checkLoop } from '../upstream/request-headers.js';
import { takeKeyFromQuery, takeKeyFromSubprotocols } from '../upstream/subprotocols.js';
import { acceptUpgrade, checkHandshake, modelQuery, responseOn } from './handshake.js';
import { recordedSession, type ReservingSession } from './session-record.js';
import { RealtimeSessions } from './sessions.js';

/** Content of a handshake, besides its path. */
const SOCKET = {
  ...{ body: null, json: null, isStreamed: true, isRepeatable: true, waitedMs: 0 },
  isWebSocket: true,
} as const;

/** A WebSocket being opened: the exchange, its socket, and the bytes that followed the request on it. */
interface OpeningExchange extends Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Duplex;
  readonly early: Buffer;
}

/** Whose session it is, and what it was opened for. */
interface OpenedSession extends Pick<ReadRequest, 'modelSlug' | 'path'> {
  readonly caller: Principal;
}

/**
 * The journey of a WebSocket request: the steps of `pipeline.ts` up to the provider's response. A refusal, ours or the provider's, is an
 * ordinary HTTP response; after a `101`, bytes are relayed until one side disconnects.
 */
@Injectable()
export class Realtime {
  private readonly sessions: RealtimeSessions;

  constructor(
    private readonly identity: IdentityService,
    private readonly configs: ConfigPlans,
    private readonly planner: Planner,
    private readonly router: Router,
    private readonly attempts: TargetAttempts,
    private readonly recorders: ExchangeRecorders,
    private readonly admission: Admission,
    @Inject(SETTINGS) settings: Settings,
  ) {
    this.sessions = new RealtimeSessions(settings.timeouts.idleMs);
  }

  /** Takes over the socket of a WebSocket request. `early`: bytes that followed the request. Never throws. */
  handle(request: IncomingMessage, socket: Duplex, early: Buffer): void {
    takeKeyFromSubprotocols(request);
    takeKeyFromQuery(request);
    const response = responseOn(request, socket);
    const opening = { ...this.recorders.begin(request), request, response, socket, early };
    exchangeBegan();
    socket.once('close', exchangeEnded);
    this.sessions.isOpening(socket);
    void this.travel(opening);
  }

  /** Ends every session with "going away", and lets none begin. */
  close(): void {
    this.sessions.close();
  }

  private async travel(arrived: OpeningExchange): Promise<void> {
    let opening = arrived;
    try {
      const { request } = arrived;
      checkHandshake(request);
      const authenticated = await authenticate(this.identity, opening);
      opening = authenticated.exchange;
      const { caller } = authenticated;
      checkAccess(request, caller);
      opening = withOptions(opening, caller);
      checkLoop(request.headers);
      const { options } = opening.facts;
      this.sessions.checkRoom();

      const path = requestPath(request.url ?? '');
      opening = withFacts(opening, { endpoint: findEndpointRow('GET', path.path), path: path.path });
      const { query, model, slug } = modelQuery(path.query);
      const read = { ...SOCKET, path: { ...path, query }, model, modelSlug: slug };
      const config = await this.configs.find(caller, options.config);
      opening = withFacts(opening, { config: config.saved });
      checkNamedKey(config, options);
      opening = { ...opening, trail: trailOf(read) };
      const attempts = new RequestAttempts(this.attempts, { exchange: opening, caller, read });
      const { outcome, decisions } = await this.router.route(config.plan, attempts, attempts);
      opening = { ...opening, trail: outcome.trail, decisions };
      if (outcome.kind === 'failed') return this.stop(opening, outcome);
      const { answer } = outcome;
      if (answer.attempt.socket) this.begin(opening, answer, answer.attempt.socket, { ...read, caller });
      else this.deliver(opening, answer);
    } catch (error) {
      this.stop(opening, { error, failed: null });
    }
  }

  private begin(
    opening: OpeningExchange,
    answer: Answer,
    upstream: Duplex,
    { modelSlug, path, caller: opener }: OpenedSession,
  ): void {
    const { request, socket, early, facts, trail } = opening;
    const { target, planned } = answer;
    if (!acceptUpgrade(opening, answer.attempt)) {
      upstream.destroy();
      return this.stop(opening, brokenResponse(opening, answer, new AppError('upstream_protocol_error')));
    }
    const { session, reservations }: ReservingSession = recordedSession({
      sides: { client: socket, upstream },
      ...{ admission: this.admission, exchange: opening, sent: answer, caller: opener },
      onEnded: () => this.sessions.remove(session),
    });
    this.sessions.add(session, socket, async () => {
      const caller = await this.identity.identify(request);
      checkCaller(caller);
      if (caller.policy) checkPolicy(caller.policy, target, trail.model);
      const { headers } = request;
      const { options } = facts;
      // Limits may have changed, too.
      reservations.follow(
        caller,
        await this.planner.plan({ caller, headers, options, modelSlug, planned, path }),
      );
    });
    session.start(early);
  }

  /** The provider refused over HTTP: its response is delivered like any other. */
  private deliver(opening: OpeningExchange, answer: Answer): void {
    new Delivery(opening, answer, (error) => {
      this.stop(opening, brokenResponse(opening, answer, error));
    }).start();
  }

  private stop(opening: OpeningExchange, { error, failed }: StopReason): void {
    stopExchange(
      opening,
      { error: httpInstead(error, opening.facts.path), failed },
      opening.response.destroyed || opening.socket.destroyed,
    );
  }
}
