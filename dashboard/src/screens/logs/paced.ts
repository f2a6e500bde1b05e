/** Work that is asked for more often than it is worth doing. */
export interface Pacer {
  readonly ask: () => void;
  readonly stop: () => void;
}

const PAUSE_MS = 1_000;

/**
 * Does the work a second after it is asked for, however often that is. It never runs twice at a time. Asked for while it runs, it runs once
 * more, so that the last change is never missed. A failure is up to the work: the next request for it starts it again.
 */
export function paced(work: () => Promise<void>): Pacer {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isRunning = false;
  let isAsked = false;
  let isStopped = false;

  const run = async (): Promise<void> => {
    timer = null;
    isRunning = true;
    isAsked = false;
    await work().catch(() => undefined);
    isRunning = false;
    if (isAsked) ask();
  };
  function ask(): void {
    if (isStopped) return;
    if (isRunning) isAsked = true;
    else timer ??= setTimeout(() => void run(), PAUSE_MS);
  }
  return {
    ask,
    stop: () => {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
