import { Roster, type RosterMember } from '../../common/processes/roster.js';

/** How often idle connections are looked at. One is closed by this much before or after its time. */
export const SWEEP_MS = 1_000;

/** Something that may have idle connections. */
export interface SweptPool extends RosterMember {
  /** Closes those whose time is over. Answers whether any are left to look at. */
  sweep(now: number): boolean;
}

const swept = new Roster<SweptPool>();
let timer: NodeJS.Timeout | undefined;

/** One timer looks at the idle connections of all pools, so that nothing is armed or cleared per request. */
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
