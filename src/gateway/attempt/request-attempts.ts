import type { Price } from '../../common/contracts/price.js';
import type { RoutedRequest } from '../../routing-config/conditions.js';
import type { AttemptOptions, Attempts, RoutingKnowledge } from '../routing/routing.js';
import type { AnsweredAttempt, AttemptOutcome } from '../types/attempt-outcome.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Answer } from './answer.js';
import { type IncomingRequest, mayBeSentTwice, routedRequest } from './incoming-request.js';
import type { TargetAttempts } from './attempt-target.js';

/** One request as routing needs it. A class, because an object literal would create its functions for each request. */
export class RequestAttempts implements Attempts<Answer>, RoutingKnowledge {
  private routed: RoutedRequest | null = null;

  constructor(
    private readonly attempts: TargetAttempts,
    private readonly incoming: IncomingRequest,
  ) {}

  /** Before the first target. */
  get trail(): AttemptTrail {
    return this.incoming.exchange.trail;
  }

  get conditions(): RoutedRequest {
    return (this.routed ??= routedRequest(this.incoming));
  }

  get isCancelled(): boolean {
    return this.incoming.exchange.signal.isCancelled;
  }

  get isRepeatable(): boolean {
    return this.incoming.read.isRepeatable;
  }

  get mayBeSentTwice(): boolean {
    return mayBeSentTwice(this.incoming);
  }

  attempt(target: PlannedTarget, options: AttemptOptions): Promise<AttemptOutcome<Answer>> {
    return this.attempts.attempt(this.incoming, target, options);
  }

  discard(answered: AnsweredAttempt<Answer>): Promise<void> {
    return this.attempts.discard(this.incoming, answered);
  }

  whenOver(then: () => void): void {
    this.incoming.exchange.signal.onCancel(then);
  }

  priceOf(target: PlannedTarget): Promise<Price | null> {
    return this.attempts.estimates.priceOf(this.incoming, target);
  }

  costOf(target: PlannedTarget): Promise<number | null> {
    return this.attempts.estimates.costOf(this.incoming, target);
  }
}
