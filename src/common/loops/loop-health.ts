import { Counter, Gauge } from 'prom-client';
import type { StalledLoop } from '../processes/ipc.js';

const loops = new Set<LoopHealth>();

const failures = new Counter({
  name: 'gatehouse_loop_failures_total',
  help: 'Rounds of a background loop that failed or were abandoned.',
  labelNames: ['loop'],
});
new Gauge({
  name: 'gatehouse_loop_last_success_age_seconds',
  help: 'Time since the last success of a background loop; the highest of all processes.',
  labelNames: ['loop'],
  aggregator: 'max',
  collect() {
    this.reset();
    for (const [loop, ms] of agesByName()) this.set({ loop }, ms / 1000);
  },
});

/**
 * The health of one background loop of this process. The loop reports each success and each failure; the age of the last success is
 * computed when it is read, so a loop that has ended shows as stalled and not as healthy.
 */
export class LoopHealth {
  private succeededAt = performance.now();

  constructor(
    readonly name: string,
    /** Without a success for this many milliseconds, the loop counts as stalled. */
    readonly boundMs: number,
    /** Work is under way that reports no success until its end. */
    private readonly isBusy: () => boolean = () => false,
  ) {}

  get ageMs(): number {
    return this.isBusy() ? 0 : performance.now() - this.succeededAt;
  }

  succeeded(): void {
    this.succeededAt = performance.now();
  }

  failed(): void {
    failures.inc({ loop: this.name });
  }

  /** Adds the loop to metrics and readiness. */
  watch(): this {
    this.succeeded();
    failures.inc({ loop: this.name }, 0);
    loops.add(this);
    return this;
  }

  /** The loop was stopped on purpose. */
  unwatch(): void {
    loops.delete(this);
  }
}

/** The stalled loops of this process. */
export function stalledLoops(): StalledLoop[] {
  return [...loops]
    .filter(({ ageMs, boundMs }) => ageMs > boundMs)
    .map(({ name, ageMs }) => ({ loop: name, seconds: Math.round(ageMs / 1000) }));
}

function agesByName(): ReadonlyMap<string, number> {
  const ages = new Map<string, number>();
  for (const { name, ageMs } of loops) ages.set(name, Math.max(ageMs, ages.get(name) ?? 0));
  return ages;
}
