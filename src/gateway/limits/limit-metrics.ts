import { Counter, Gauge, register } from 'prom-client';

/** Plain numbers, so that requests do not pay for a metrics library. */
export const limitCounts = { failedOpen: 0, refused: 0, faults: 0, storesUnavailable: 0 };

/** Registers the metrics of limits. Call once per process. */
export function registerLimitMetrics(): void {
  counter(
    'gatehouse_limits_failed_open_total',
    'Requests that passed without one of their rate limits, because its store was unavailable. Each retry and fallback counts again.',
    () => limitCounts.failedOpen,
  );
  counter('gatehouse_limits_refused_total', 'Requests that a limit refused.', () => limitCounts.refused);
  counter(
    'gatehouse_limits_single_faults_total',
    'Failures of single counters in the limit store, for example because a counter was corrupt.',
    () => limitCounts.faults,
  );
  new Gauge({
    name: 'gatehouse_limits_store_unavailable',
    help: 'Gateway processes times limit stores that do not respond. 0 when all limits apply.',
    registers: [register],
    collect() {
      this.set(limitCounts.storesUnavailable);
    },
  });
}

function counter(name: string, help: string, value: () => number): void {
  new Counter({
    name,
    help,
    registers: [register],
    collect() {
      this.reset();
      this.inc(value());
    },
  });
}
