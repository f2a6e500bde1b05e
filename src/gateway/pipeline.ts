import type { ClientRequest, ClientResponse } from '../common/http/messages.js';
import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '../common/errors/app-error.js';
import { SETTINGS } from '../common/settings/settings.module.js';
import type { Settings } from '../common/settings/settings.js';
import { PassThroughDelivery } from './delivery/pass-through-delivery.js';
import { RunningStreams } from './delivery/running-streams.js';
import { deliverLinked, linkFieldOf } from './delivery/linked-delivery.js';
import { deliverJudged } from './delivery/judged-delivery.js';
import { TranslatedDelivery } from './delivery/translated-delivery.js';
import { wayOfStream } from './guardrails/guarded-stream.js';
import { asksForModels, LocalModels } from './models/local-models.js';
import { brokenResponse, type StopReason, stopExchange } from './delivery/refusal.js';
import { orIntendedPath } from './ingress/mistyped-path.js';
import type { GatewayHeaders } from './types/gateway-headers.js';
import { ClientLeft } from './types/client-left.js';
import { type RequestPath, requestPath } from './types/request-path.js';
import { readRequest, type ReadingRules } from './ingress/read-request.js';
import type { Answer } from './attempt/answer.js';
import type { Exchange } from './recording/exchange.js';
import { readOptions, RequestSteps } from './request-steps.js';
import type { CompiledConfig } from './types/plan.js';

/**
 * The whole journey of one request. Read this file first.
 *
 * Each line of `travel` is one step, in the file that it names; `request-steps.ts` has those that WebSockets take too. A step takes its
 * input and returns its result, or throws an AppError to stop the request. The exchange record collects the results and is written when the
 * exchange ends, however it ends.
 */
@Injectable()
export class Pipeline {
  private readonly reading: ReadingRules;
  private readonly keeping: ReadingRules;
  private readonly streams = new RunningStreams((exchange) =>
    // Signed tokens expire soon; they cannot be revoked.
    exchange.entry.caller?.apiKeyId ? this.steps.identifyAgain(exchange) : undefined,
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
    const exchange = this.steps.begin({ request, response, streams: this.streams }, response);
    this.travel(exchange).catch((error: unknown) => {
      this.stop(exchange, { error, failed: null });
    });
  }

  private async travel(exchange: Exchange): Promise<void> {
    const { request, entry } = exchange;
    const caller = await this.steps.authenticate(exchange);
    const options = readOptions(exchange, caller);
    const isKept = options.keepsBodies && this.settings.logBodies !== 'off';
    entry.keepBodies(isKept && (caller.policy?.keepsBodies ?? true));

    const path = requestPath(request.url ?? '');
    if (asksForModels(exchange, path)) return this.models.answer(exchange, caller, path);
    const config = await this.steps.findConfig(exchange, caller, options);
    const reading = config.sendsAgain ? this.keeping : this.reading;
    const read = await readRequest(request, path, entry, readingFor(reading, config, options));
    const outcome = await this.steps.route({ exchange, caller, read }, config);
    if (outcome.kind === 'failed') return this.stop(exchange, outcome);
    await this.deliver(exchange, outcome.answer, read.path);
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
    const { attempt, target, translated, guarded, judged } = answer;
    const linkField = target.provider.links ? linkFieldOf(answer, path) : null;
    if (linkField !== null) return this.deliverLinked(exchange, answer, linkField);
    const onBroken = (error: AppError): void => {
      this.stop(exchange, brokenResponse(exchange, answer, error));
    };
    if (judged) return deliverJudged(exchange, answer, judged);
    const guardedWay = guarded && wayOfStream(guarded, exchange.entry, answer);
    if (guardedWay) new TranslatedDelivery(exchange, guardedWay, onBroken).start();
    else if (translated) new TranslatedDelivery(exchange, { attempt, target, translated }, onBroken).start();
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
