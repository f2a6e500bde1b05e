/** Releases a slot. Repeated calls have no effect. */
export type Release = () => void;

/** No slot became free in time, or too many of its origin wait. */
export class NoSlotError extends Error {}

/** Who waits for a slot. */
export interface SlotWaiter {
  /** Waiters of one origin take turns with those of other origins. Without one, all wait in order of arrival. */
  readonly origin?: string;
  /** Whether the waiter has proved something already. Such waiters go first. */
  readonly isTrusted?: boolean;
  /** Whether the waiter has left, so that its turn is passed over. */
  readonly isGone?: () => boolean;
}

interface WaitingEntry {
  readonly enter: (release: Release) => void;
  readonly isGone: () => boolean;
}

const stays = (): boolean => false;

/** Waiters by origin: each origin has its own line, and the lines take turns. */
class Lines {
  private readonly lines = new Map<string, Set<WaitingEntry>>();

  lengthOf(origin: string): number {
    return this.lines.get(origin)?.size ?? 0;
  }

  add(origin: string, entry: WaitingEntry): void {
    const line = this.lines.get(origin) ?? new Set();
    this.lines.set(origin, line.add(entry));
  }

  remove(origin: string, entry: WaitingEntry): void {
    const line = this.lines.get(origin);
    line?.delete(entry);
    if (line?.size === 0) this.lines.delete(origin);
  }

  /** The first waiter who has not left, of the origin whose turn it is. The origin then goes to the end. Those who left time out. */
  next(): WaitingEntry | undefined {
    for (const [origin, line] of this.lines) {
      this.lines.delete(origin);
      const entry = firstOf(line);
      if (line.size > 0) this.lines.set(origin, line);
      if (entry) return entry;
    }
    return undefined;
  }
}

/** Removes the waiter, and those before who have left. */
function firstOf(line: Set<WaitingEntry>): WaitingEntry | undefined {
  for (const entry of line) {
    line.delete(entry);
    if (!entry.isGone()) return entry;
  }
  return undefined;
}

/**
 * A semaphore that no single origin can occupy: origins take turns, and each may have a limited line. A flood from one address delays others
 * by one turn at most.
 */
export class Semaphore {
  private readonly trusted = new Lines();
  private readonly others = new Lines();

  constructor(
    private free: number,
    /** The most waiters of one origin. */
    private readonly longestLine = Number.POSITIVE_INFINITY,
  ) {}

  /** Rejects with {@link NoSlotError} when the line of the origin is full, or no slot became free within `patienceMs`. */
  take(timeoutMs: number, { origin = '', isTrusted, isGone = stays }: SlotWaiter = {}): Promise<Release> {
    if (this.free > 0) {
      this.free--;
      return Promise.resolve(this.release());
    }
    const lines = isTrusted ? this.trusted : this.others;
    if (lines.lengthOf(origin) >= this.longestLine)
      return Promise.reject(new NoSlotError('The line of this origin is full.'));
    return new Promise((resolve, reject) => {
      const entry: WaitingEntry = {
        enter: (release) => {
          clearTimeout(timer);
          resolve(release);
        },
        isGone,
      };
      const timer = setTimeout(() => {
        lines.remove(origin, entry);
        reject(new NoSlotError('No slot became free in time.'));
      }, timeoutMs);
      lines.add(origin, entry);
    });
  }

  private release(): Release {
    let isHeld = true;
    return () => {
      if (isHeld) this.admitNext();
      isHeld = false;
    };
  }

  private admitNext(): void {
    const next = this.trusted.next() ?? this.others.next();
    if (next) next.enter(this.release());
    else this.free++;
  }
}
