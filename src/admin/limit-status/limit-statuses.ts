import { budgetAmountIn, periodAt } from '../../common/limits/period.js';
import type { BudgetRule, RateRule } from '../../common/limits/rules.js';
import { shownAmount } from '../limits/limits.service.js';

/** The owner of limits. */
export interface LimitSubject {
  readonly type: 'api_key' | 'virtual_key' | 'workspace';
  readonly id: string;
  readonly name: string;
  readonly slug: string | null;
  readonly workspaceId: string | null;
}

/** A counter's values for the current period. */
export interface CounterReading {
  readonly used: number;
  readonly since: number;
}

export interface LimitStatus {
  readonly id: string;
  readonly subject: LimitSubject;
  readonly kind: 'budget' | 'rate' | 'concurrency';
  readonly measure: 'cost' | 'tokens' | 'requests' | 'concurrency';
  readonly period: string | null;
  readonly limit: number;
  readonly raised_by: number;
  readonly used: number | null;
  readonly remaining: number | null;
  readonly resets_at: Date | null;
  readonly used_per_day: number | null;
  readonly exhausted_at: Date | null;
  readonly status: 'ok' | 'nearly_exhausted' | 'exhausted';
}

const DAY_MS = 86_400_000;
/** The use within the first hour says little about a day, so there is no forecast yet. */
const SHORTEST_MS = 3_600_000;
const NEARLY = 0.8;

export function budgetStatus(
  subject: LimitSubject,
  rule: BudgetRule,
  counted: CounterReading | undefined,
  now: number,
): LimitStatus {
  const period = periodAt(rule, now);
  const amount = budgetAmountIn(rule, period);
  const spent = counted?.used ?? 0;
  const since = Math.max(period.startsAt, counted?.since ?? now);
  const perDay = now - since < SHORTEST_MS ? null : (spent / (now - since)) * DAY_MS;
  return {
    id: rule.id,
    subject,
    kind: 'budget',
    measure: rule.type,
    period: rule.periodic_reset ?? daysOf(rule),
    limit: shownAmount(rule, amount),
    raised_by: shownAmount(rule, amount - rule.amount),
    used: shownAmount(rule, spent),
    remaining: shownAmount(rule, Math.max(0, amount - spent)),
    resets_at: Number.isFinite(period.endsAt) ? new Date(period.endsAt) : null,
    used_per_day: perDay === null ? null : shownAmount(rule, Math.round(perDay)),
    exhausted_at: endOf(amount - spent, perDay, { now, endsAt: period.endsAt }),
    status: statusOf(spent, amount),
  };
}

const daysOf = ({ periodic_reset_days: days }: BudgetRule): string | null =>
  days === null ? null : `${days} days`;

/** When the rest will be used up; null when it lasts longer than the period, nothing is used, or it is too early to say. */
function endOf(
  left: number,
  perDay: number | null,
  { now, endsAt }: { now: number; endsAt: number },
): Date | null {
  if (perDay === null || left <= 0 || perDay <= 0) return null;
  const end = now + (left / perDay) * DAY_MS;
  return end < endsAt && end < LAST_MOMENT ? new Date(end) : null;
}

/** The latest valid date: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const LAST_MOMENT = 8.64e15;

/** `used`: within the window that ends now, or by running requests; null when unknown. */
export function rateStatus(subject: LimitSubject, rule: RateRule, used: number | null): LimitStatus {
  const { id, type, unit, value } = rule;
  return {
    id,
    subject,
    kind: type === 'concurrency' ? 'concurrency' : 'rate',
    measure: type,
    period: unit,
    limit: value,
    raised_by: 0,
    used,
    remaining: used === null ? null : Math.max(0, value - used),
    resets_at: null,
    used_per_day: null,
    exhausted_at: null,
    status: used === null ? 'ok' : statusOf(used, value),
  };
}

function statusOf(used: number, limit: number): LimitStatus['status'] {
  if (used >= limit) return 'exhausted';
  return used >= limit * NEARLY ? 'nearly_exhausted' : 'ok';
}

/** Fullest first, unknown last. */
export const byFullness = (one: LimitStatus, other: LimitStatus): number => share(other) - share(one);

const share = ({ used, limit }: LimitStatus): number => (used === null ? -1 : used / limit);
