import type { Limit, Policy } from '../../src/common/limits/limit.js';
import type { LimitEffect, LimitKind, LimitLevel } from '../../src/providers/charging/limit-effects.js';
import type { Principal } from '../../src/auth/principal.js';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from './gateway.js';
import { aBudget, aLimit, slots } from './limits.js';
import type { MemoryLimitStore } from './memory-limit-store.js';

/** A place whose limits are set while its gateway runs. */
export interface LimitedPlace {
  readonly caller: Principal;
  /** Undefined if the place is not a virtual key. */
  readonly ofVirtualKey?: readonly Limit[];
  readonly add: (limit: Limit) => void;
}

export function aLimitedPlace(place: LimitLevel): LimitedPlace {
  const limits: Limit[] = [];
  const policies: Policy[] = [];
  const ofCaller = aCaller({ limits: { limits, policies } });
  const add = (limit: Limit): unknown => limits.push(limit);
  switch (place) {
    case 'virtual key':
      return { caller: aCaller(), ofVirtualKey: limits, add };
    case 'policy':
      return { caller: ofCaller, add: (limit) => policies.push(aPolicy(limit)) };
    case 'workspace':
      return { caller: ofCaller, add: (limit) => add({ ...limit, subject: 'the workspace "a"' }) };
    default:
      return { caller: ofCaller, add };
  }
}

const aPolicy = (limit: Limit): Policy => ({
  limit,
  conditions: [{ key: 'provider', value: '*' }],
  groups: [],
});

/** Limits that have room for a single request or unit. */
const SMALLEST: Readonly<Record<LimitKind, () => Limit>> = {
  requests: () => aLimit({ amount: 1, failsClosed: true }),
  concurrency: () => slots(1),
  'token rate': () => aLimit({ measure: 'tokens', amount: 1, failsClosed: true }),
  'token budget': () => aBudget(1, { type: 'tokens' }),
  'dollar budget': () => aBudget(1),
};

/** How each kind of limit refuses. */
const REFUSAL_CODES: Readonly<Record<LimitKind, string>> = {
  requests: 'rate_limited',
  concurrency: 'concurrency_limited',
  'token rate': 'rate_limited',
  'token budget': 'budget_exceeded',
  'dollar budget': 'budget_exceeded',
};

/** A limit of the smallest amount, which another process has used up. */
export function usedUpLimit(kind: LimitKind, store: MemoryLimitStore): Limit {
  const limit = SMALLEST[kind]();
  store.windows.set(limit.id, [{ at: performance.now(), amount: 1 }]);
  store.leased.set(limit.id, 1);
  return limit;
}

/** The outcome that an effect stands for: the code of a refusal, or `passed`. */
export function expectedOutcome(effect: LimitEffect, kind: LimitKind): string {
  if (effect === 'refused') return REFUSAL_CODES[kind];
  return effect === 'unmeasured' ? 'usage_unknown' : 'passed';
}

/** The outcome of a request. */
export async function outcomeOf(response: Response): Promise<string> {
  const text = await response.text();
  return response.ok ? 'passed' : (/"code":"(\w+)"/.exec(text)?.[1] ?? `${response.status} ${text}`);
}

export interface LimitedGateway extends TestGateway {
  /** Sets a limit that is used up. Before, nothing is limited. */
  readonly useUp: () => void;
}

/** A gateway with a place of limits; as a virtual key, it is "openai-prod". */
export async function aLimitedGateway(
  kind: LimitKind,
  place: LimitLevel,
  wishes: GatewayWishes,
): Promise<LimitedGateway> {
  const { caller, ofVirtualKey: limits, add } = aLimitedPlace(place);
  const gateway = await aGateway({ ...wishes, caller, ...(limits ? { limits } : {}) });
  return { ...gateway, useUp: () => add(usedUpLimit(kind, gateway.limits)) };
}
