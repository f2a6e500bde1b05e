import { describe, expect, it } from 'vitest';
import { SumsByName } from './exchange-metrics.js';

const ok = { status: 200, cost_nano_usd: 5 };
const failed = { status: 404, cost_nano_usd: null };

describe('sums by name', () => {
  it('give a name its own series, requests by status class and cost', () => {
    const sums = new SumsByName(10);
    sums.add('openai', 'gpt-5', ok, '2xx');
    sums.add('openai', 'gpt-5', failed, '4xx');

    expect([...sums.all()]).toEqual([
      ['openai\ngpt-5', { requests: { '2xx': 1, '4xx': 1 }, costNanoUsd: 5 }],
    ]);
  });

  it('count names beyond the bound, and names that never succeeded, together', () => {
    const sums = new SumsByName(2);
    for (let i = 0; i < 1_000; i++) sums.add('p', `made-up-${i}`, failed, '4xx');
    for (const name of ['a', 'b', 'c']) sums.add('p', name, ok, '2xx');

    const names = [...sums.all()].map(([name]) => name);
    expect(names).toHaveLength(2);
    expect(names).toContain('p\nother');
  });
});
