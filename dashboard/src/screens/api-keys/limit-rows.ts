import type { ApiKey, NewApiKey, UsageLimit } from '../../api/keys';

/** A budget as it is typed. */
export interface BudgetRow {
  readonly amount: string;
  readonly type: 'cost' | 'tokens';
  readonly period: 'monthly' | 'weekly' | 'days' | 'none';
  readonly days: string;
  readonly alert: string;
}

type Rate = NonNullable<ApiKey['rate_limits']>[number];

/** A rate limit as it is typed. */
export interface RateRow {
  readonly amount: string;
  readonly type: 'requests' | 'tokens' | 'concurrency';
  readonly unit: string;
  readonly onStoreFailure: Rate['on_store_failure'];
}

export const NEW_BUDGET: BudgetRow = { amount: '', type: 'cost', period: 'monthly', days: '30', alert: '' };
export const NEW_RATE: RateRow = { amount: '', type: 'requests', unit: 'rpm', onStoreFailure: 'open' };

const periodOf = ({ periodic_reset: reset, periodic_reset_days: days }: UsageLimit): BudgetRow['period'] => {
  if (days !== null) return 'days';
  return reset === 'monthly' || reset === 'weekly' ? reset : 'none';
};

export const budgetRow = (limit: UsageLimit): BudgetRow => ({
  amount: String(limit.credit_limit),
  type: limit.type,
  period: periodOf(limit),
  days: String(limit.periodic_reset_days ?? NEW_BUDGET.days),
  alert: limit.alert_threshold === null ? '' : String(limit.alert_threshold),
});

export const rateRow = ({ type, unit, value, on_store_failure }: Rate): RateRow => ({
  amount: String(value),
  type,
  unit: unit ?? NEW_RATE.unit,
  onStoreFailure: on_store_failure,
});

export const isAmount = (text: string): boolean => text === '' || Number(text) > 0;
const isWhole = (text: string): boolean => /^\d+$/.test(text);

type Budgets = Extract<NonNullable<NewApiKey['usage_limits']>, readonly unknown[]>;
type Rates = Extract<NonNullable<NewApiKey['rate_limits']>, readonly unknown[]>;

const isBudget = ({ amount, alert, period, days }: BudgetRow): boolean =>
  isAmount(amount) && isAmount(alert) && (period !== 'days' || isWhole(days));

/** Rows without an amount are none. Null while a row is invalid. */
export function budgetsOf(rows: readonly BudgetRow[]): Budgets | null {
  if (!rows.every(isBudget)) return null;
  return rows
    .filter(({ amount }) => amount !== '')
    .map(({ amount, type, period, days, alert }) => ({
      credit_limit: Number(amount),
      type,
      ...(alert !== '' && { alert_threshold: Number(alert) }),
      ...((period === 'monthly' || period === 'weekly') && { periodic_reset: period }),
      ...(period === 'days' && { periodic_reset_days: Number(days) }),
    }));
}

/** Rows without an amount are none. Null while a row is invalid. */
export function ratesOf(rows: readonly RateRow[]): Rates | null {
  if (!rows.every(({ amount }) => amount === '' || isWhole(amount))) return null;
  return rows
    .filter(({ amount }) => amount !== '')
    .map(({ amount, type, unit, onStoreFailure }) => ({
      type,
      value: Number(amount),
      ...(type !== 'concurrency' && { unit: unit as NonNullable<Rates[number]['unit']> }),
      on_store_failure: onStoreFailure,
    }));
}
