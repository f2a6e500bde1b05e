import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readRoutingConfig } from '../../routing-config/routing-config.js';
import type { BreakerRules } from '../../routing-config/document.js';
import { AppError } from '../../common/errors/app-error.js';
import { planFromConfig } from '../planning/plan-from-config.js';
import type { PlannedTarget } from '../types/plan.js';
import { answered, failed, refused } from '../../../test/support/routing.js';
import type { AttemptOutcome, TargetAnswer } from '../types/attempt-outcome.js';
import { Breakers } from './breakers.js';

const SAVED = { id: 'c', slug: 'pc-c', versionId: 'v1' };

function aTarget(cb_config?: BreakerRules, saved: typeof SAVED | null = SAVED): PlannedTarget {
  const read = readRoutingConfig({ virtual_key: 'a', ...(cb_config ? { cb_config } : {}) });
  if (read.mistakes) throw new Error(JSON.stringify(read.mistakes));
  return planFromConfig(read.config, saved).plan as PlannedTarget;
}

/** Processes that notify each other. */
class Bus {
  readonly told: string[] = [];
  private readonly listeners: ((target: string, cooldownMs: number) => void)[] = [];

  aProcess(): Breakers {
    let own: ((target: string, cooldownMs: number) => void) | null = null;
    return new Breakers({
      tell: (target, cooldownMs) => {
        this.told.push(target);
        for (const listener of this.listeners) if (listener !== own) listener(target, cooldownMs);
      },
      subscribe: (listener) => this.listeners.push((own = listener)),
    });
  }
}

const failure = failed(new AppError('upstream_error'));

type BreakerOutcome = number | Error | AttemptOutcome<TargetAnswer> | null;

function request(breakers: Breakers, target: PlannedTarget, outcome: BreakerOutcome): void {
  breakers.began(target);
  if (outcome === null) breakers.ended(target, null);
  else if (typeof outcome === 'number') breakers.ended(target, answered(outcome));
  else breakers.ended(target, outcome instanceof Error ? refused(outcome) : outcome);
}

function requests(breakers: Breakers, target: PlannedTarget, outcomes: BreakerOutcome[]): void {
  for (const outcome of outcomes) request(breakers, target, outcome);
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.advanceTimersByTime(1_000_000);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('Breakers', () => {
  it('leave a target alone that has no breaker', () => {
    const [breakers, target] = [new Bus().aProcess(), aTarget()];

    requests(breakers, target, Array<number>(50).fill(500));

    expect(breakers.isOpen(target)).toBe(false);
  });

  it('take a target out after as many failures as its config says, for as long as it says', () => {
    const [breakers, target] = [
      new Bus().aProcess(),
      aTarget({ failure_threshold: 3, cooldown_interval: 60_000 }),
    ];

    requests(breakers, target, [500, failure]);
    expect(breakers.isOpen(target)).toBe(false);
    request(breakers, target, 503);
    expect(breakers.isOpen(target)).toBe(true);
    vi.advanceTimersByTime(59_999);
    expect(breakers.isOpen(target)).toBe(true);
    vi.advanceTimersByTime(1);
    expect(breakers.isOpen(target)).toBe(false);
  });

  it('take a target out by the share of failures, not before there are enough requests', () => {
    const [breakers, target] = [
      new Bus().aProcess(),
      aTarget({ failure_threshold_percentage: 50, minimum_requests: 10 }),
    ];

    requests(breakers, target, [500, 500, 500, 500, 200, 200, 200, 200, 200]);
    expect(breakers.isOpen(target)).toBe(false);
    request(breakers, target, 500);
    expect(breakers.isOpen(target)).toBe(true);
  });

  it('drop failures of more than a minute ago', () => {
    const [breakers, target] = [new Bus().aProcess(), aTarget({ failure_threshold: 2 })];

    request(breakers, target, 500);
    vi.advanceTimersByTime(61_000);
    request(breakers, target, 500);

    expect(breakers.isOpen(target)).toBe(false);
  });

  it("count neither the caller's mistakes, nor a client that left, nor a refusal of ours", () => {
    const [breakers, target] = [new Bus().aProcess(), aTarget({ failure_threshold: 1 })];

    requests(breakers, target, [400, 401, 404, 429, null, new AppError('not_found'), new Error('ours')]);

    expect(breakers.isOpen(target)).toBe(false);
  });

  it('count the statuses that the config lists, and only those', () => {
    const [breakers, target] = [
      new Bus().aProcess(),
      aTarget({ failure_threshold: 1, failure_status_codes: [429] }),
    ];

    request(breakers, target, 500);
    expect(breakers.isOpen(target)).toBe(false);
    request(breakers, target, 429);
    expect(breakers.isOpen(target)).toBe(true);
  });

  it('let one request try a target that was out, and bring it back when that succeeds', () => {
    const [breakers, target] = [
      new Bus().aProcess(),
      aTarget({ failure_threshold: 1, cooldown_interval: 30_000 }),
    ];
    request(breakers, target, 500);
    vi.advanceTimersByTime(30_000);

    breakers.began(target);
    expect(breakers.isOpen(target)).toBe(true);
    breakers.ended(target, answered(500));
    expect(breakers.isOpen(target)).toBe(true);
    vi.advanceTimersByTime(30_000);
    request(breakers, target, 200);
    expect(breakers.isOpen(target)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(breakers.isOpen(target)).toBe(false);
  });

  it('notify other processes, which take the same target out for the same time', () => {
    const bus = new Bus();
    const [one, other] = [bus.aProcess(), bus.aProcess()];
    const rules = { failure_threshold: 1, cooldown_interval: 30_000 };

    request(one, aTarget(rules), 500);

    expect(bus.told).toEqual(['v1:config']);
    expect(other.isOpen(aTarget(rules))).toBe(true);
    expect(other.isOpen(aTarget(rules, { ...SAVED, versionId: 'v2' }))).toBe(false);
    vi.advanceTimersByTime(30_000);
    expect(other.isOpen(aTarget(rules))).toBe(false);
  });

  it('do not report a config that came with a request', () => {
    const bus = new Bus();
    const [one, target] = [bus.aProcess(), aTarget({ failure_threshold: 1 }, null)];

    request(one, target, 500);

    expect(one.isOpen(target)).toBe(true);
    expect(bus.told).toEqual([]);
  });
});
