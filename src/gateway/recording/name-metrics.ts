import { Counter, register } from 'prom-client';
import type { RequestLogRecord } from '../../request-log/record.js';

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
  readonly #sums = new Map<string, NamedSums>();

  constructor(private readonly namesMax: number = NAMES_MAX) {}

  /** `group`: what the name is counted under, such as its provider. */
  add(group: string, name: string, record: CountedRecord, statusClass: string): void {
    const sums =
      this.#sumsOf(group + SEPARATOR + name, record.status < 400) ??
      this.#sumsOf(group + SEPARATOR + OTHER, true, Infinity);
    if (!sums) return;
    sums.requests[statusClass] = (sums.requests[statusClass] ?? 0) + 1;
    sums.costNanoUsd += record.cost_nano_usd ?? 0;
  }

  all(): Iterable<readonly [string, NamedSums]> {
    return this.#sums;
  }

  #sumsOf(labels: string, mayBegin: boolean, max = this.namesMax): NamedSums | undefined {
    const known = this.#sums.get(labels);
    if (known || !mayBegin || this.#sums.size >= max) return known;
    const sums = { requests: {}, costNanoUsd: 0 };
    this.#sums.set(labels, sums);
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
