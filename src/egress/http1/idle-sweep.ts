import { Roster, type RosterMember } from '../../common/processes/roster.js';

/** How often idle connections are checked. One is closed by this much before or after its time. */
export const SWEEP_MS = 1_000;

/** A pool that may have idle connections. */
export interface SweptPool extends RosterMember {
  /** Closes expired connections. Returns whether any are left to check. */
  sweep(now: number): boolean;
}

const swept = new Roster<SweptPool>();
let timer: NodeJS.Timeout | undefined;

/** One timer checks the idle connections of all pools, so that no timer is set or cleared per request. */
export function sweepLater(pool: SweptPool): void {
  if (pool.place >= 0) return;
  swept.add(pool);
  timer ??= setInterval(sweepAll, SWEEP_MS).unref();
}

export function sweepNoMore(pool: SweptPool): void {
  swept.delete(pool);
  if (swept.size > 0 || !timer) return;
  clearInterval(timer);
  timer = undefined;
}

function sweepAll(): void {
  const now = performance.now();
  for (const pool of swept.all()) if (!pool.sweep(now)) sweepNoMore(pool);
}
