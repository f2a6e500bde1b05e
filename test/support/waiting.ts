export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * How long a test waits for what has to happen, where nothing was promised about when. Nobody waits so long while all is well,
 * so a busy machine is given plenty.
 */
export const PATIENCE_MS = 30_000;

/** Where nothing was promised, so many tries are made at least: a machine that stood still for half a minute has done nothing in it. */
const FEWEST_TRIES = 20;

interface Patience {
  /** How long to go on trying, in milliseconds. Named where the time is what is promised; patience otherwise. */
  readonly withinMs?: number;
  /** Pause between two tries, in milliseconds. */
  readonly everyMs?: number;
  /** What is waited for, for the error. */
  readonly what: string;
}

/**
 * Tries until something other than null, undefined or false comes back. A thrown error counts as "not yet". It is in vain only
 * when a try failed that began after the time was over: a try that began before says nothing about what was true then.
 */
export async function eventually<T>(
  attempt: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { withinMs, everyMs = 50, what }: Patience,
): Promise<T> {
  const [patienceMs, fewest] = withinMs === undefined ? [PATIENCE_MS, FEWEST_TRIES] : [withinMs, 1];
  const deadline = Date.now() + patienceMs;
  let last: unknown;
  for (let tries = 1; ; tries++) {
    const isLast = Date.now() >= deadline && tries >= fewest;
    try {
      const found = await attempt();
      if (found !== null && found !== undefined && found !== false) return found;
    } catch (error) {
      last = error;
    }
    if (isLast)
      throw new Error(
        `Waited ${patienceMs} ms in vain for ${what}.${last instanceof Error ? ` Last: ${last.message.slice(0, 300)}` : ''}`,
        last === undefined ? {} : { cause: last },
      );
    await sleep(everyMs);
  }
}

/** Runs `work` for every item, at most `width` at a time, and answers in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const queue = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  return results;
}
