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

/**
 * Asks the first target, and when it takes longer than it almost always does, the second one too. The first answer that
 * stands is taken; the other question is ended.
 */
export async function race<Answer extends Answered>(
  { path, hedge, holdMs, onStatuses }: Fallback & { readonly hedge: HedgePlan },
  [first, second]: readonly [PlannedTarget, PlannedTarget],
  { walk, racing }: { readonly walk: Walk<Answer>; readonly racing: Racing<Answer> },
): Promise<Raced<Answer>> {
  const heldMs = holdMs || HOLD_MS;
  const one = settle(walk.attempt(first, heldMs));
  const patienceMs = await racing.patience(hedge, first);
  const unsent = await Promise.race([one, racing.sent]);
  const early = unsent ?? (patienceMs === null ? await one : await within(one, patienceMs));
  const rival = early ? null : await racing.rival(hedge, second);
  if (!rival) {
    const outcome = early ?? (await one);
    racing.measured(hedge, outcome);
    return { outcome, tried: 1 };
  }
  walk.decided(`${path}: ${second.path} is asked too after ${Math.round(patienceMs ?? 0)} ms`);
  const two = settle(rival.walk.attempt(second, heldMs));
  const faster = await Promise.race([one.then(() => 1 as const), two.then(() => 2 as const)]);
  const outcome = await (faster === 1 ? one : two);
  if (!movesOn(outcome, onStatuses)) {
    racing.measured(hedge, faster === 1 ? outcome : null);
    if (faster === 1) rival.abandon();
    else takeOver(racing, rival);
    return { outcome, tried: 2 };
  }
  // One has failed, so all hope is in the other.
  await (faster === 1 ? walk : rival.walk).giveUp(outcome);
  const last = await (faster === 1 ? two : one);
  racing.measured(hedge, await one);
  if (faster === 1) rival.win();
  return { outcome: last, tried: 2 };
}

function takeOver<Answer extends Answered>(racing: Racing<Answer>, rival: Rival<Answer>): void {
  racing.abandon();
  rival.win();
}

async function within<T>(pending: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return Promise.race([pending, tooLate]).finally(() => clearTimeout(timer));
}
