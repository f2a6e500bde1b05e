/** Gives a slot back. More than once is as once. */
export type Release = () => void;

interface WaitingEntry {
  readonly enter: (release: Release) => void;
  readonly isGone: () => boolean;
}

/** No slot became free in time. */
export class NoSlotError extends Error {}

/** Lets so many in at once. The others wait in the order in which they came, and those who have left meanwhile are passed over. */
export class Slots {
  private readonly waiting = new Set<WaitingEntry>();

  constructor(private free: number) {}

  /** Rejects with {@link NoSlotError} when none became free within `patienceMs`. */
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

  /** Those who have left find out when their time is up: nobody waits for them. */
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
