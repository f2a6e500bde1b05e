import { budgetAmountIn, periodAt } from './period.js';
import type { BudgetRule, PolicyCondition, PolicyKey, PolicyRule, RateRule } from './rules.js';
import { RATE_WINDOWS_MS } from './rules.js';

/** The measured unit of a limit. Cost is in nano-dollars. */
export type Measure = 'cost' | 'tokens' | 'requests' | 'concurrency';

/**
 * A limit as a gateway process enforces it, created once when its subject is loaded.
 *
 * `budget` is spent and restored with its next period; `window` refills as time passes; `slots` are released when the request ends.
 */
export interface Limit {
  readonly id: string;
  readonly organizationId: string;
  readonly kind: 'budget' | 'window' | 'slots';
  readonly measure: Measure;
  readonly amount: number;
  /** The limit's owner, as the end of a sentence: "this API key". */
  readonly subject: string;
  /** Zero without a window. */
  readonly windowMs: number;
  /** The budget's rule; null for the other kinds. */
  readonly budget: BudgetRule | null;
  /** Whether requests are refused while the store of this limit is unavailable. Budgets always refuse. */
  readonly failsClosed: boolean;
}

/** Whether both count the same use in the same counter, whatever their amounts. */
export function countsAlike(one: Limit, other: Limit): boolean {
  const isAlike = one.measure === other.measure && one.windowMs === other.windowMs;
  return isAlike && hasSamePeriods(one.budget, other.budget);
}

/** Whether both allow the same, with the same wording. */
export function allowsAlike(one: Limit, other: Limit): boolean {
  const hasSameAmounts =
    one.amount === other.amount && one.budget?.alert_amount === other.budget?.alert_amount;
  return hasSameAmounts && one.failsClosed === other.failsClosed && one.subject === other.subject;
}

function hasSamePeriods(one: BudgetRule | null, other: BudgetRule | null): boolean {
  if (one === null || other === null) return one === other;
  const hasSameResets =
    one.periodic_reset === other.periodic_reset && one.periodic_reset_days === other.periodic_reset_days;
  return hasSameResets && (one.periodic_reset_days === null || one.starts_at === other.starts_at);
}

/** The limit at a moment: a budget may have been raised for the current period. */
export function limitAt(limit: Limit, moment: number): Limit {
  const { budget } = limit;
  if (!budget?.raise) return limit;
  return { ...limit, amount: budgetAmountIn(budget, periodAt(budget, moment)) };
}

/** A policy's limit, and the requests it applies to. */
export interface Policy {
  readonly limit: Limit;
  readonly conditions: readonly PolicyCondition[];
  readonly groups: readonly PolicyKey[];
}

/** The limits of a caller: of its key, its workspace, and the workspace's policies. */
export interface CallerLimits {
  readonly limits: readonly Limit[];
  readonly policies: readonly Policy[];
}

/** The two lists of a subject, as stored. */
export interface SubjectRules {
  readonly rate_limits: readonly RateRule[] | null;
  readonly usage_limits: readonly BudgetRule[] | null;
}

/** The owner of limits. */
export interface LimitOwner {
  readonly organizationId: string;
  readonly subject: string;
}

export function limitsOfRules(owner: LimitOwner, { rate_limits, usage_limits }: SubjectRules): Limit[] {
  return [
    ...(rate_limits ?? []).map((rule) => rateLimit(owner, rule)),
    ...(usage_limits ?? []).map((rule) => budgetLimit(owner, rule)),
  ];
}

export function policyOf(organizationId: string, rule: PolicyRule): Policy | null {
  const owner = { organizationId, subject: `the policy "${rule.name}"` };
  const { budget, rate } = rule;
  const limit = budget ? budgetLimit(owner, budget) : rate && rateLimit(owner, rate);
  return limit && { limit, conditions: rule.conditions, groups: rule.group_by.map(({ key }) => key) };
}

function rateLimit({ organizationId, subject }: LimitOwner, rule: RateRule): Limit {
  const { id, type, unit, value, on_store_failure } = rule;
  return {
    id,
    organizationId,
    kind: type === 'concurrency' ? 'slots' : 'window',
    measure: type,
    amount: value,
    subject,
    windowMs: unit === null ? 0 : RATE_WINDOWS_MS[unit],
    budget: null,
    failsClosed: on_store_failure === 'closed',
  };
}

function budgetLimit({ organizationId, subject }: LimitOwner, rule: BudgetRule): Limit {
  const { id, type, amount } = rule;
  return {
    id,
    organizationId,
    kind: 'budget',
    measure: type,
    amount,
    subject,
    windowMs: 0,
    budget: rule,
    failsClosed: true,
  };
}
