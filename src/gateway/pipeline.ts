import type { ClientRequest, ClientResponse } from '../common/http/messages.js';
import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import { AppError } from '../common/errors/app-error.js';
import { SETTINGS } from '../common/settings/settings.module.js';
import type { Settings } from '../common/settings/settings.js';
import { findEndpointRow } from '../providers/endpoints/index.js';
import { PassThroughDelivery } from './delivery/pass-through-delivery.js';
import { RunningStreams } from './delivery/running-streams.js';
import { deliverLinked, linkFieldOf } from './delivery/linked-delivery.js';
import { deliverJudged } from './delivery/judged-delivery.js';
import { TranslatedDelivery } from './delivery/translated-delivery.js';
import { streamPlanOf } from './guardrails/guarded-stream.js';
import { askedModels, LocalModels } from './models/local-models.js';
import { brokenResponse, type StopReason, stopExchange } from './delivery/refusal.js';
import { orIntendedPath, refuseMistypedPath } from './ingress/mistyped-path.js';
import { type GatewayHeaders, readGatewayHeaders, sessionInBody } from './types/gateway-headers.js';
import { ClientLeft } from './types/client-left.js';
import { type RequestPath, requestPath } from './types/request-path.js';
import { readRequest, type ReadingRules } from './ingress/read-request.js';
import type { Answer } from './attempt/answer.js';
import { bodyCaptures } from './recording/capture.js';
import { type Exchange, exchangeWith, withFacts } from './recording/exchange.js';
import { checkNamedKey, checkTargets, ConfigPlans } from './planning/config-plans.js';
import type { CompiledConfig, PlannedTarget } from './types/plan.js';
import { checkLoop } from './upstream/forwarded-headers.js';
import { readCredential } from '../auth/identity/credentials.js';
import { IdentityService } from '../auth/identity/identity.service.js';
import { TargetAttempts } from './attempt/attempt-target.js';
import type { IncomingRequest } from './attempt/incoming-request.js';
import { RequestAttempts } from './attempt/request-attempts.js';
import { exchangeBegan, exchangeEnded } from './recording/exchange-metrics.js';
import { ExchangeRecorders } from './recording/exchange-recorder.js';
import { Router, type RouteResult } from './routing/router.js';
import { trailOf } from './types/attempt-trail.js';
import { type ClientConnection, ClientSignal } from './types/cancellation.js';
import type { ReadRequest } from './types/content.js';

/**
 * The steps that HTTP requests (`Pipeline`) and WebSocket handshakes (`Realtime`) have in common, from their arrival to the
 * provider's response. Functions `with…` add what a step found to the exchange. Checks throw after them, so that the record
 * of a refused request has it, too.
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
    const { plan } = config;
    if (plan.kind === 'target') return this.attemptOnly(incoming, plan);
    const attempts = new RequestAttempts(this.attempts, incoming);
    return this.router.route(plan, attempts, attempts);
  }

  /** One target leaves nothing to route: its outcome is the outcome. */
  private async attemptOnly(incoming: IncomingRequest, target: PlannedTarget): Promise<RouteResult<Answer>> {
    const { trail, decisions } = incoming.exchange;
    const options = { previous: trail, hold: null, signal: null, onSent: null, isHedge: false };
    return { outcome: await this.attempts.attempt(incoming, target, options), decisions };
  }
}

/**
 * The whole journey of one request. Begin to read at `travel`: each line of it is one step, here or in the file that it names.
 * A step takes its input and returns its result, or throws an AppError to stop the request. The exchange is a value that
 * grows with the results; its record is made from the last one, however the exchange ends.
 */
@Injectable()
export class Pipeline {
  private readonly reading: ReadingRules;
  private readonly keeping: ReadingRules;
  private readonly streams = new RunningStreams((exchange) =>
    // Signed tokens expire soon; they cannot be revoked.
    exchange.facts.caller?.apiKeyId ? this.steps.identify(exchange) : undefined,
  );

  constructor(
    private readonly steps: RequestSteps,
    private readonly models: LocalModels,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    const { bodyLimitBytes: limitBytes } = settings;
    this.reading = { limitBytes, keepsBody: false };
    this.keeping = { limitBytes, keepsBody: true };
  }

  /** Serves a request of the data plane. Never throws. */
  handle(request: ClientRequest, response: ClientResponse): void {
    void this.travel(this.steps.begin({ request, response, streams: this.streams }, response));
  }

  private async travel(arrived: Exchange): Promise<void> {
    let exchange = arrived;
    try {
      const { request } = arrived;
      const caller = await this.steps.identify(exchange);
      exchange = withCaller(exchange, caller);
      checkAccess(request, caller);
      exchange = withOptions(exchange, caller);
      checkLoop(request.headers);
      const { options } = exchange.facts;
      if (this.isKept(caller, options)) exchange = exchangeWith(exchange, { bodies: bodyCaptures(true) });

      const path = requestPath(request.url ?? '');
      if (isModelRequest(exchange, path)) return await this.models.answer(exchange, caller, path);
      const config = await this.steps.findConfig(caller, exchange);
      exchange = withConfig(exchange, config);
      checkNamedKey(config, options);
      const endpoint = findEndpointRow(request.method ?? '', path.path);
      exchange = withFacts(exchange, { endpoint, path: path.path });
      const received = { request, path, endpoint, capture: exchange.bodies.request };
      const reading = config.sendsAgain ? this.keeping : this.reading;
      const read = await readRequest(received, readingFor(reading, config, options));
      exchange = exchangeWithContent(exchange, read);

      const { outcome, decisions } = await this.steps.route({ exchange, caller, read }, config);
      exchange = exchangeWith(exchange, { trail: outcome.trail, decisions });
      if (outcome.kind === 'failed') return this.stop(exchange, outcome);
      await this.deliver(exchange, outcome.answer, read.path);
    } catch (error) {
      this.stop(exchange, { error, failed: null });
    }
  }

  private isKept({ policy }: Principal, { keepsBodies }: GatewayHeaders): boolean {
    return keepsBodies && this.settings.logBodies !== 'off' && (policy?.keepsBodies ?? true);
  }

  private async deliverLinked(exchange: Exchange, answer: Answer, field: string): Promise<void> {
    try {
      await deliverLinked(exchange, answer, field);
    } catch (thrown) {
      this.stop(exchange, brokenResponse(exchange, answer, AppError.from(thrown)));
    }
  }

  /** Delivers the chosen response, whose last byte ends the exchange. */
  private deliver(exchange: Exchange, answer: Answer, path: RequestPath): Promise<void> | void {
    const { target, translated, guarded, judged } = answer;
    const linkField = target.provider.links ? linkFieldOf(answer, path) : null;
    if (linkField !== null) return this.deliverLinked(exchange, answer, linkField);
    const onBroken = (error: AppError): void => {
      this.stop(exchange, brokenResponse(exchange, answer, error));
    };
    if (judged) return deliverJudged(exchange, answer, judged);
    const guardedWay = guarded && streamPlanOf(guarded, exchange, answer);
    if (guardedWay) new TranslatedDelivery(exchange, guardedWay, onBroken).start();
    else if (translated) new TranslatedDelivery(exchange, { ...answer, translated }, onBroken).start();
    else new PassThroughDelivery(exchange, answer, onBroken).start();
  }

  /** Ends an exchange without a response: with our error, or silently when the client has disconnected. */
  private stop(exchange: Exchange, { error, failed }: StopReason): void {
    const hasLeft = error instanceof ClientLeft || exchange.signal.isCancelled;
    stopExchange(exchange, { error: orIntendedPath(error, exchange.request), failed }, hasLeft);
  }
}

/**
 * Whether a request is for the gateway's own model list: `GET /v1/models` and `GET /v1/models/{id}` without a provider. With a provider,
 * they are forwarded to it.
 */
function isModelRequest({ request, facts }: Exchange, { path }: RequestPath): boolean {
  if (request.method !== 'GET') return false;
  const { provider, virtualKey } = facts.options;
  return provider === null && virtualKey === null && askedModels(path) !== null;
}

/** A pass-through body is read only if nothing else can name the target. */
function readingFor(
  reading: ReadingRules,
  { namedKeys }: CompiledConfig,
  { virtualKey, provider }: GatewayHeaders,
): ReadingRules {
  const isChosen = namedKeys !== null || virtualKey !== null || provider !== null;
  return isChosen ? reading : { ...reading, needsTarget: true };
}

/** The scope that allows model requests. */
const SCOPE = 'completions.write';

const ADMIN_KEY = `admin keys cannot call models. Use a workspace API key with the scope ${SCOPE}`;

/** A user with access to every workspace: usage must be counted in one of them. */
const NO_WORKSPACE = 'models are called for a workspace, so the token must name one';

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
export function exchangeWithContent(exchange: Exchange, read: ReadRequest): Exchange {
  const { json } = read;
  const session = json && exchange.facts.options.traceId === null ? sessionInBody(json) : null;
  const traced = session === null ? exchange : withFacts(exchange, { traceId: session });
  return exchangeWith(traced, { trail: trailOf(read) });
}
