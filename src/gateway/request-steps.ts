import { Injectable } from '@nestjs/common';
import { readCredential } from '../auth/identity/credentials.js';
import { IdentityService } from '../auth/identity/identity.service.js';
import type { Principal } from '../auth/principal.js';
import { AppError } from '../common/errors/app-error.js';
import type { ClientRequest } from '../common/http/messages.js';
import type { Answer } from './attempt/answer.js';
import { TargetAttempts } from './attempt/attempt-target.js';
import type { IncomingRequest } from './attempt/incoming-request.js';
import { RequestAttempts } from './attempt/request-attempts.js';
import { refuseMistypedPath } from './ingress/mistyped-path.js';
import { checkTargets } from './planning/check-targets.js';
import { ConfigPlans } from './planning/config-plans.js';
import { type Exchange, exchangeWith, withFacts } from './recording/exchange.js';
import { exchangeBegan, exchangeEnded } from './recording/exchange-metrics.js';
import { ExchangeRecorders } from './recording/exchange-recorder.js';
import { type RouteResult, Router } from './routing/router.js';
import { trailOf } from './types/attempt-trail.js';
import { type ClientConnection, ClientSignal } from './types/cancellation.js';
import { sessionInBody } from './types/client-session.js';
import type { ReadRequest } from './types/content.js';
import { readGatewayHeaders } from './types/gateway-headers.js';
import type { CompiledConfig } from './types/plan.js';

/** The scope that allows model requests. */
const SCOPE = 'completions.write';

const ADMIN_KEY = `admin keys cannot call models. Use a workspace API key with the scope ${SCOPE}`;

/** A user with access to every workspace: usage must be counted in one of them. */
const NO_WORKSPACE = 'models are called for a workspace, so the token must name one';

/**
 * The steps that HTTP requests and WebSocket handshakes have in common, from their arrival to the provider's response.
 * Functions `with…` add what a step found to the exchange. Checks throw after them, so that the record of a refused
 * request has it, too.
 */
@Injectable()
export class RequestSteps {
  constructor(
    private readonly identity: IdentityService,
    private readonly configs: ConfigPlans,
    private readonly router: Router,
    private readonly attempts: TargetAttempts,
    private readonly recorders: ExchangeRecorders,
  ) {}

  /** Begins an exchange, which ends when `connection` closes. */
  begin(
    { request, response, streams }: Pick<Exchange, 'request' | 'response' | 'streams'>,
    connection: ClientConnection,
  ): Exchange {
    const { recorder, facts, bodies, trail, decisions } = this.recorders.begin(request);
    const signal = new ClientSignal(request, connection);
    exchangeBegan();
    signal.onCancel(exchangeEnded);
    const credential = readCredential(request.headers);
    return { request, recorder, facts, bodies, trail, decisions, response, streams, signal, credential };
  }

  /** Authenticates the caller: first when a request arrives, and again while its response runs for long. */
  identify({ request, credential }: Exchange): Principal | Promise<Principal> {
    return this.identity.identify(request, credential);
  }

  /** Finds the config of the request. */
  findConfig(caller: Principal, { facts }: Exchange): CompiledConfig | Promise<CompiledConfig> {
    return this.configs.find(caller, facts.options.config);
  }

  /** Attempts the targets of the config until a response is accepted. */
  async route(incoming: IncomingRequest, config: CompiledConfig): Promise<RouteResult<Answer>> {
    checkTargets(config, incoming.exchange.facts.endpoint);
    const attempts = new RequestAttempts(this.attempts, incoming);
    return this.router.route(config.plan, attempts, attempts);
  }
}

/** The exchange with its caller, who may still be refused. */
export const withCaller = (exchange: Exchange, caller: Principal): Exchange =>
  withFacts(exchange, { caller, gatewayKey: exchange.credential.secret });

/** Throws `forbidden` if the caller may not send model requests; `not_found` for a path that has another purpose. */
export function checkAccess(request: ClientRequest, caller: Principal): void {
  if (!mayCallModels(caller)) refuseMistypedPath(request, caller);
  checkCaller(caller);
}

const mayCallModels = ({ scopes, workspaceId }: Principal): boolean =>
  scopes.has(SCOPE) && workspaceId !== null;

/** Throws `forbidden` if the caller may not send model requests. */
export function checkCaller({ kind, scopes, workspaceId }: Principal): void {
  if (!scopes.has(SCOPE))
    throw new AppError('forbidden', {
      detail: kind === 'admin_key' ? ADMIN_KEY : `it lacks the scope ${SCOPE}`,
    });
  if (workspaceId === null) throw new AppError('forbidden', { detail: NO_WORKSPACE });
}

/** The exchange with the request's gateway options, and the metadata that its workspace sets on every request. */
export function withOptions(exchange: Exchange, { metadata }: Principal): Exchange {
  const own = readGatewayHeaders(exchange.request.headers);
  const options = metadata ? { ...own, metadata: { ...own.metadata, ...metadata } } : own;
  return withFacts(exchange, { options, traceId: options.traceId ?? exchange.facts.id });
}

/** The exchange with its saved config, if it has one. */
export const withConfig = (exchange: Exchange, { saved }: CompiledConfig): Exchange =>
  saved ? withFacts(exchange, { config: saved }) : exchange;

/** The exchange with the content of its request, which may name a session of the client's own. */
export function withContent(exchange: Exchange, read: ReadRequest): Exchange {
  const { json } = read;
  const session = json && exchange.facts.options.traceId === null ? sessionInBody(json) : null;
  const traced = session === null ? exchange : withFacts(exchange, { traceId: session });
  return exchangeWith(traced, { trail: trailOf(read) });
}
