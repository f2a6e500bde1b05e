import { Counter, Gauge, register } from 'prom-client';
import { HistogramSums, registerHistogram } from '../../common/observability/histogram-sums.js';
import type { RequestLogRecord } from '../../request-log/record.js';

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

/** Names with a series of their own, per process. Further ones are counted together. */
export const NAMES_MAX = 200;
const OTHER = 'other';
/** Between the parts of a key. The first part never contains one. */
const SEPARATOR = '\n';
/** Control characters and line separators, which readers of the exposition format may take for the end of a line. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** Requests by status class, and their cost. */
interface NamedSums {
  readonly requests: Record<string, number>;
  costNanoUsd: number;
}

/**
 * Sums by a name that clients or tenants choose. A name gets its own series with its first request that succeeded, so that made-up names
 * cannot use up the limit.
 */
export class SumsByName {
  private readonly sums = new Map<string, NamedSums>();

  constructor(private readonly namesMax: number = NAMES_MAX) {}

  /** `group`: what the name is counted under, such as its provider. */
  add(group: string, name: string, record: CountedRecord, statusClass: string): void {
    const sums =
      this.sumsOf(group + SEPARATOR + name, record.status < 400) ??
      this.sumsOf(group + SEPARATOR + OTHER, true, Infinity);
    if (!sums) return;
    sums.requests[statusClass] = (sums.requests[statusClass] ?? 0) + 1;
    sums.costNanoUsd += record.cost_nano_usd ?? 0;
  }

  all(): Iterable<readonly [string, NamedSums]> {
    return this.sums;
  }

  private sumsOf(labels: string, mayBegin: boolean, max = this.namesMax): NamedSums | undefined {
    const known = this.sums.get(labels);
    if (known || !mayBegin || this.sums.size >= max) return known;
    const sums = { requests: {}, costNanoUsd: 0 };
    this.sums.set(labels, sums);
    return sums;
  }
}

type CountedRecord = Pick<RequestLogRecord, 'status' | 'cost_nano_usd'>;

const models = new SumsByName();
const virtualKeys = new SumsByName();

export function countNames(record: RequestLogRecord, statusClass: string): void {
  const { model, provider, virtual_key, workspace_id } = record;
  if (model !== null) models.add(provider ?? '', model, record, statusClass);
  if (virtual_key !== null) virtualKeys.add(workspace_id ?? '', virtual_key, record, statusClass);
}

/** Registers the metrics by model and by virtual key. */
export function registerNameMetrics(): void {
  byName('model', models, ['provider', 'model']);
  byName('virtual_key', virtualKeys, ['workspace_id', 'virtual_key']);
}

function byName(subject: string, source: SumsByName, labelNames: readonly [string, string]): void {
  const labelsOf = (key: string): Record<string, string> => {
    const at = key.indexOf(SEPARATOR);
    const name = key.slice(at + 1).replace(UNPRINTABLE, '\uFFFD');
    return { [labelNames[0]]: key.slice(0, at), [labelNames[1]]: name };
  };
  const what = subject.replace('_', ' ');
  new Counter({
    name: `gatehouse_${subject}_requests_total`,
    help: `Requests by ${what} and status class. Beyond ${NAMES_MAX} names, and before its first success, a ${what} counts as "${OTHER}".`,
    labelNames: [...labelNames, 'status'],
    registers: [register],
    collect() {
      this.reset();
      for (const [key, { requests }] of source.all())
        for (const [status, count] of Object.entries(requests)) this.inc({ ...labelsOf(key), status }, count);
    },
  });
  new Counter({
    name: `gatehouse_${subject}_cost_dollars_total`,
    help: `Cost of requests in US dollars by ${what}, with the same bound.`,
    labelNames: [...labelNames],
    registers: [register],
    collect() {
      this.reset();
      for (const [key, { costNanoUsd }] of source.all()) this.inc(labelsOf(key), costNanoUsd / 1e9);
    },
  });
}
