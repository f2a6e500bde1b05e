import { Counter, Gauge, register } from 'prom-client';
import type { RequestLogRecord } from '../../request-log/record.js';

/** Sums of one kind of exchange. Plain numbers, so that requests do not pay for a metrics library. */
interface Sums {
  requests: number;
  overheadUs: number;
  inputTokens: number;
  outputTokens: number;
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
  const kind = `${record.provider ?? ''}|${record.endpoint ?? 'pass-through'}|${record.ending}|${statusClass}`;
  let sum = sums.get(kind);
  if (!sum) {
    if (sums.size >= KINDS_MAX) return;
    sum = { requests: 0, overheadUs: 0, inputTokens: 0, outputTokens: 0 };
    sums.set(kind, sum);
  }
  sum.requests++;
  sum.overheadUs += record.overhead_us;
  sum.inputTokens += record.usage?.input_tokens ?? 0;
  sum.outputTokens += record.usage?.output_tokens ?? 0;
}

const labelNames = ['provider', 'endpoint', 'ending', 'status'] as const;

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

function labelsOf(kind: string): Record<(typeof labelNames)[number], string> {
  const [provider = '', endpoint = '', ending = '', status = ''] = kind.split('|');
  return { provider, endpoint, ending, status };
}

/** Registers the metrics of the data plane. Call once per process. */
export function registerExchangeMetrics(): void {
  counter('gatehouse_requests_total', 'Authenticated requests, by outcome.', (sum) => sum.requests);
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
  new Gauge({
    name: 'gatehouse_requests_running',
    help: 'Requests to providers that are running now.',
    registers: [register],
    collect() {
      this.set(running);
    },
  });
}
