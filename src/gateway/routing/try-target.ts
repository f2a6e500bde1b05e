import type { AttemptOutcome, TargetAnswer } from '../types/attempt-outcome.js';
import type { PlannedTarget } from '../types/plan.js';
import { tryOf } from './outcome.js';
import type { AttemptOptions, Routing } from './routing.js';

/** Attempts one target and reports the outcome to its breaker. */
export function tryTarget<Answer extends TargetAnswer>(
  target: PlannedTarget,
  routing: Routing<Answer>,
  options: AttemptOptions,
): Promise<AttemptOutcome<Answer>> {
  return target.breaker ? watched(target, routing, options) : routing.attempts.attempt(target, options);
}

async function watched<Answer extends TargetAnswer>(
  target: PlannedTarget,
  { attempts, request, breakers }: Routing<Answer>,
  options: AttemptOptions,
): Promise<AttemptOutcome<Answer>> {
  breakers.began(target);
  const outcome = await attempts.attempt(target, options);
  // A cache hit says nothing about the target, nor does a response that was no longer awaited.
  const isCancelled = request.isCancelled || options.signal?.isCancelled === true;
  breakers.ended(target, isCancelled || isReplayed(outcome) ? null : outcome);
  return outcome;
}

function isReplayed(outcome: AttemptOutcome<TargetAnswer>): boolean {
  return outcome.kind === 'answered' && tryOf(outcome)?.isReplayed === true;
}
