import { type Metric, type MetricObjectWithValues, type MetricValue, register } from 'prom-client';

/** Upper bounds in seconds: fast answers and first tokens, long generations, up to the total timeout. */
export const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const;

/** The values of one histogram. Plain numbers, so that requests do not pay for a metrics library. */
export class HistogramSums {
  /** Values in each bucket, not cumulated; the last one is above all bounds. */
  private readonly counts = new Array<number>(SECONDS.length + 1).fill(0);
  sum = 0;
  count = 0;

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < SECONDS.length && seconds > (SECONDS[bucket] as number)) bucket++;
    (this.counts[bucket] as number)++;
    this.sum += seconds;
    this.count++;
  }

  add(other: HistogramSums): void {
    for (let bucket = 0; bucket < this.counts.length; bucket++)
      (this.counts[bucket] as number) += other.counts[bucket] as number;
    this.sum += other.sum;
    this.count += other.count;
  }

  /** Upper bounds with the number of values up to each. */
  *cumulated(): Generator<readonly [bound: string, count: number]> {
    let total = 0;
    for (const [bucket, count] of this.counts.entries()) {
      total += count;
      yield [String(SECONDS[bucket] ?? '+Inf'), total];
    }
  }
}

type HistogramLabels = Readonly<Record<string, string>>;

interface HistogramSource {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly read: () => Iterable<readonly [HistogramLabels, HistogramSums]>;
}

/** Registers a histogram that is read from sums on each scrape. */
export function registerHistogram({ name, help, labelNames, read }: HistogramSource): void {
  const valuesOf = ([labels, sums]: readonly [HistogramLabels, HistogramSums]): MetricValue<string>[] => [
    ...[...sums.cumulated()].map(([le, value]) => ({
      value,
      labels: { le, ...labels },
      metricName: `${name}_bucket`,
    })),
    { value: sums.sum, labels, metricName: `${name}_sum` } as MetricValue<string>,
    { value: sums.count, labels, metricName: `${name}_count` } as MetricValue<string>,
  ];
  const metric = {
    name,
    help,
    type: 'histogram',
    labelNames,
    get: () =>
      Promise.resolve({
        name,
        help,
        type: 'histogram',
        aggregator: 'sum',
        values: [...read()].flatMap(valuesOf),
      } as unknown as MetricObjectWithValues<MetricValue<string>>),
  };
  register.registerMetric(metric as unknown as Metric);
}
