import type { Logger } from './logger.js';

const SILENCE_MS = 30_000;

/**
 * Warns about a failure at most once in 30 seconds per message. A store that is unavailable fails at every attempt, and a line for each
 * would flood the log.
 */
export function reportSparsely(log: Pick<Logger, 'warn'>, now: () => number = Date.now) {
  const lastAt = new Map<string, number>();
  return (message: string, error: unknown): void => {
    const at = now();
    if (at - (lastAt.get(message) ?? -Infinity) < SILENCE_MS) return;
    lastAt.set(message, at);
    log.warn({ err: error }, message);
  };
}
