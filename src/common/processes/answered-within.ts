/**
 * Waits for an answer from another process. Rejects with an error of that message where none came within `ms`; an answer that comes
 * later is dropped.
 *
 * A process that had no turn for so long looks at what came meanwhile before it calls the other one silent: after the timers of a turn
 * the event loop reads its sockets, and then runs what `setImmediate` was given
 * (https://nodejs.org/en/learn/asynchronous-work/event-loop-timers-and-nexttick).
 */
export async function answeredWithin<T>(work: Promise<T>, ms: number, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const isLate = (): void => reject(new Error(message));
    timer = setTimeout(() => setImmediate(isLate), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
