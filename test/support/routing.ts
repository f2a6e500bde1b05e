import { AppError } from '../../src/common/errors/app-error.js';
import type { RoutedRequest } from '../../src/routing-config/conditions.js';
import { Hedges } from '../../src/gateway/routing/hedges.js';
import { Loads } from '../../src/gateway/routing/loads.js';
import { route } from '../../src/gateway/routing/route.js';
import type { Attempts, Routing } from '../../src/gateway/routing/routing.js';
import type { AttemptOutcome, OutcomeTry, TargetAnswer } from '../../src/gateway/types/attempt-outcome.js';
import { NO_TRAIL } from '../../src/gateway/types/attempt-trail.js';
import type { Plan, PlannedTarget } from '../../src/gateway/types/plan.js';
import type { Price } from '../../src/common/contracts/price.js';

/** Every target is in service, and stays so. */
export const NO_BREAKERS = { isOpen: () => false, began: () => undefined, ended: () => undefined };

const SENT: OutcomeTry = { startedAt: 0, firstByteAt: null, wasSent: true, isReplayed: false };

/** A response with that status. */
export const answered = (status: number): AttemptOutcome<TargetAnswer> => ({
  kind: 'answered',
  answer: { status },
  trail: NO_TRAIL,
});

/** The target was refused before the request was sent. */
export const refused = (error: unknown): AttemptOutcome<TargetAnswer> => ({
  kind: 'failed',
  error,
  failed: null,
  reportedStatus: null,
  trail: NO_TRAIL,
});

/** The provider failed after the request was sent. */
export const failed = (error: AppError): AttemptOutcome<TargetAnswer> => ({
  kind: 'failed',
  error,
  failed: SENT,
  reportedStatus: null,
  trail: NO_TRAIL,
});

/** The status or the error code of an outcome. */
export function resultOf(outcome: AttemptOutcome<TargetAnswer>): number | string {
  if (outcome.kind === 'answered') return outcome.answer.status;
  return outcome.error instanceof AppError ? outcome.error.code : String(outcome.error);
}

/** What a request that is not hedged knows. */
export interface WalkOptions {
  readonly request?: RoutedRequest;
  /** The client has disconnected. */
  readonly isOver?: boolean;
  readonly isRepeatable?: boolean;
  readonly isOpen?: (target: PlannedTarget) => boolean;
  readonly priceOf?: (target: PlannedTarget) => Price | null;
}

/** Walks a plan with the outcome that `outcomeOf` gives to each target. */
export async function walk(
  plan: Plan,
  outcomeOf: (target: PlannedTarget) => AttemptOutcome<TargetAnswer>,
  { request, isOver = false, isRepeatable = true, isOpen, priceOf }: WalkOptions = {},
) {
  const outcomes: AttemptOutcome<TargetAnswer>[] = [];
  const discarded = new Set<AttemptOutcome<TargetAnswer>>();
  const decisions: string[] = [];
  const attempts: Attempts<TargetAnswer> = {
    attempt: (target) => {
      const outcome = outcomeOf(target);
      outcomes.push(outcome);
      return Promise.resolve(outcome);
    },
    discard: (outcome) => {
      discarded.add(outcome);
      return Promise.resolve();
    },
  };
  const routing: Routing<TargetAnswer> = {
    attempts,
    request: {
      conditions: request ?? { metadata: null, params: {}, pathname: '/v1/chat/completions', headers: {} },
      trail: NO_TRAIL,
      isCancelled: isOver,
      isRepeatable,
      mayBeSentTwice: false,
      whenOver: (then) => then(),
      priceOf: (target) => Promise.resolve(priceOf?.(target) ?? null),
      costOf: () => Promise.resolve(null),
    },
    breakers: { ...NO_BREAKERS, isOpen: isOpen ?? NO_BREAKERS.isOpen },
    loads: new Loads(),
    hedges: new Hedges(),
    decisions,
  };
  const outcome = await route(plan, routing, { previous: NO_TRAIL, hold: null });
  /** The outcomes that another target replaced: responses are discarded, failures were recorded by their attempt. */
  const replaced = outcomes.filter((one) => one !== outcome && (one.kind === 'failed' || discarded.has(one)));
  return { result: resultOf(outcome), replaced: replaced.map(resultOf), decisions };
}
