import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Target } from '../types/target.js';
import { RetryBudgets } from './retry-budget.js';

const TARGET = { origin: 'https://api.openai.com', virtualKey: { id: '1', slug: 'a' } } as Target;

describe('RetryBudgets', () => {
  it('lets three requests try again however few there are, and not a fourth', () => {
    const budgets = new RetryBudgets();
    const requests = Array.from({ length: 4 }, () => budgets.enter(TARGET));

    expect(requests.map((request) => request.take())).toEqual([true, true, true, false]);
  });

  it('lets a fifth of many', () => {
    const budgets = new RetryBudgets();
    const requests = Array.from({ length: 100 }, () => budgets.enter(TARGET));

    expect(requests.filter((request) => request.take())).toHaveLength(20);
  });

  it('counts each target for itself', () => {
    const budgets = new RetryBudgets();
    const other = { ...TARGET, virtualKey: { id: '2', slug: 'b' } } as Target;
    for (let taken = 0; taken < 3; taken++) budgets.enter(TARGET).take();

    expect(budgets.enter(other).take()).toBe(true);
    expect(budgets.enter(TARGET).take()).toBe(false);
  });

  it('gets back what requests took, in whatever order they come and go', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), fc.constantFrom('enter', 'take', 'leave'))), (steps) => {
        const budgets = new RetryBudgets();
        const running = new Map<number, ReturnType<RetryBudgets['enter']>>();
        for (const [id, step] of steps) {
          const request = running.get(id);
          if (step === 'enter' && !request) running.set(id, budgets.enter(TARGET));
          if (step === 'take') request?.take();
          if (step !== 'leave' || !request) continue;
          request.leave();
          running.delete(id);
        }
        for (const request of running.values()) request.leave();
        const after = Array.from({ length: 4 }, () => budgets.enter(TARGET).take());
        expect(after).toEqual([true, true, true, false]);
      }),
    );
  });
});
