import { describe, expect, it } from 'vitest';
import type { PlannedTarget, WeightedPlan } from '../types/plan.js';
import { refused } from '../../../test/support/routing.js';
import { NO_TRAIL } from '../types/attempt-trail.js';
import { Loads } from './loads.js';

const aTarget = (path: string, weight = 1): WeightedPlan => ({ plan: {} as PlannedTarget, path, weight });

/** Loads with a clock that the test moves. */
class LoadsClock {
  now = 1_000;
  readonly loads = new Loads(() => this.now);

  /** A response after `ms`; `isOver`: its last byte has passed, too. */
  async request(
    target: WeightedPlan,
    { ms = 10, isOver = true, fails = false, isReplayed = false } = {},
  ): Promise<void> {
    const run = () => {
      this.now += ms;
      const attempt = { startedAt: 0, firstByteAt: null, wasSent: true, isReplayed };
      const answer = { kind: 'answered', answer: { status: 200, attempt }, trail: NO_TRAIL } as const;
      return Promise.resolve(fails ? refused(new Error('down')) : answer);
    };
    await this.loads.measured(target, run, (then) => (isOver ? then() : undefined));
  }
}

describe('Loads', () => {
  const [a, b, c] = [aTarget('a'), aTarget('b'), aTarget('c')];
  const drawn = [0, 0.3, 0.6, 0.9];

  it('know the least busy target for its weight, and take turns among equals', async () => {
    const clock = new LoadsClock();
    const strong = aTarget('strong', 4);
    expect(new Set(drawn.map((random) => clock.loads.leastBusy([a, b], random).path)).size).toBe(2);

    await clock.request(a, { isOver: false });
    for (let count = 0; count < 3; count++) await clock.request(strong, { isOver: false });

    expect(drawn.map((random) => clock.loads.leastBusy([a, b], random).path)).toEqual(['b', 'b', 'b', 'b']);
    expect(clock.loads.leastBusy([a, strong], 0).path).toBe('strong');
  });

  it('choose the faster of two, try the unknown first, and decay slowly', async () => {
    const clock = new LoadsClock();
    await clock.request(a, { ms: 100 });
    expect(clock.loads.fastest([a, b], () => 0).path).toBe('b');
    await clock.request(b, { ms: 500 });
    expect(clock.loads.fastest([a, b], () => 0).path).toBe('a');
    expect(clock.loads.fastest([a, b], () => 0.6).path).toBe('a');

    clock.now += 60_000;
    await clock.request(b, { ms: 10 });
    expect(clock.loads.fastest([a, b], () => 0).path).toBe('b');
  });

  it('exclude cache hits, from latencies and from requests in flight', async () => {
    const clock = new LoadsClock();
    await clock.request(a, { ms: 100 });
    await clock.request(b, { ms: 200 });
    for (let count = 0; count < 5; count++)
      await clock.request(b, { ms: 1, isReplayed: true, isOver: false });

    expect(drawn.map((random) => clock.loads.fastest([a, b], () => random).path)).toEqual([
      'a',
      'a',
      'a',
      'a',
    ]);
    expect(new Set(drawn.map((random) => clock.loads.leastBusy([a, b], random).path)).size).toBe(2);

    const unknown = aTarget('unknown');
    await clock.request(unknown, { ms: 1, isReplayed: true });
    expect(clock.loads.fastest([a, unknown], () => 0).path).toBe('unknown');
  });

  it('do not take a target that fails fast for a fast one', async () => {
    const clock = new LoadsClock();
    await clock.request(a, { ms: 200 });
    await clock.request(b, { ms: 1, fails: true, isOver: false });

    expect(clock.loads.fastest([a, b], () => 0).path).toBe('a');
  });

  it('avoid the slower of two drawn targets, and never pick the slowest of all', async () => {
    const clock = new LoadsClock();
    for (const [target, ms] of [
      [a, 10],
      [b, 20],
      [c, 900],
    ] as const)
      await clock.request(target, { ms });
    const choices = drawn.flatMap((one) =>
      drawn.map((two) => {
        const draws = [one, two];
        return clock.loads.fastest([a, b, c], () => draws.shift() ?? 0).path;
      }),
    );

    expect(choices).not.toContain('c');
  });
});
