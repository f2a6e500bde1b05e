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
import { isModelRequest, LocalModels } from './models/local-models.js';
import { brokenResponse, type StopReason, stopExchange } from './delivery/refusal.js';
import { orIntendedPath } from './ingress/mistyped-path.js';
import type { GatewayHeaders } from './types/gateway-headers.js';
import { ClientLeft } from './types/client-left.js';
import { type RequestPath, requestPath } from './types/request-path.js';
import { readRequest, type ReadingRules } from './ingress/read-request.js';
import type { Answer } from './attempt/answer.js';
import { bodyCaptures } from './recording/capture.js';
import { type Exchange, exchangeWith, withFacts } from './recording/exchange.js';
import {
  checkAccess,
  RequestSteps,
  withCaller,
  withConfig,
  withContent,
  withOptions,
} from './request-steps.js';
import { checkNamedKey } from './planning/check-targets.js';
import type { CompiledConfig } from './types/plan.js';
import { checkLoop } from './upstream/request-headers.js';

/**
 * The whole journey of one request. Read this file first.
 *
 * Each line of `travel` is one step, in the file that it names; `request-steps.ts` has those that WebSockets take too.
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
      exchange = withContent(exchange, read);

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

/** A pass-through body is read only if nothing else can name the target. */
function readingFor(
  reading: ReadingRules,
  { namedKeys }: CompiledConfig,
  { virtualKey, provider }: GatewayHeaders,
): ReadingRules {
  const isChosen = namedKeys !== null || virtualKey !== null || provider !== null;
  return isChosen ? reading : { ...reading, needsTarget: true };
}
