import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { MetricJson } from '../common/processes/ipc.js';
import { hasFallen, metricsOf } from './registry-metrics.js';

const PERIOD = { startTime: [1, 0], endTime: [2, 0] } as const;
const KINDS = { AggregationTemporality, DataPointType };

async function exportedOf(register: Registry) {
  const json = (await register.getMetricsAsJSON()) as unknown as MetricJson[];
  return metricsOf(json, { startTime: [...PERIOD.startTime], endTime: [...PERIOD.endTime] }, KINDS);
}

describe('the metrics of the registry for OpenTelemetry', () => {
  it('are sums for counters and gauges for gauges, with their labels and units', async () => {
    const register = new Registry();
    new Counter({ name: 'work_seconds_total', help: 'Work.', labelNames: ['by'], registers: [register] }).inc(
      { by: 'all' },
      3,
    );
    new Gauge({ name: 'heap_bytes', help: 'Heap.', registers: [register] }).set(7);

    expect(await exportedOf(register)).toEqual([
      {
        descriptor: { name: 'work_seconds_total', description: 'Work.', unit: 's', valueType: 1 },
        aggregationTemporality: AggregationTemporality.CUMULATIVE,
        dataPointType: DataPointType.SUM,
        isMonotonic: true,
        dataPoints: [{ startTime: [1, 0], endTime: [2, 0], attributes: { by: 'all' }, value: 3 }],
      },
      {
        descriptor: { name: 'heap_bytes', description: 'Heap.', unit: 'By', valueType: 1 },
        aggregationTemporality: AggregationTemporality.CUMULATIVE,
        dataPointType: DataPointType.GAUGE,
        dataPoints: [{ startTime: [1, 0], endTime: [2, 0], attributes: {}, value: 7 }],
      },
    ]);
  });

  it('count between the bounds of a histogram, per series', async () => {
    const register = new Registry();
    const histogram = new Histogram({
      name: 'took_seconds',
      help: 'Time.',
      labelNames: ['to'],
      buckets: [0.1, 1],
      registers: [register],
    });
    for (const seconds of [0.05, 0.5, 0.6, 5]) histogram.observe({ to: 'a' }, seconds);
    histogram.observe({ to: 'b' }, 9);

    const [metric] = await exportedOf(register);
    expect(metric?.dataPoints.map(({ attributes, value }) => [attributes, value])).toEqual([
      [
        { to: 'a' },
        { buckets: { boundaries: [0.1, 1], counts: [1, 2, 1] }, sum: expect.closeTo(6.15), count: 4 },
      ],
      [{ to: 'b' }, { buckets: { boundaries: [0.1, 1], counts: [0, 0, 1] }, sum: 9, count: 1 }],
    ]);
  });

  it('have fallen only if a counter or a histogram is lower than before', async () => {
    const register = new Registry();
    const counter = new Counter({ name: 'done_total', help: 'Done.', registers: [register] });
    const gauge = new Gauge({ name: 'open', help: 'Open.', registers: [register] });
    counter.inc(5);
    gauge.set(5);
    const before = await exportedOf(register);
    counter.inc();
    gauge.set(1);
    expect(hasFallen(before, await exportedOf(register))).toBe(false);
    counter.reset();
    counter.inc(2);
    expect(hasFallen(before, await exportedOf(register))).toBe(true);
  });
});
