/** Runs work less often than requested. */
export interface Pacer {
  readonly ask: () => void;
  readonly stop: () => void;
}

const PAUSE_MS = 1_000;

/**
 * Runs the work one second after `ask`, however often that is called, and never concurrently. If `ask` is called while the work runs, it
 * runs once more, so the last change is never missed. Failures are ignored: the next `ask` tries again.
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
