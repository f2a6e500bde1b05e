import { Counter, register } from 'prom-client';

/** Plain numbers, because a request must not pay for a metrics library. */
export const limitCounts = { failedOpen: 0, refused: 0 };

/** Registers the metrics of limits. Call once per process. */
export function registerLimitMetrics(): void {
  counter(
    'gatehouse_limits_failed_open_total',
    'Times that a rate limit let requests pass because its store was away.',
    () => limitCounts.failedOpen,
  );
  counter('gatehouse_limits_refused_total', 'Requests that a limit refused.', () => limitCounts.refused);
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
