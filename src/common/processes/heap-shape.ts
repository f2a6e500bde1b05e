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
 *
 * Not in the options of the process, because a later V8 that no longer knew one of them would not start; here it says nothing.
 */
export const FLAGS = ['--heap-growing-percent=40', '--no-parallel-scavenge'] as const;

/** Keeps memory small and collections short. To be called before anything else is made. */
export function shapeHeap(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
