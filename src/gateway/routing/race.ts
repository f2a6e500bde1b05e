import { hedgeDecision } from '../../routing-config/decisions.js';
import type { Fallback, HedgePlan, PlannedTarget } from '../types/plan.js';
import { type Answered, movesOn, type Outcome, settle } from './outcome.js';
import type { Racing, Rival, Walk } from './walk.js';

/** What came of the first targets of a fallback, and how many of them were asked. */
export interface Raced<Answer> {
  readonly outcome: Outcome<Answer>;
  readonly tried: 1 | 2;
}

/** A stream wins with its first useful token, so it is held that long whatever the fallback says. */
const HOLD_MS = 10_000;

interface Track<Answer extends Answered> {
  readonly walk: Walk<Answer>;
  readonly racing: Racing<Answer>;
}

type Hedged = Fallback & { readonly hedge: HedgePlan };

/**
 * Asks the first target, and when it takes longer than it almost always does, the second one too. The first answer that
 * stands is taken; the other question is ended.
 */
export async function race<Answer extends Answered>(
  plan: Hedged,
  [first, second]: readonly [PlannedTarget, PlannedTarget],
  { walk, racing }: Track<Answer>,
): Promise<Raced<Answer>> {
  const { hedge, holdMs, onStatuses } = plan;
  const hold = { holdMs: holdMs || HOLD_MS, onStatuses };
  const one = settle(walk.attempt(first, hold));
  const patienceMs = await racing.patience(hedge, first);
  const early = await withPatience(one, racing.sent, patienceMs);
  const rival = early ? null : await racing.rival(hedge, second);
  if (!rival) {
    const outcome = early ?? (await one);
    racing.measured(hedge, outcome);
    return { outcome, tried: 1 };
  }
  walk.decided(hedgeDecision(plan.path, second.path, Math.round(patienceMs ?? 0)));
  const two = settle(rival.walk.attempt(second, hold));
  return { outcome: await better(plan, { one, two }, { walk, racing, rival }), tried: 2 };
}

/** What stands of two outcomes that are on their way. */
async function better<Answer extends Answered>(
  { hedge, onStatuses }: Hedged,
  { one, two }: Readonly<Record<'one' | 'two', Promise<Outcome<Answer>>>>,
  { walk, racing, rival }: Track<Answer> & { readonly rival: Rival<Answer> },
): Promise<Outcome<Answer>> {
  const isFirst = await Promise.race([one.then(() => true), two.then(() => false)]);
  const outcome = await (isFirst ? one : two);
  if (movesOn(outcome, onStatuses)) {
    // One has failed, so all hope is in the other.
    await (isFirst ? walk : rival.walk).giveUp(outcome);
    const last = await (isFirst ? two : one);
    racing.measured(hedge, await one);
    if (isFirst) rival.win();
    return last;
  }
  racing.measured(hedge, isFirst ? outcome : null);
  (isFirst ? rival : racing).abandon();
  if (!isFirst) rival.win();
  return outcome;
}

/** What comes within the time from when it was sent on; null where nothing does. */
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
