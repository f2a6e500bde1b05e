import { Counter, Gauge, register } from 'prom-client';
import { HistogramSums, registerHistogram } from '../../common/observability/histogram-sums.js';
import type { RequestLogRecord } from '../../request-log/record.js';
import { countNames, registerNameMetrics } from './name-metrics.js';

/** Sums of one kind of exchange. Plain numbers, so that requests do not pay for a metrics library. */
interface Sums {
  requests: number;
  overheadUs: number;
  inputTokens: number;
  outputTokens: number;
  costNanoUsd: number;
  readonly durations: HistogramSums;
  readonly firstTokens: HistogramSums;
}

const KINDS_MAX = 2_000;
const sums = new Map<string, Sums>();
let running = 0;

export function exchangeBegan(): void {
  running++;
}

export function exchangeEnded(): void {
  running--;
}

/** Labels are bounded: providers, endpoints, endings and status classes all come from tables of ours. */
export function countExchange(record: RequestLogRecord): void {
  const statusClass = `${Math.floor(record.status / 100)}xx`;
  countNames(record, statusClass);
  const kind = `${record.provider ?? ''}|${record.endpoint ?? 'pass-through'}|${record.ending}|${statusClass}`;
  let sum = sums.get(kind);
  if (!sum) {
    if (sums.size >= KINDS_MAX) return;
    sum = noSums();
    sums.set(kind, sum);
  }
  add(record, sum);
}

function add(record: RequestLogRecord, sum: Sums): void {
  sum.requests++;
  sum.overheadUs += record.overhead_us;
  sum.inputTokens += record.usage?.input_tokens ?? 0;
  sum.outputTokens += record.usage?.output_tokens ?? 0;
  sum.costNanoUsd += record.cost_nano_usd ?? 0;
  sum.durations.observe(record.duration_ms / 1_000);
  if (record.first_token_ms !== null) sum.firstTokens.observe(record.first_token_ms / 1_000);
}

const noSums = (): Sums => ({
  requests: 0,
  overheadUs: 0,
  inputTokens: 0,
  outputTokens: 0,
  costNanoUsd: 0,
  durations: new HistogramSums(),
  firstTokens: new HistogramSums(),
});

const labelNames = ['provider', 'endpoint', 'ending', 'status'] as const;
/** Each has a series per bucket, so how a request ended is left to its status. */
const histogramLabels = ['provider', 'endpoint', 'status'] as const;

function counter(name: string, help: string, value: (sum: Sums) => number): Counter {
  return new Counter({
    name,
    help,
    labelNames,
    registers: [register],
    collect() {
      this.reset();
      for (const [kind, sum] of sums) this.inc(labelsOf(kind), value(sum));
    },
  });
}

function histogram(name: string, help: string, of: (sum: Sums) => HistogramSums): void {
  const read = () => {
    const merged = new Map<string, HistogramSums>();
    for (const [kind, sum] of sums) {
      if (of(sum).count === 0) continue;
      const { provider, endpoint, status } = labelsOf(kind);
      const key = `${provider}|${endpoint}||${status}`;
      const known = merged.get(key) ?? new HistogramSums();
      known.add(of(sum));
      merged.set(key, known);
    }
    return [...merged].map(([key, each]) => {
      const { provider, endpoint, status } = labelsOf(key);
      return [{ provider, endpoint, status }, each] as const;
    });
  };
  registerHistogram({ name, help, labelNames: histogramLabels, read });
}

function labelsOf(kind: string): Record<(typeof labelNames)[number], string> {
  const [provider = '', endpoint = '', ending = '', status = ''] = kind.split('|');
  return { provider, endpoint, ending, status };
}

/** Registers the metrics of the data plane. Call once per process. */
export function registerExchangeMetrics(): void {
  counter('gatehouse_requests_total', 'Authenticated requests, by outcome.', (sum) => sum.requests);
  histogram(
    'gatehouse_request_duration_seconds',
    'Time from the arrival of a request to the end of its response.',
    (sum) => sum.durations,
  );
  histogram(
    'gatehouse_first_token_seconds',
    'Time from the arrival of a request to the first event of its stream.',
    (sum) => sum.firstTokens,
  );
  counter(
    'gatehouse_cost_dollars_total',
    'Cost of requests in US dollars, where a price is known.',
    (sum) => sum.costNanoUsd / 1e9,
  );
  counter(
    'gatehouse_overhead_seconds_total',
    'Time spent in the gateway itself, in seconds.',
    (sum) => sum.overheadUs / 1e6,
  );
  counter('gatehouse_input_tokens_total', 'Input tokens as reported by providers.', (sum) => sum.inputTokens);
  counter(
    'gatehouse_output_tokens_total',
    'Output tokens as reported by providers.',
    (sum) => sum.outputTokens,
  );
  registerNameMetrics();
  new Gauge({
    name: 'gatehouse_requests_running',
    help: 'Requests to providers that are running now.',
    registers: [register],
    collect() {
      this.set(running);
    },
  });
}
