import type { RoutedRequest } from '../../routing-config/conditions.js';
import type { Price } from '../../common/contracts/price.js';
import type { HedgePlan, HoldRule, PlannedTarget } from '../types/plan.js';
import type { FailedAttempt } from '../upstream/retry.js';
import type { Loads } from './loads.js';
import type { Answered, Outcome } from './outcome.js';

/** One request on its way through a plan. */
export interface Walk<Answer extends Answered> {
  readonly request: RoutedRequest;
  /**
   * Tries one target, as often as it may be tried. Rejects with the FailedAttempt, or with what refused the target. With
   * `hold` an answer that fails before its first useful token is a failed attempt, too.
   */
  attempt(target: PlannedTarget, hold: HoldRule | null): Promise<Answer>;
  readonly loads: Loads;
  /** Calls back when the exchange is over. */
  whenOver(then: () => void): void;
  /** Notes a choice and its reason, for the log. */
  decided(decision: string): void;
  /** The target is out of service, so that others are asked while there are any. */
  isOpen(target: PlannedTarget): boolean;
  /** Whether another target may be tried after this one: the client is there, and the request can be sent again. */
  mayGoOn(failed: FailedAttempt | null): boolean;
  /** Puts an answer or a failure away, because another target is tried. */
  giveUp(outcome: Outcome<Answer>): Promise<void>;
  /** The price of a target's model for this request; null when it is unknown. Never rejects. */
  priceOf(target: PlannedTarget): Promise<Price | null>;
  /** Null for a request that must not be asked twice at once. */
  racing(): Racing<Answer> | null;
}

/** A request that may be asked twice at once. */
export interface Racing<Answer extends Answered> {
  /** Resolves when the first question has been sent: before that, another target would wait for the same. */
  readonly sent: Promise<void>;
  /** For how long the first target is waited for, milliseconds; null for as long as it takes. */
  patience(plan: HedgePlan, first: PlannedTarget): Promise<number | null>;
  /** The way of a second question; null where it may not be asked. */
  rival(plan: HedgePlan, second: PlannedTarget): Promise<Rival<Answer> | null>;
  /** How the first target did, for the next requests. */
  measured(plan: HedgePlan, outcome: Outcome<Answer> | null): void;
  /** Ends the first question; what it cost is written down. */
  abandon(): void;
}

/** A second question on its way. */
export interface Rival<Answer extends Answered> {
  readonly walk: Pick<Walk<Answer>, 'attempt' | 'giveUp'>;
  /** Its answer is the request's. */
  win(): void;
  /** Ends it; what it cost is written down. */
  abandon(): void;
}
