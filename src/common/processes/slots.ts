/** Releases a slot. Repeated calls have no effect. */
export type Release = () => void;

interface WaitingEntry {
  readonly enter: (release: Release) => void;
  readonly isGone: () => boolean;
}

/** No slot became free in time. */
export class NoSlotError extends Error {}

/** A semaphore: grants a number of slots at once. Others wait in order of arrival; waiters that have left are skipped. */
export class Slots {
  private readonly waiting = new Set<WaitingEntry>();

  constructor(private free: number) {}

  /** Rejects with {@link NoSlotError} when no slot became free within `patienceMs`. */
  take(patienceMs: number, isGone: () => boolean): Promise<Release> {
    if (this.free > 0) {
      this.free--;
      return Promise.resolve(this.release());
    }
    return new Promise((resolve, reject) => {
      const waiting: WaitingEntry = {
        enter: (release) => {
          clearTimeout(timer);
          resolve(release);
        },
        isGone,
      };
      const timer = setTimeout(() => {
        this.waiting.delete(waiting);
        reject(new NoSlotError('No slot became free in time.'));
      }, patienceMs);
      this.waiting.add(waiting);
    });
  }

  private release(): Release {
    let isHeld = true;
    return () => {
      if (isHeld) this.handOver();
      isHeld = false;
    };
  }

  /** Waiters that have left are rejected by their timeout. */
  private handOver(): void {
    for (const waiting of this.waiting) {
      this.waiting.delete(waiting);
      if (waiting.isGone()) continue;
      waiting.enter(this.release());
      return;
    }
    this.free++;
  }
}
