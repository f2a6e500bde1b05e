import { randomUUID } from 'node:crypto';
import type { Limit } from '../../src/common/limits/limit.js';
import type { BudgetRule } from '../../src/common/limits/rules.js';
import type { LimitAsk, LimitReturn } from '../../src/gateway/ports.js';

/** Limits as a process holds to them, with an id of their own. */
export const aLimit = (wishes: Partial<Limit> = {}): Limit => ({
  id: randomUUID(),
  organizationId: '00000000-0000-7000-8000-000000000002',
  kind: 'window',
  measure: 'requests',
  amount: 100,
  subject: 'this API key',
  windowMs: 60_000,
  budget: null,
  failsClosed: false,
  ...wishes,
});

export const aBudget = (amount: number, wishes: Partial<BudgetRule> = {}): Limit => {
  const id = randomUUID();
  const budget: BudgetRule = {
    id,
    type: 'cost',
    credit_limit: amount / 1e9,
    alert_threshold: null,
    amount,
    alert_amount: null,
    periodic_reset: null,
    periodic_reset_days: null,
    starts_at: 0,
    ...wishes,
  };
  return aLimit({ id, kind: 'budget', measure: budget.type, amount, windowMs: 0, budget, failsClosed: true });
};

export const slots = (amount: number): Limit =>
  aLimit({ kind: 'slots', measure: 'concurrency', amount, windowMs: 0 });

export const asks = (limit: Limit, wishes: Partial<LimitAsk> = {}): LimitAsk => {
  const first = wishes.first ?? 1;
  const call = { call: 0, unsureSince: null, holds: 0 };
  return { key: limit.id, limit, group: null, debt: 0, first, need: first, spare: 0, ...call, ...wishes };
};

/** Of a window, what `step` counted is given back; of the other kinds, without a step. */
export const returns = (
  limit: Limit,
  amount: number,
  wishes: Partial<LimitReturn & { step: number }> = {},
): LimitReturn => {
  const { step, ...more } = wishes;
  const steps = step === undefined ? [] : [{ step, amount }];
  return { key: limit.id, limit, group: null, amount, steps, call: 0, unsureSince: null, holds: 0, ...more };
};
