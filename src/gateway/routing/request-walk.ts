import { requestMetadata } from '../../common/contracts/request-metadata.js';
import type { Price } from '../../common/contracts/price.js';
import type { RoutedRequest } from '../../routing-config/conditions.js';
import type { Json } from '../../providers/endpoint.js';
import type { Answer } from '../delivery/answer.js';
import type { ReadRequest } from '../types/content.js';
import type { HoldRule, PlannedTarget } from '../types/plan.js';
import type { FailedAttempt } from '../upstream/retry.js';
import type { Sending } from './sending.js';
import type { Loads } from './loads.js';
import type { Outcome } from './outcome.js';
import { giveUp } from './put-away.js';
import type { Racing, Walk } from './walk.js';

/** What walks of all requests share. */
export interface Ways {
  readonly loads: Loads;
  readonly breakers: { isOpen(target: PlannedTarget): boolean };
  tryOut(sending: Sending, target: PlannedTarget, hold: HoldRule | null): Promise<Answer>;
  priceOf(sending: Sending, target: PlannedTarget): Promise<Price | null>;
  racing(sending: Sending): Racing<Answer> | null;
}

/** One request on its way through a plan. A class, because an object of functions would be made of as many for each request. */
export class RequestWalk implements Walk<Answer> {
  private routed: RoutedRequest | null = null;

  constructor(
    private readonly ways: Ways,
    private readonly sending: Sending,
  ) {}

  get request(): RoutedRequest {
    return (this.routed ??= routedRequest(this.sending));
  }

  get loads(): Loads {
    return this.ways.loads;
  }

  attempt(target: PlannedTarget, hold: HoldRule | null): Promise<Answer> {
    return this.ways.tryOut(this.sending, target, hold);
  }

  whenOver(then: () => void): void {
    this.sending.exchange.response.once('close', then);
  }

  decided(decision: string): void {
    this.sending.exchange.entry.decided(decision);
  }

  isOpen(target: PlannedTarget): boolean {
    return this.ways.breakers.isOpen(target);
  }

  mayGoOn(failed: FailedAttempt | null): boolean {
    const { exchange, read } = this.sending;
    return (
      !exchange.response.destroyed && (read.isRepeatable || (failed !== null && !failed.attempt.wasSent))
    );
  }

  giveUp(outcome: Outcome<Answer>): Promise<void> {
    const { leg, exchange } = this.sending;
    if (leg) leg.running = null;
    return giveUp(exchange.entry, outcome);
  }

  priceOf(target: PlannedTarget): Promise<Price | null> {
    return this.ways.priceOf(this.sending, target);
  }

  racing(): Racing<Answer> | null {
    return this.ways.racing(this.sending);
  }
}

function routedRequest({ exchange, read }: Sending): RoutedRequest {
  const { headers, url = '' } = exchange.request;
  const [pathname = ''] = url.split('?', 1);
  const metadata = requestMetadata(exchange.entry.asked.metadata, read.json);
  return { metadata, params: paramsOf(read), pathname, headers };
}

/** What conditions see as the parameters: Google's calls name the model in the path, and forms are known up to their first file. */
function paramsOf({ json, form, model }: ReadRequest): Json | null {
  if (json) return json.model !== undefined || model === null ? json : { ...json, model };
  const fields = form && { model: form.field('model'), stream: form.field('stream') };
  return fields ? Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) : null;
}
