import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import type {
  AggregationTemporality,
  DataPoint,
  DataPointType,
  MetricData,
  MetricDescriptor,
} from '@opentelemetry/sdk-metrics';
import type { MetricJson } from '../common/processes/ipc.js';

/** The enumerations of the SDK, which is loaded only if there is a collector. */
export interface MetricKinds {
  readonly DataPointType: typeof DataPointType;
  readonly AggregationTemporality: typeof AggregationTemporality;
}

interface MetricPeriod {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

type MetricLabels = Readonly<Record<string, string | number | undefined>>;
type MetricValue = Omit<MetricJson['values'][number], 'labels'> & {
  readonly labels: MetricLabels;
  readonly metricName?: string;
};

/**
 * The metrics of `/metrics` in OpenTelemetry's data model, under the same names: counters are monotonic sums, gauges gauges, histograms
 * histograms with their bounds.
 * https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/#prometheus-metric-points-to-otlp
 */
export function metricsOf(
  metrics: readonly MetricJson[],
  period: MetricPeriod,
  kinds: MetricKinds,
): MetricData[] {
  return metrics.map((metric) => metricOf(metric, period, kinds)).filter((metric) => metric !== null);
}

function metricOf(metric: MetricJson, period: MetricPeriod, kinds: MetricKinds): MetricData | null {
  const values = metric.values as readonly MetricValue[];
  const common = {
    descriptor: descriptorOf(metric),
    aggregationTemporality: kinds.AggregationTemporality.CUMULATIVE,
  };
  const dataPoints = () =>
    values.map(({ labels, value }) => ({ ...period, attributes: attributesOf(labels), value }));
  // prom-client gives the type by name, although its types say a number.
  switch (String(metric.type)) {
    case 'counter':
      return {
        ...common,
        dataPointType: kinds.DataPointType.SUM,
        isMonotonic: true,
        dataPoints: dataPoints(),
      };
    case 'gauge':
      return { ...common, dataPointType: kinds.DataPointType.GAUGE, dataPoints: dataPoints() };
    case 'histogram':
      return {
        ...common,
        dataPointType: kinds.DataPointType.HISTOGRAM,
        dataPoints: histogramsIn(metric.name, values, period),
      };
    default:
      return null;
  }
}

/** Units come last in the names, and are UCUM in OpenTelemetry. */
const UNITS: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/_seconds(_total)?$/, 's'],
  [/_bytes(_total)?$/, 'By'],
  [/_ratio$/, '1'],
];

const descriptorOf = ({ name, help }: MetricJson): MetricDescriptor => ({
  name,
  description: help,
  unit: UNITS.find(([ending]) => ending.test(name))?.[1] ?? '',
  valueType: ValueType.DOUBLE,
});

interface MetricSeries {
  readonly labels: MetricLabels;
  /** Upper bounds with the number of values up to each. */
  readonly buckets: (readonly [bound: number, count: number])[];
  sum: number;
  count: number;
}

function histogramsIn(
  name: string,
  values: readonly MetricValue[],
  period: MetricPeriod,
): Extract<MetricData, { dataPointType: 0 }>['dataPoints'] {
  const series = new Map<string, MetricSeries>();
  for (const {
    labels: { le, ...labels },
    metricName,
    value,
  } of values) {
    const key = JSON.stringify(Object.entries(labels).sort());
    const own: MetricSeries = series.get(key) ?? { labels, buckets: [], sum: 0, count: 0 };
    series.set(key, own);
    if (metricName === `${name}_sum`) own.sum = value;
    else if (metricName === `${name}_count`) own.count = value;
    else own.buckets.push([le === '+Inf' ? Infinity : Number(le), value]);
  }
  return [...series.values()].map((each) => histogramPoint(each, period));
}

/** Prometheus counts up to each bound, OpenTelemetry between two. */
function histogramPoint({ labels, buckets, sum, count }: MetricSeries, period: MetricPeriod) {
  const sorted = buckets.toSorted(([one], [other]) => one - other);
  const boundaries = sorted.map(([bound]) => bound).filter(Number.isFinite);
  const upTo = [...sorted.filter(([bound]) => Number.isFinite(bound)).map(([, total]) => total), count];
  const counts = upTo.map((total, at) => total - (upTo[at - 1] ?? 0));
  return {
    ...period,
    attributes: attributesOf(labels),
    value: { buckets: { boundaries, counts }, sum, count },
  };
}

function attributesOf(labels: MetricLabels): Attributes {
  return Object.fromEntries(
    Object.entries(labels).filter(([, value]) => value !== undefined && value !== ''),
  );
}

/** Whether a counter or a histogram is lower than before: one of the processes was restarted and counts from 0. */
export function hasFallen(before: readonly MetricData[], after: readonly MetricData[]): boolean {
  const totals = totalsOf(before);
  return [...totalsOf(after)].some(([series, total]) => total < (totals.get(series) ?? 0));
}

function totalsOf(metrics: readonly MetricData[]): Map<string, number> {
  const totals = new Map<string, number>();
  for (const metric of metrics) {
    if (!('isMonotonic' in metric) && !isHistogram(metric)) continue;
    for (const { attributes, value } of metric.dataPoints as DataPoint<number | { readonly count: number }>[])
      totals.set(
        `${metric.descriptor.name} ${JSON.stringify(attributes)}`,
        typeof value === 'number' ? value : value.count,
      );
  }
  return totals;
}

const isHistogram = ({ dataPoints: [first] }: MetricData): boolean => typeof first?.value === 'object';
