import type { RoutedRequest } from '../../routing-config/conditions.js';
import type { Price } from '../../common/contracts/price.js';
import type { HoldRule, PlannedTarget } from '../types/plan.js';
import type { FailedAttempt } from '../upstream/failed-attempt.js';
import type { Breakers } from './breakers.js';
import type { Hedges } from './hedges.js';
import type { Loads } from './loads.js';
import type { TargetAnswer, Outcome } from './outcome.js';

/** A request as routing needs it: how to attempt one target, and the input of choices. */
export interface RoutableRequest<Answer extends TargetAnswer> {
  /** Input of conditions and sticky sessions. */
  readonly conditions: RoutedRequest;
  /** No response is needed any more: the client has disconnected, or the other hedged attempt has won. */
  readonly isOver: boolean;
  /**
   * Attempts one target, as often as its retry rule allows. Rejects with the FailedAttempt, or with the error that refused the target. With
   * `hold`, a response that fails before its first useful token is a failed attempt too.
   */
  attempt(target: PlannedTarget, hold: HoldRule | null): Promise<Answer>;
  /** Whether another target may be tried: the client is connected, and the request can be sent again. */
  mayGoOn(failed: FailedAttempt | null): boolean;
  /** Discards a response or a failure, because another target is tried. */
  giveUp(outcome: Outcome<Answer>): Promise<void>;
  /** Records a choice and its reason, for the log. */
  decided(decision: string): void;
  /** Calls back when the exchange has ended. */
  whenOver(then: () => void): void;
  /** The price of a target's model; null if it is unknown. Never rejects. */
  priceOf(target: PlannedTarget): Promise<Price | null>;
  /** The maximum cost of the request at a target, in nano-dollars; null if it cannot be estimated. Never rejects. */
  costOf(target: PlannedTarget): Promise<number | null>;

  /** It may be sent to two targets at once, because it stores nothing at a provider. */
  readonly mayBeSentTwice: boolean;
  /** Resolves when the next try has been sent: before that, a second target would wait for the same thing. */
  whenSent(): Promise<void>;
  /** The same request for a second, concurrent target. One of the two is abandoned. */
  fork(): RoutableRequest<Answer>;
  /** Takes over the outcome of the fork. */
  adopt(fork: RoutableRequest<Answer>): void;
  /** Cancels the current try; its cost is recorded. */
  abandon(): void;
}

/** A request on its way along a plan, and this process's knowledge of targets. */
export interface Routing<Answer extends TargetAnswer> {
  readonly request: RoutableRequest<Answer>;
  readonly breakers: Pick<Breakers, 'isOpen' | 'began' | 'ended'>;
  readonly loads: Loads;
  readonly hedges: Hedges;
}
