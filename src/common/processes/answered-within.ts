/**
 * Waits for a response from another process. Rejects with an error of that message if none arrives within `ms`; a later response is
 * ignored.
 *
 * After a timeout, messages that arrived while this process itself was blocked are processed before the other one counts as silent: after
 * the timers of a turn the event loop reads its sockets, and then runs `setImmediate` callbacks
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
