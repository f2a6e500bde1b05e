import { AppError } from '../../common/errors/app-error.js';
import { periodAt } from '../../common/limits/period.js';
import type { Limit } from '../../common/limits/limit.js';

interface Lack {
  readonly left: number;
  readonly needed: number;
  /** Milliseconds until more is free; 0 if unknown. */
  readonly retryMs: number;
}

/** The error for a request that a limit does not cover. */
export function refusalOf(limit: Limit, { left, needed, retryMs }: Lack): AppError {
  const { subject, amount } = limit;
  if (limit.kind === 'budget')
    return new AppError('budget_exceeded', {
      subject,
      left: amountText(limit, left),
      needed: amountText(limit, needed),
      ...resetOf(limit),
    });
  const retryAfter = Math.max(1, Math.ceil(retryMs / 1000));
  const rate = `: ${rateText(limit)}. Try again in ${retryAfter} s`;
  const details = {
    subject,
    limit: amount,
    rate,
    remaining: Math.floor(left),
    retryAfter,
    reset: retryAfter,
  };
  return limit.kind === 'slots'
    ? new AppError('concurrency_limited', details)
    : new AppError('rate_limited', details);
}

/** The end of a budget's period, in seconds since the epoch, unless it has none. */
function resetOf({ budget }: Limit): { readonly resetsAt?: number } {
  const endsAt = budget ? periodAt(budget, Date.now()).endsAt : Number.POSITIVE_INFINITY;
  return Number.isFinite(endsAt) ? { resetsAt: Math.floor(endsAt / 1000) } : {};
}

/** Names of windows; other windows are given in seconds. */
const WINDOWS: ReadonlyMap<number, string> = new Map([
  [1_000, 'second'],
  [60_000, 'minute'],
  [3_600_000, 'hour'],
  [86_400_000, 'day'],
  [604_800_000, 'week'],
]);

/** "1 request per minute". */
function rateText({ measure, amount, windowMs }: Limit): string {
  const what = measure === 'tokens' ? 'token' : 'request';
  return `${amount} ${what}${amount === 1 ? '' : 's'} per ${WINDOWS.get(windowMs) ?? `${windowMs / 1000} s`}`;
}

const NANO = 1_000_000_000;

/** "$0.25" or "1200 tokens". */
export function amountText({ measure }: Limit, amount: number): string {
  return measure === 'cost' ? `$${(amount / NANO).toFixed(9).replace(/0{1,7}$/, '')}` : `${amount} tokens`;
}
