import { setFlagsFromString } from 'node:v8';

/**
 * Options of a gateway process: semi-spaces of 8 MiB instead of 16. Young objects of a gateway die within a request, so a
 * scavenge copies as little with half of the room. https://nodejs.org/docs/latest-v20.x/api/cli.html#--max-semi-space-sizesize-in-megabytes
 */
export const GATEWAY_NODE_OPTIONS = ['--max-semi-space-size=8'] as const;

/**
 * - Marks when the old generation has grown by 40 percent since the last time. Of itself V8 lets a heap of this size double, and
 *   what streams leave behind when they end would stand in memory until then.
 * - One thread scavenges: a core has one gateway process, and its helper threads would wait for the same core.
 * - Every object begins young. A literal whose objects V8 saw survive, as at the start of a process, makes old ones from then on
 *   (https://wingolog.org/archives/2026/01/05/pre-tenuring-in-v8). The dead among them hold what they name until the next mark, here
 *   the record of each request: a process for which the first collections fell out so had the rest of its life a third more
 *   processor time a request and three times the p99.
 * - Nothing is collected because there is nothing to do. V8 reduces a heap that rests for seconds
 *   (https://blog.chromium.org/2015/12/smarter-garbage-collection-for-smoother.html). The requests after such a rest took a third more
 *   processor time, presumably because shapes that only requests have were gone, and compiled code with them.
 *
 * Not in the options of the process, because a later V8 that no longer knew one of them would not start; here it says nothing.
 */
export const FLAGS = [
  '--heap-growing-percent=40',
  '--no-parallel-scavenge',
  '--no-allocation-site-pretenuring',
  '--no-memory-reducer',
] as const;

/** Keeps memory small and collections short. To be called before anything else is made. */
export function shapeHeap(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
