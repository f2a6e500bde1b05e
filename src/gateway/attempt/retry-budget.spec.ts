import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { Secret } from '../../common/settings/secret.js';
import type { Target } from '../types/target.js';
import { type RetryBudget, RetryBudgets } from './retry-budget.js';

const NO_CREDENTIALS = { key: null, fields: {} };
const TARGET = {
  origin: 'https://api.openai.com',
  virtualKey: { id: '1', slug: 'a' },
  credentials: NO_CREDENTIALS,
} as Target;
const WITHOUT_VIRTUAL_KEY: Target = { ...TARGET, virtualKey: null };
const CALLER = aCaller();

/** One request of a caller, with a provider key of its own if `key` is given. */
const enter = (budgets: RetryBudgets, target = TARGET, caller = CALLER, key?: string): RetryBudget =>
  budgets.enter(caller, target, key === undefined ? {} : { authorization: `Bearer ${key}` });

/** Whether `other` still has a retry after `used` has spent its budget. */
function leaves(used: () => RetryBudget, other: () => RetryBudget): boolean {
  for (let taken = 0; taken < 3; taken++) used().take();
  expect(used().take()).toBe(false);
  return other().take();
}

describe('RetryBudgets', () => {
  it('lets three requests try again however few there are, and not a fourth', () => {
    const budgets = new RetryBudgets();
    const requests = Array.from({ length: 4 }, () => enter(budgets));

    expect(requests.map((request) => request.take())).toEqual([true, true, true, false]);
  });

  it('lets a fifth of many', () => {
    const budgets = new RetryBudgets();
    const requests = Array.from({ length: 100 }, () => enter(budgets));

    expect(requests.filter((request) => request.take())).toHaveLength(20);
  });

  it('counts each target for itself', () => {
    const budgets = new RetryBudgets();
    const other = { ...TARGET, virtualKey: { id: '2', slug: 'b' } } as Target;

    const hasLeft = leaves(
      () => enter(budgets),
      () => enter(budgets, other),
    );

    expect(hasLeft).toBe(true);
  });

  it('is not shared by workspaces or organizations that use the same provider with their own keys', () => {
    const others = [
      aCaller({ workspaceId: '00000000-0000-7000-8000-0000000000aa' }),
      aCaller({ workspaceId: null, organizationId: '00000000-0000-7000-8000-0000000000bb' }),
    ];
    for (const other of others) {
      const budgets = new RetryBudgets();
      const hasLeft = leaves(
        () => enter(budgets, WITHOUT_VIRTUAL_KEY, CALLER, 'sk-one'),
        () => enter(budgets, WITHOUT_VIRTUAL_KEY, other, 'sk-one'),
      );
      expect(hasLeft).toBe(true);
    }
  });

  it('is not shared by two provider keys in one workspace, whether a config holds them or the caller brings them', () => {
    const withKey = (key: string): Target => ({
      ...WITHOUT_VIRTUAL_KEY,
      credentials: { key: new Secret(key), fields: {} },
    });
    const [held, brought] = [new RetryBudgets(), new RetryBudgets()];

    const hasLeft = [
      leaves(
        () => enter(held, withKey('sk-one')),
        () => enter(held, withKey('sk-two')),
      ),
      leaves(
        () => enter(brought, WITHOUT_VIRTUAL_KEY, CALLER, 'sk-one'),
        () => enter(brought, WITHOUT_VIRTUAL_KEY, CALLER, 'sk-two'),
      ),
    ];

    expect(hasLeft).toEqual([true, true]);
  });

  it('gets back what requests took, in whatever order they come and go', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), fc.constantFrom('enter', 'take', 'leave'))), (steps) => {
        const budgets = new RetryBudgets();
        const running = new Map<number, ReturnType<RetryBudgets['enter']>>();
        for (const [id, step] of steps) {
          const request = running.get(id);
          if (step === 'enter' && !request) running.set(id, enter(budgets));
          if (step === 'take') request?.take();
          if (step !== 'leave' || !request) continue;
          request.leave();
          running.delete(id);
        }
        for (const request of running.values()) request.leave();
        const after = Array.from({ length: 4 }, () => enter(budgets).take());
        expect(after).toEqual([true, true, true, false]);
      }),
    );
  });
});
