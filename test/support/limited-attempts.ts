import { findProvider } from '../../src/providers/catalog/registry.js';
import type { Limit } from '../../src/common/limits/limit.js';
import type { LimitDemand, Limiter } from '../../src/gateway/limits/limiter.js';
import type { LimitReservation } from '../../src/gateway/types/limit-reservation.js';
import type { Target } from '../../src/gateway/types/target.js';
import { aCaller } from './gateway.js';

const TARGET: Target = {
  provider: findProvider('openai'),
  origin: 'https://api.openai.com',
  basePath: '/v1',
  query: '',
  virtualKey: null,
  credentials: { key: null, fields: {} },
  isCustomHost: false,
  forwarded: null,
};

/** The first attempt of a request under these limits of its API key. */
export const attemptUnder = (limits: readonly Limit[], amount = 1): LimitDemand => ({
  caller: aCaller({ limits: { limits, policies: [] } }),
  target: TARGET,
  model: 'gpt-4o',
  metadata: null,
  isFirst: true,
  unreadable: null,
  estimate: { tokens: amount, costNanoUsd: amount },
});

/** The reservation, or the code of the refusal. */
export async function outcomeOf(limiter: Limiter, wanted: LimitDemand): Promise<LimitReservation | string> {
  try {
    return await limiter.reserve(wanted);
  } catch (error) {
    return (error as { code: string }).code;
  }
}

export const isAdmitted = (outcome: LimitReservation | string): outcome is LimitReservation =>
  typeof outcome === 'object';

/** Ends an attempt that cost `costNanoUsd`, and its request. */
export function end({ request, attempt }: LimitReservation, costNanoUsd = 0): void {
  const actual = { costNanoUsd, tokens: costNanoUsd, isCountedLater: false };
  attempt.settle(actual);
  request?.settle(actual);
}
