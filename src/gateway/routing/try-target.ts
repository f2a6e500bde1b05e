import type { HoldRule, PlannedTarget } from '../types/plan.js';
import { type TargetAnswer, settle, unwrap } from './outcome.js';
import type { Routing } from './routable-request.js';

/** Attempts one target and reports the outcome to its breaker. */
export function tryTarget<Answer extends TargetAnswer>(
  target: PlannedTarget,
  { request, breakers }: Pick<Routing<Answer>, 'request' | 'breakers'>,
  hold: HoldRule | null,
): Promise<Answer> {
  return target.breaker ? watched(target, { request, breakers }, hold) : request.attempt(target, hold);
}

async function watched<Answer extends TargetAnswer>(
  target: PlannedTarget,
  { request, breakers }: Pick<Routing<Answer>, 'request' | 'breakers'>,
  hold: HoldRule | null,
): Promise<Answer> {
  breakers.began(target);
  const outcome = await settle(request.attempt(target, hold));
  // A cache hit says nothing about the target, nor does a response that was no longer awaited.
  const isTelling = !request.isOver && !outcome.answer?.attempt?.isReplayed;
  breakers.ended(target, isTelling ? outcome : null);
  return unwrap(outcome);
}
