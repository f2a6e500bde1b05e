import { LRUCache } from 'lru-cache';

const WINDOW_MS = 10 * 60_000;
const MOST_REMEMBERED = 10_000;

interface RefusalWindow {
  readonly startedAt: number;
  repetitions: number;
}

/** Limits the records of repeated refusals to one a window in each process, so that a flood cannot fill the audit log. */
export class RepeatedRefusals {
  private readonly windows = new LRUCache<string, RefusalWindow>({ max: MOST_REMEMBERED });

  /** Null for a refusal that must not be recorded; otherwise how many were left out since the record before. */
  count(subject: string, now: number): number | null {
    const window = this.windows.get(subject);
    if (window && now - window.startedAt < WINDOW_MS) {
      window.repetitions += 1;
      return null;
    }
    this.windows.set(subject, { startedAt: now, repetitions: 0 });
    return window?.repetitions ?? 0;
  }
}
