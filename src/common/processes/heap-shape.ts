import { setFlagsFromString } from 'node:v8';

/**
 * Options of a gateway process: semi-spaces of 8 MiB instead of 16. Young objects of a gateway die within a request, so a scavenge copies
 * no more with half of the space. https://nodejs.org/docs/latest-v20.x/api/cli.html#--max-semi-space-sizesize-in-megabytes
 */
export const GATEWAY_NODE_OPTIONS = ['--max-semi-space-size=8'] as const;

/**
 * - Mark once the old generation has grown by 40 percent. By default V8 lets a heap of this size double, and the garbage of ended streams
 * would stay in memory until then.
 * - Scavenge with one thread: a core has one gateway process, and helper threads would compete for the same core.
 * - Allocate every object young. By default a literal whose objects survived, as during startup, allocates old ones from then on
 * (https://wingolog.org/archives/2026/01/05/pre-tenuring-in-v8). Dead old objects keep what they reference until the next mark, here the
 * record of each request: a process affected by this used a third more processor time per request for the rest of its life, with three
 * times the p99.
 * - Do not collect when idle. V8 reduces a heap that is idle for seconds
 * (https://blog.chromium.org/2015/12/smarter-garbage-collection-for-smoother.html). The requests after such a pause took a third more
 * processor time, presumably because hidden classes of request objects were gone, and compiled code with them.
 *
 * Set at run time instead of as process options, because a later V8 without one of them would refuse to start; here unknown flags are
 * ignored.
 */
export const FLAGS = [
  '--heap-growing-percent=40',
  '--no-parallel-scavenge',
  '--no-allocation-site-pretenuring',
  '--no-memory-reducer',
] as const;

/** Keeps memory small and collections short. Call it before anything else is created. */
export function setHeapLimits(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
