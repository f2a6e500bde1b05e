import { hedgeDecision } from '../../routing-config/decisions.js';
import type { Fallback, HedgePlan, PlannedTarget } from '../types/plan.js';
import { FailedAttempt } from '../upstream/failed-attempt.js';
import { type TargetAnswer, movesOn, type Outcome, settle } from './outcome.js';
import type { RoutableRequest, Routing } from './routable-request.js';
import { tryTarget } from './try-target.js';

/** The outcome of the first targets of a fallback, and how many of them were tried. */
export interface RaceResult<Answer> {
  readonly outcome: Outcome<Answer>;
  readonly tried: 1 | 2;
}

/** A stream wins with its first useful token, so it is held that long whatever the fallback sets. */
const HOLD_MS = 10_000;

type HedgedFallback = Fallback & { readonly hedge: HedgePlan };

/**
 * Tries the first target, and also the second when the first takes longer than it nearly always does. Takes the first accepted response and
 * cancels the other attempt.
 */
export async function race<Answer extends TargetAnswer>(
  plan: HedgedFallback,
  [first, second]: readonly [PlannedTarget, PlannedTarget],
  { request, breakers, hedges }: Routing<Answer>,
): Promise<RaceResult<Answer>> {
  const { hedge, holdMs, onStatuses } = plan;
  const hold = { holdMs: holdMs || HOLD_MS, onStatuses };
  const startedAt = performance.now();
  const measure = (outcome: Outcome<Answer> | null): void => {
    const ms = outcome ? firstByteMs(outcome) : performance.now() - startedAt;
    if (ms !== null) hedges.measured(hedge, ms);
  };
  const sent = request.whenSent();
  const one = settle(tryTarget(first, { request, breakers }, hold));
  const patienceMs = hedges.began(hedge, await request.costOf(first));
  const early = await withPatience(one, sent, patienceMs);
  if (early || !hedges.take(hedge, await request.costOf(second))) {
    const outcome = early ?? (await one);
    measure(outcome);
    return { outcome, tried: 1 };
  }
  const fork = request.fork();
  request.decided(hedgeDecision(plan.path, second.path, Math.round(patienceMs ?? 0)));
  const two = settle(tryTarget(second, { request: fork, breakers }, hold));
  const outcome = await better({ one, two }, { request, fork, onStatuses, measure });
  return { outcome, tried: 2 };
}

interface Race<Answer extends TargetAnswer> {
  readonly request: RoutableRequest<Answer>;
  readonly fork: RoutableRequest<Answer>;
  readonly onStatuses: Fallback['onStatuses'];
  /** Records the time of the first target; null if it was not awaited to its end. */
  readonly measure: (outcome: Outcome<Answer> | null) => void;
}

/** The better of two pending outcomes. */
async function better<Answer extends TargetAnswer>(
  { one, two }: Readonly<Record<'one' | 'two', Promise<Outcome<Answer>>>>,
  { request, fork, onStatuses, measure }: Race<Answer>,
): Promise<Outcome<Answer>> {
  const isFirst = await Promise.race([one.then(() => true), two.then(() => false)]);
  const outcome = await (isFirst ? one : two);
  if (movesOn(outcome, onStatuses)) {
    // One has failed, so the other's outcome is final, whatever it is.
    await (isFirst ? request : fork).giveUp(outcome);
    const last = await (isFirst ? two : one);
    measure(await one);
    if (isFirst) request.adopt(fork);
    else fork.abandon();
    return last;
  }
  measure(isFirst ? outcome : null);
  (isFirst ? fork : request).abandon();
  if (!isFirst) request.adopt(fork);
  return outcome;
}

/** A target's time to its first byte; null without one, and for a cache hit, which says nothing about the target. */
function firstByteMs({ answer, thrown }: Outcome<TargetAnswer>): number | null {
  const attempt = answer ? answer.attempt : thrown instanceof FailedAttempt ? thrown.attempt : null;
  return attempt?.firstByteAt && !attempt.isReplayed ? attempt.firstByteAt - attempt.startedAt : null;
}

/** The result within `patienceMs` after the request was sent; null if there is none by then. */
async function withPatience<T>(
  pending: Promise<T>,
  sent: Promise<void>,
  patienceMs: number | null,
): Promise<T | null> {
  if (patienceMs === null) return pending;
  const unsent = await Promise.race([pending, sent]);
  return unsent ?? within(pending, patienceMs);
}

async function within<T>(pending: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return Promise.race([pending, tooLate]).finally(() => clearTimeout(timer));
}
