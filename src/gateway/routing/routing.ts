import type { RoutedRequest } from '../../routing-config/conditions.js';
import type { Price } from '../../common/contracts/price.js';
import type { AnsweredAttempt, AttemptOutcome, TargetAnswer } from '../types/attempt-outcome.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { CancelSignal } from '../types/cancellation.js';
import type { HoldRule, PlannedTarget } from '../types/plan.js';
import type { Breakers } from './breakers.js';
import type { Hedges } from './hedges.js';
import type { Loads } from './loads.js';

/** How a target is attempted. */
export interface AttemptOptions {
  /** The trail of the target before; of the request itself for the first one. */
  readonly previous: AttemptTrail;
  /** A response that fails before its first useful token is a failure too. Null: the response passes as it arrives. */
  readonly hold: HoldRule | null;
  /** Cancelled when another target has won; null if no other runs beside it. The running try is then recorded at its cost. */
  readonly signal: CancelSignal | null;
  /** Another target was attempted first and is still running. */
  readonly isHedge: boolean;
  /** Called when a try is sent: before that, a second target would wait for the same thing. Null if nothing waits for it. */
  readonly onSent: (() => void) | null;
}

/** Attempts targets of one request. */
export interface Attempts<Answer extends TargetAnswer> {
  /** Attempts one target, as often as its retry rule allows. Never rejects. */
  attempt(target: PlannedTarget, options: AttemptOptions): Promise<AttemptOutcome<Answer>>;
  /** Ends a response that is not passed on, because another target is tried. */
  discard(answered: AnsweredAttempt<Answer>): Promise<void>;
}

/** What routing knows of one request and of its targets. */
export interface RoutingKnowledge {
  /** Input of conditions and sticky sessions. */
  readonly conditions: RoutedRequest;
  /** The trail before the first target. */
  readonly trail: AttemptTrail;
  /** The client has disconnected: no response is needed any more. */
  readonly isCancelled: boolean;
  /** The body is kept whole, so that another target can receive it. */
  readonly isRepeatable: boolean;
  /** It may be sent to two targets at once, because it stores nothing at a provider. */
  readonly mayBeSentTwice: boolean;
  /** Calls back when the exchange has ended. */
  whenOver(then: () => void): void;
  /** The price of a target's model; null if it is unknown. Never rejects. */
  priceOf(target: PlannedTarget): Promise<Price | null>;
  /** The maximum cost of the request at a target, in nano-dollars; null if it cannot be estimated. Never rejects. */
  costOf(target: PlannedTarget): Promise<number | null>;
}

/** This process's knowledge of targets. */
export interface TargetKnowledge {
  readonly breakers: Pick<Breakers, 'isOpen' | 'began' | 'ended'>;
  readonly loads: Loads;
  readonly hedges: Hedges;
}

/** One request on its way along a plan. */
export interface Routing<Answer extends TargetAnswer> extends TargetKnowledge {
  readonly attempts: Attempts<Answer>;
  readonly request: RoutingKnowledge;
  /** Choices and their reasons so far, for the log. */
  readonly decisions: string[];
}

/** Where a request is on its way. */
export interface Step {
  /** The trail of the last target. */
  readonly previous: AttemptTrail;
  /** The rule of the closest fallback. */
  readonly hold: HoldRule | null;
}
