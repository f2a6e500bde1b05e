import { describe, expect, it } from 'vitest';
import type { HedgePlan } from '../types/plan.js';
import { Hedges } from './hedges.js';

const plan = (more: Partial<HedgePlan> = {}): HedgePlan => ({
  afterMs: null,
  share: 0.05,
  spend: 0.1,
  ...more,
});

describe('Hedges', () => {
  it('hedges no more than the configured share of requests', () => {
    const [hedges, five] = [new Hedges(), plan()];
    let taken = 0;
    for (let request = 0; request < 1_000; request++) {
      hedges.began(five, 100);
      if (hedges.take(five, 100)) taken += 1;
    }

    expect(taken).toBeLessThanOrEqual(50);
    expect(taken).toBeGreaterThan(45);
  });

  it('lets second questions cost no more than the share of what the first ones cost', () => {
    const [hedges, dear] = [new Hedges(), plan({ share: 1 })];
    let spent = 0;
    for (let request = 0; request < 1_000; request++) {
      hedges.began(dear, 100);
      if (hedges.take(dear, 500)) spent += 500;
    }

    expect(spent).toBeLessThanOrEqual(0.1 * 100_000);
    expect(spent).toBeGreaterThan(0.09 * 100_000);
  });

  it('saves up for ten, and no more', () => {
    const [hedges, all] = [new Hedges(), plan({ share: 1, spend: 1 })];
    for (let request = 0; request < 500; request++) hedges.began(all, 100);

    expect(Array.from({ length: 20 }, () => hedges.take(all, 100)).filter(Boolean)).toHaveLength(10);
  });

  it('does not hedge at an unknown price', () => {
    const [hedges, all] = [new Hedges(), plan({ share: 1, spend: 1 })];
    hedges.began(all, 100);

    expect(hedges.take(all, null)).toBe(false);
  });

  it('waits as the config says until enough was measured, then for the 95th percentile', () => {
    const [hedges, configured, silent] = [new Hedges(), plan({ afterMs: 700 }), plan()];

    expect([hedges.began(configured, 1), hedges.began(silent, 1)]).toEqual([700, null]);
    for (let request = 1; request <= 19; request++) hedges.measured(silent, request);
    expect(hedges.began(silent, 1)).toBeNull();
    hedges.measured(silent, 20);
    expect(hedges.began(silent, 1)).toBe(19);
  });

  it('drops observations older than two hundred requests', () => {
    const [hedges, silent] = [new Hedges(), plan()];
    for (let request = 0; request < 200; request++) hedges.measured(silent, 5_000);
    for (let request = 0; request < 200; request++) hedges.measured(silent, 10);

    expect(hedges.began(silent, 1)).toBe(10);
  });
});
