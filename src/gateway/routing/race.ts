import { hedgeDecision } from '../../routing-config/decisions.js';
import type { AttemptOutcome, TargetAnswer } from '../types/attempt-outcome.js';
import { Cancellation } from '../types/cancellation.js';
import type { Fallback, HedgePlan, PlannedTarget } from '../types/plan.js';
import { movesOn, tryOf } from './outcome.js';
import type { Routing, Step } from './routing.js';
import { tryTarget } from './try-target.js';

/** The outcome of the first targets of a fallback, and how many of them were tried. */
export interface RaceResult<Answer> {
  readonly outcome: AttemptOutcome<Answer>;
  readonly tried: 1 | 2;
}

/** A stream wins with its first useful token, so it is held that long whatever the fallback sets. */
const HOLD_MS = 10_000;

type HedgedFallback = Fallback & { readonly hedge: HedgePlan };

interface HedgedRace<Answer extends TargetAnswer> {
  readonly routing: Routing<Answer>;
  readonly step: Step;
}

/**
 * Attempts the first target, and also the second when the first takes longer than it nearly always does. Takes the first accepted response
 * and cancels the other attempt.
 */
export async function race<Answer extends TargetAnswer>(
  plan: HedgedFallback,
  [first, second]: readonly [PlannedTarget, PlannedTarget],
  { routing, step: { previous } }: HedgedRace<Answer>,
): Promise<RaceResult<Answer>> {
  const { request, hedges, decisions } = routing;
  const { hedge, holdMs, onStatuses } = plan;
  const hold = { holdMs: holdMs || HOLD_MS, onStatuses };
  const startedAt = performance.now();
  const measure = (outcome: AttemptOutcome<Answer> | null): void => {
    const ms = outcome ? firstByteMs(outcome) : performance.now() - startedAt;
    if (ms !== null) hedges.measured(hedge, ms);
  };
  const start = (target: PlannedTarget, onSent: (() => void) | null): Racer<Answer> => {
    const cancellation = new Cancellation();
    const options = { previous, hold, signal: cancellation, onSent, isHedge: onSent === null };
    return { outcome: tryTarget(target, routing, options), cancellation };
  };
  let onSent = (): void => undefined;
  const sent = new Promise<void>((resolve) => (onSent = resolve));
  const one = start(first, onSent);
  const delayMs = hedges.began(hedge, await request.costOf(first));
  const early = await outcomeWithin(one.outcome, sent, delayMs);
  if (early || !hedges.take(hedge, await request.costOf(second))) {
    const outcome = early ?? (await one.outcome);
    measure(outcome);
    return { outcome, tried: 1 };
  }
  decisions.push(hedgeDecision(plan.path, second.path, Math.round(delayMs ?? 0)));
  const outcome = await better([one, start(second, null)], { routing, onStatuses, measure });
  return { outcome, tried: 2 };
}

/** A target of a race. */
interface Racer<Answer> {
  readonly outcome: Promise<AttemptOutcome<Answer>>;
  readonly cancellation: Cancellation;
}

interface RaceRules<Answer extends TargetAnswer> {
  readonly routing: Routing<Answer>;
  readonly onStatuses: Fallback['onStatuses'];
  /** Records the time of the first target; null if it was not awaited to its end. */
  readonly measure: (outcome: AttemptOutcome<Answer> | null) => void;
}

/** The better of two pending outcomes. */
async function better<Answer extends TargetAnswer>(
  [one, two]: readonly [Racer<Answer>, Racer<Answer>],
  { routing, onStatuses, measure }: RaceRules<Answer>,
): Promise<AttemptOutcome<Answer>> {
  const isFirst = await Promise.race([one.outcome.then(() => true), two.outcome.then(() => false)]);
  const other = isFirst ? two : one;
  const outcome = await (isFirst ? one : two).outcome;
  if (!movesOn(outcome, onStatuses)) {
    measure(isFirst ? outcome : null);
    other.cancellation.cancel();
    return outcome;
  }
  // One has failed, so the other's outcome is final, whatever it is.
  if (outcome.kind === 'answered') await routing.attempts.discard(outcome);
  const last = await other.outcome;
  measure(await one.outcome);
  return last;
}

/** A target's time to its first byte; null without one, and for a cache hit, which says nothing about the target. */
function firstByteMs(outcome: AttemptOutcome<TargetAnswer>): number | null {
  const attempt = tryOf(outcome);
  return attempt?.firstByteAt && !attempt.isReplayed ? attempt.firstByteAt - attempt.startedAt : null;
}

/** The outcome within `patienceMs` after the request was sent; null if there is none by then. */
async function outcomeWithin<T>(
  pending: Promise<T>,
  sent: Promise<void>,
  delayMs: number | null,
): Promise<T | null> {
  if (delayMs === null) return pending;
  const unsent = await Promise.race([pending, sent]);
  return unsent ?? within(pending, delayMs);
}

async function within<T>(pending: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return Promise.race([pending, tooLate]).finally(() => clearTimeout(timer));
}
