import { requestMetadata } from '../../common/contracts/request-metadata.js';
import type { Price } from '../../common/contracts/price.js';
import type { RoutedRequest } from '../../routing-config/conditions.js';
import type { Json } from '../../providers/endpoint.js';
import type { Outcome } from '../routing/outcome.js';
import type { RoutableRequest } from '../routing/routable-request.js';
import type { Answer } from './answer.js';
import type { ReadRequest } from '../types/content.js';
import type { HoldRule, PlannedTarget } from '../types/plan.js';
import type { FailedAttempt } from '../upstream/failed-attempt.js';
import { proven } from './proven.js';
import { giveUp } from './give-up.js';
import type { SendableRequest } from './sending.js';
import type { TargetAttempts } from './target-attempts.js';

/** One exchange as routing needs it. A class, because an object literal would create its functions for each request. */
export class RoutedExchange implements RoutableRequest<Answer> {
  private seen: RoutedRequest | null = null;

  constructor(
    private readonly attempts: TargetAttempts,
    private readonly sending: SendableRequest,
  ) {}

  get conditions(): RoutedRequest {
    return (this.seen ??= routedRequest(this.sending));
  }

  get isOver(): boolean {
    return this.sending.isOver || this.sending.exchange.response.destroyed;
  }

  get mayBeSentTwice(): boolean {
    return this.sending.mayBeSentTwice;
  }

  attempt(target: PlannedTarget, hold: HoldRule | null): Promise<Answer> {
    const pending = this.attempts.attempt(this.sending, target);
    if (!hold?.holdMs) return pending;
    const { response, entry } = this.sending.exchange;
    // A response that was judged as a whole needs no first-token gate.
    return pending.then((answer) =>
      answer.judged ? answer : proven(answer, entry.endpoint, hold, response),
    );
  }

  mayGoOn(failed: FailedAttempt | null): boolean {
    const { exchange, read } = this.sending;
    return (
      !exchange.response.destroyed && (read.isRepeatable || (failed !== null && !failed.attempt.wasSent))
    );
  }

  giveUp(outcome: Outcome<Answer>): Promise<void> {
    this.sending.gaveUp();
    return giveUp(this.sending.exchange.entry, this.sending.trail, outcome);
  }

  decided(decision: string): void {
    this.sending.exchange.entry.decided(decision);
  }

  whenOver(then: () => void): void {
    this.sending.exchange.response.once('close', then);
  }

  priceOf(target: PlannedTarget): Promise<Price | null> {
    return this.attempts.estimates.priceOf(this.sending, target);
  }

  costOf(target: PlannedTarget): Promise<number | null> {
    return this.attempts.estimates.costOf(this.sending, target);
  }

  whenSent(): Promise<void> {
    return this.sending.whenSent();
  }

  fork(): RoutedExchange {
    return new RoutedExchange(this.attempts, this.sending.fork());
  }

  adopt(fork: RoutedExchange): void {
    this.sending.adopt(fork.sending);
  }

  abandon(): void {
    this.sending.abandon();
  }
}

function routedRequest({ exchange, read }: SendableRequest): RoutedRequest {
  const { headers, url = '' } = exchange.request;
  const [pathname = ''] = url.split('?', 1);
  const metadata = requestMetadata(exchange.entry.asked.metadata, read.json);
  return { metadata, params: paramsOf(read), pathname, headers };
}

/** The parameters that conditions read. Google's requests name the model in the path; forms are read up to their first file. */
function paramsOf({ json, form, model }: ReadRequest): Json | null {
  if (json) return json.model !== undefined || model === null ? json : { ...json, model };
  const fields = form && { model: form.field('model'), stream: form.field('stream') };
  return fields ? Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) : null;
}
