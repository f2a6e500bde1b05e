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
import { type Exchange, exchangeWith, withFacts } from '../recording/exchange.js';
import {
  checkAccess,
  checkCaller,
  RequestSteps,
  withCaller,
  withConfig,
  exchangeWithContent,
  withOptions,
} from '../pipeline.js';
import { checkLoop } from '../upstream/forwarded-headers.js';
import { checkNamedKey } from '../planning/config-plans.js';
import { Admission } from '../upstream/admission.js';
import { takeKeyFromQuery, takeKeyFromSubprotocols } from '../upstream/subprotocols.js';
import { acceptUpgrade, checkHandshake, realtimeModelQuery, responseOn } from './handshake.js';
import { recordedSession, type ReservingSession } from './session-record.js';
import { RealtimeSessions } from './sessions.js';

/** Content of a handshake, besides its path. Without a body there is nothing to keep, to cache, to judge or to hedge. */
const SOCKET = {
  ...{ body: null, json: null, isStreamed: true, isRepeatable: true, waitedMs: 0 },
  isWebSocket: true,
} as const;

/** A WebSocket being opened. */
interface OpeningSocket {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Duplex;
  /** Bytes that followed the request on the socket. */
  readonly early: Buffer;
}

/** Whose session it is, and what it was opened for. */
interface SessionOpening extends Pick<ReadRequest, 'modelSlug' | 'path'> {
  readonly caller: Principal;
  /** The provider's side. */
  readonly upstream: Duplex;
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
    this.sessions.isOpening(socket);
    void this.travel(exchange, { request, response, socket, early });
  }

  /** Ends every session with "going away", and lets none begin. */
  close(): void {
    this.sessions.close();
  }

  private async travel(arrived: Exchange, opening: OpeningSocket): Promise<void> {
    let exchange = arrived;
    try {
      const { request } = opening;
      checkHandshake(request);
      const caller = await this.steps.identify(exchange);
      exchange = withCaller(exchange, caller);
      checkAccess(request, caller);
      exchange = withOptions(exchange, caller);
      checkLoop(request.headers);
      this.sessions.checkSessionLimit();

      const read = readHandshake(request);
      const { path } = read.path;
      exchange = withFacts(exchange, { endpoint: findEndpointRow('GET', path), path });
      const config = await this.steps.findConfig(caller, exchange);
      exchange = withConfig(exchange, config);
      checkNamedKey(config, exchange.facts.options);
      exchange = exchangeWithContent(exchange, read);

      const { outcome, decisions } = await this.steps.route({ exchange, caller, read }, config);
      exchange = exchangeWith(exchange, { trail: outcome.trail, decisions });
      if (outcome.kind === 'failed') return this.stop(exchange, outcome);
      const { answer } = outcome;
      if (answer.attempt.socket)
        this.begin(exchange, opening, answer, { ...read, caller, upstream: answer.attempt.socket });
      else this.deliver(exchange, answer);
    } catch (error) {
      this.stop(exchange, { error, failed: null });
    }
  }

  private begin(
    exchange: Exchange,
    { request, response, socket, early }: OpeningSocket,
    answer: Answer,
    { modelSlug, path, caller: opener, upstream }: SessionOpening,
  ): void {
    const { facts, trail } = exchange;
    const { target, planned } = answer;
    if (!acceptUpgrade(exchange, response, answer.attempt)) {
      upstream.destroy();
      return this.stop(exchange, brokenResponse(exchange, answer, new AppError('upstream_protocol_error')));
    }
    const { session, reservations }: ReservingSession = recordedSession({
      sides: { client: socket, upstream },
      ...{ admission: this.admission, exchange, sent: answer, caller: opener },
      onEnded: () => this.sessions.remove(session),
    });
    this.sessions.add(session, socket, async () => {
      const caller = await this.steps.identify(exchange);
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
  private deliver(exchange: Exchange, answer: Answer): void {
    new PassThroughDelivery(exchange, answer, (error) => {
      this.stop(exchange, brokenResponse(exchange, answer, error));
    }).start();
  }

  private stop(exchange: Exchange, { error, failed }: StopReason): void {
    stopExchange(
      exchange,
      { error: httpInstead(error, exchange.facts.path), failed },
      exchange.signal.isCancelled,
    );
  }
}

/** The content of a handshake: its query names the model. */
function readHandshake(request: IncomingMessage): ReadRequest {
  const path = requestPath(request.url ?? '');
  const { query, model, slug } = realtimeModelQuery(path.query);
  return { ...SOCKET, path: { ...path, query }, model, modelSlug: slug };
}
