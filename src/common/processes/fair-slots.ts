import { NoSlotError, type Release } from './slots.js';

/** Who waits for a slot. */
export interface SlotWaiter {
  /** Waiters of one origin take turns with those of other origins. */
  readonly origin: string;
  /** Whether the waiter has proved something already. Such waiters go first. */
  readonly isTrusted: boolean;
}

type Enter = (release: Release) => void;

/** Waiters by origin: each origin has its own line, and the lines take turns. */
class Lines {
  private readonly lines = new Map<string, Set<Enter>>();

  lengthOf(origin: string): number {
    return this.lines.get(origin)?.size ?? 0;
  }

  add(origin: string, enter: Enter): void {
    const line = this.lines.get(origin) ?? new Set();
    this.lines.set(origin, line.add(enter));
  }

  remove(origin: string, enter: Enter): void {
    const line = this.lines.get(origin);
    line?.delete(enter);
    if (line?.size === 0) this.lines.delete(origin);
  }

  /** The first waiter of the origin whose turn it is. The origin then goes to the end. */
  next(): Enter | undefined {
    const [turn] = this.lines;
    if (!turn) return undefined;
    const [origin, line] = turn;
    const [enter] = line;
    this.lines.delete(origin);
    if (enter) line.delete(enter);
    if (line.size > 0) this.lines.set(origin, line);
    return enter;
  }
}

/**
 * A semaphore that no single origin can occupy: origins take turns, and each has a limited line. A flood from one address delays others by
 * one turn at most.
 */
export class FairSlots {
  private readonly trusted = new Lines();
  private readonly others = new Lines();

  constructor(
    private free: number,
    private readonly longestLine: number,
  ) {}

  /** Rejects with {@link NoSlotError} when the line of the origin is full, or no slot became free within `patienceMs`. */
  take({ origin, isTrusted }: SlotWaiter, patienceMs: number): Promise<Release> {
    if (this.free > 0) {
      this.free--;
      return Promise.resolve(this.release());
    }
    const lines = isTrusted ? this.trusted : this.others;
    if (lines.lengthOf(origin) >= this.longestLine)
      return Promise.reject(new NoSlotError('The line of this origin is full.'));
    return new Promise((resolve, reject) => {
      const enter: Enter = (release) => {
        clearTimeout(timer);
        resolve(release);
      };
      const timer = setTimeout(() => {
        lines.remove(origin, enter);
        reject(new NoSlotError('No slot became free in time.'));
      }, patienceMs);
      lines.add(origin, enter);
    });
  }

  private release(): Release {
    let isHeld = true;
    return () => {
      if (isHeld) this.handOver();
      isHeld = false;
    };
  }

  private handOver(): void {
    const enter = this.trusted.next() ?? this.others.next();
    if (enter) enter(this.release());
    else this.free++;
  }
}
