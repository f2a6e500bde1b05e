import type { RoutedRequest } from '../../routing-config/conditions.js';
import type { Price } from '../../common/contracts/price.js';
import type { HoldRule, PlannedTarget } from '../types/plan.js';
import type { FailedAttempt } from '../upstream/failed-attempt.js';
import type { Breakers } from './breakers.js';
import type { Hedges } from './hedges.js';
import type { Loads } from './loads.js';
import type { TargetAnswer, Outcome } from './outcome.js';

/** What routing needs of a request: how to ask one target, and what choices are made by. */
export interface RoutableRequest<Answer extends TargetAnswer> {
  /** What conditions and sticky sessions read. */
  readonly conditions: RoutedRequest;
  /** Nobody waits for an answer any more: the client has left, or the other one of two has won. */
  readonly isOver: boolean;
  /**
   * Asks one target, as often as its retry rule allows. Rejects with the FailedAttempt, or with what refused the target. With
   * `hold`, an answer that fails before its first useful token is a failed attempt too.
   */
  attempt(target: PlannedTarget, hold: HoldRule | null): Promise<Answer>;
  /** Whether another target may be tried after this one: the client is there, and the request can be sent again. */
  mayGoOn(failed: FailedAttempt | null): boolean;
  /** Discards an answer or a failure, because another target is tried. */
  giveUp(outcome: Outcome<Answer>): Promise<void>;
  /** Notes a choice and its reason, for the log. */
  decided(decision: string): void;
  /** Calls back when the exchange is over. */
  whenOver(then: () => void): void;
  /** The price of a target's model; null where it is unknown. Never rejects. */
  priceOf(target: PlannedTarget): Promise<Price | null>;
  /** The most that the request may cost at a target, nano-dollars; null where it cannot be estimated. Never rejects. */
  costOf(target: PlannedTarget): Promise<number | null>;

  /** It may be sent to two targets at once, because it leaves nothing at a provider. */
  readonly mayBeSentTwice: boolean;
  /** Resolves when the next try has been sent: before that, a second target would wait for the same. */
  whenSent(): Promise<void>;
  /** The same request for a second target at the same time. One of the two is abandoned. */
  fork(): RoutableRequest<Answer>;
  /** Takes the outcome of the fork as its own. */
  adopt(fork: RoutableRequest<Answer>): void;
  /** Ends the try under way; its cost is written down. */
  abandon(): void;
}

/** A request on its way along a plan, and what this process knows of targets. */
export interface Routing<Answer extends TargetAnswer> {
  readonly request: RoutableRequest<Answer>;
  readonly breakers: Pick<Breakers, 'isOpen' | 'began' | 'ended'>;
  readonly loads: Loads;
  readonly hedges: Hedges;
}
