import type { BudgetRule } from './rules.js';

/** The period of a budget, milliseconds since the epoch. A budget without a reset has one period without end. */
export interface LimitPeriod {
  readonly startsAt: number;
  readonly endsAt: number;
}

type ResetRule = Pick<BudgetRule, 'periodic_reset' | 'periodic_reset_days' | 'starts_at'>;

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** 1970-01-05, the first Monday since the epoch. */
const A_MONDAY = 4 * DAY_MS;
const UNLIMITED_PERIOD: LimitPeriod = { startsAt: 0, endsAt: Number.POSITIVE_INFINITY };

/**
 * The period of a budget at a moment. All in UTC: weeks begin on Monday at midnight, months on their first day, periods of days at the time
 * of day at which the budget was set.
 */
export function periodAt(
  { periodic_reset, periodic_reset_days, starts_at }: ResetRule,
  moment: number,
): LimitPeriod {
  if (periodic_reset === 'weekly') return repeating(A_MONDAY, WEEK_MS, moment);
  if (periodic_reset === 'monthly') return month(moment);
  if (periodic_reset_days !== null) return repeating(starts_at, periodic_reset_days * DAY_MS, moment);
  return UNLIMITED_PERIOD;
}

function repeating(anchor: number, lengthMs: number, moment: number): LimitPeriod {
  const startsAt = anchor + Math.floor((moment - anchor) / lengthMs) * lengthMs;
  return { startsAt, endsAt: startsAt + lengthMs };
}

function month(moment: number): LimitPeriod {
  const date = new Date(moment);
  const [year, index] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { startsAt: Date.UTC(year, index), endsAt: Date.UTC(year, index + 1) };
}

/** The amount of a budget in a period, including a raise for exactly this period. */
export function budgetAmountIn(
  { amount, raise }: Pick<BudgetRule, 'amount' | 'raise'>,
  { endsAt }: LimitPeriod,
): number {
  return raise?.ends_at === endsAt ? amount + raise.amount : amount;
}

/**
 * The name of a budget's counter in a period. If the clock jumps, the counter of the new period is used, with its amount; nothing is reset
 * to zero.
 */
export function counterKey(id: string, { startsAt }: LimitPeriod, group: string): string {
  const counted = group === '' ? id : `${id}/${group}`;
  return startsAt === 0 ? counted : `${counted}@${startsAt / 1000}`;
}
