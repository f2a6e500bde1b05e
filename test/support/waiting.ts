export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Patience {
  /** How long to go on trying, in milliseconds. */
  readonly withinMs: number;
  /** Pause between two tries, in milliseconds. */
  readonly everyMs?: number;
  /** What is waited for, for the error. */
  readonly what: string;
}

/** Tries until something other than null, undefined or false comes back. A thrown error counts as "not yet". */
export async function eventually<T>(
  attempt: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  { withinMs, everyMs = 50, what }: Patience,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      const found = await attempt();
      if (found !== null && found !== undefined && found !== false) return found;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline)
      throw new Error(
        `Waited ${withinMs} ms in vain for ${what}.`,
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
