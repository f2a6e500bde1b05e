import { AggregatorRegistry, register } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { HistogramSums, registerHistogram } from './histogram-sums.js';

describe('a histogram of sums', () => {
  it('is written as Prometheus reads it, and adds up over processes', async () => {
    const sums = new HistogramSums();
    for (const seconds of [0.05, 0.3, 1_000]) sums.observe(seconds);
    registerHistogram({
      name: 'test_seconds',
      help: 'A test.',
      labelNames: ['provider'],
      read: () => [[{ provider: 'p' }, sums]],
    });
    const json = await register.getMetricsAsJSON();
    const merged = AggregatorRegistry.aggregate([json, json]);

    const one = await register.metrics();
    expect(one).toContain('# TYPE test_seconds histogram');
    expect(one).toContain('test_seconds_bucket{le="0.05",provider="p"} 1');
    expect(one).toContain('test_seconds_bucket{le="0.5",provider="p"} 2');
    expect(one).toContain('test_seconds_bucket{le="+Inf",provider="p"} 3');
    expect(one).toContain('test_seconds_count{provider="p"} 3');
    const both = await merged.metrics();
    expect(both).toContain('test_seconds_bucket{le="+Inf",provider="p"} 6');
    expect(both).toContain('test_seconds_sum{provider="p"} 2000.7');
  });
});
