import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { findEndpointRow } from '../../providers/endpoints/index.js';
import { PassThroughDelivery } from '../delivery/pass-through-delivery.js';
import { brokenResponse, type StopReason, stopExchange } from '../delivery/refusal.js';
import { checkPolicy } from '../planning/check-allowed.js';
import { httpInstead } from '../planning/http-instead.js';
import { Planner } from '../planning/planner.js';
import { requestPath } from '../types/request-path.js';
import type { Answer } from '../attempt/answer.js';
import type { ReadRequest } from '../types/content.js';
import type { Exchange } from '../recording/exchange.js';
import {
  checkAccess,
  checkCaller,
  RequestSteps,
  withCaller,
  withConfig,
  withContent,
  withOptions,
} from '../request-steps.js';
import { withFacts } from '../types/exchange-facts.js';
import { checkLoop } from '../upstream/request-headers.js';
import { checkNamedKey } from '../planning/check-targets.js';
import { Admission } from '../upstream/admission.js';
import { takeKeyFromQuery, takeKeyFromSubprotocols } from '../upstream/subprotocols.js';
import { acceptUpgrade, checkHandshake, modelQuery, responseOn } from './handshake.js';
import { recordedSession, type ReservingSession } from './session-record.js';
import { RealtimeSessions } from './sessions.js';

/** Content of a handshake, besides its path. Without a body there is nothing to keep, to cache, to judge or to hedge. */
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
 * The journey of a WebSocket request. Up to the provider's response it takes the steps of `pipeline.ts`, except that it
 *
 * - checks the handshake, and whether the process has room for a session;
 * - has no body: nothing of it is read, kept or cached, and the query names the model;
 * - passes a refusal of the provider on as it is: neither translated nor judged.
 *
 * After a `101`, bytes are relayed until one side disconnects.
 */
@Injectable()
export class Realtime {
  private readonly sessions: RealtimeSessions;

  constructor(
    private readonly steps: RequestSteps,
    private readonly planner: Planner,
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
    // The signal follows the socket: a response that has accepted the upgrade no longer has it.
    const exchange = this.steps.begin({ request, response, streams: null }, socket);
    const opening = { ...exchange, request, response, socket, early };
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
      const caller = await this.steps.identify(opening);
      opening = withCaller(opening, caller);
      checkAccess(request, caller);
      opening = withOptions(opening, caller);
      checkLoop(request.headers);
      this.sessions.checkRoom();

      const read = readHandshake(request);
      const { path } = read.path;
      opening = withFacts(opening, { endpoint: findEndpointRow('GET', path), path });
      const config = await this.steps.findConfig(caller, opening);
      opening = withConfig(opening, config);
      checkNamedKey(config, opening.facts.options);
      opening = withContent(opening, read);

      const { outcome, decisions } = await this.steps.route({ exchange: opening, caller, read }, config);
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
      const caller = await this.steps.identify(opening);
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
    new PassThroughDelivery(opening, answer, (error) => {
      this.stop(opening, brokenResponse(opening, answer, error));
    }).start();
  }

  private stop(opening: OpeningExchange, { error, failed }: StopReason): void {
    stopExchange(
      opening,
      { error: httpInstead(error, opening.facts.path), failed },
      opening.signal.isCancelled,
    );
  }
}

/** The content of a handshake: its query names the model. */
function readHandshake(request: IncomingMessage): ReadRequest {
  const path = requestPath(request.url ?? '');
  const { query, model, slug } = modelQuery(path.query);
  return { ...SOCKET, path: { ...path, query }, model, modelSlug: slug };
}
