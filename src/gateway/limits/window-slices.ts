import type { WindowReturn } from './store.js';

/** Leases of a window must be used while they count there: within this share of the window. */
export const SLICES_PER_WINDOW = 10;

/** Units counted in one step of a window. The object stays the same while its units are in use, so that they can be restored to it. */
export interface WindowSlice {
  readonly step: number;
  /** On the monotonic clock (`performance.now`). */
  readonly grantedAt: number;
  /** Units that are not in use. */
  amount: number;
}

/**
 * The unused part of a process's leases of one window, oldest first.
 *
 * Each unit is returned to the step in which it was counted. Subtracted from another step, it would free other requests' use: the step of a
 * long stream's reservation may have left the window long ago.
 */
export class WindowSlices {
  private slices: WindowSlice[] = [];
  private due = new Map<number, number>();

  /** The slice of the next unit. */
  get oldest(): WindowSlice | null {
    return this.slices[0] ?? null;
  }

  add(step: number, amount: number, now: number): void {
    if (amount > 0) this.slices.push({ step, grantedAt: now, amount });
  }

  /** Uses the oldest units. */
  take(amount: number): void {
    let rest = amount;
    for (let first = this.slices[0]; first && rest > 0; first = this.slices[0]) {
      const part = Math.min(rest, first.amount);
      first.amount -= part;
      rest -= part;
      if (first.amount === 0) this.slices.shift();
    }
  }

  /** Restores unused units of `slice`. */
  restore(slice: WindowSlice, amount: number): void {
    if (slice.amount === 0) this.slices.unshift(slice);
    slice.amount += amount;
  }

  /** Marks the oldest units for return to the store. */
  release(amount: number): void {
    let rest = amount;
    for (const slice of this.slices) {
      const part = Math.min(rest, slice.amount);
      slice.amount -= part;
      rest -= part;
      this.isDue(slice.step, part);
    }
    this.slices = this.slices.filter((slice) => slice.amount > 0);
  }

  /** Marks units for return that would be used after they have left the window. Returns their number. */
  releaseStale(windowMs: number, now: number): number {
    const longest = windowMs / SLICES_PER_WINDOW;
    let released = 0;
    for (let first = this.slices[0]; first && now - first.grantedAt > longest; first = this.slices[0]) {
      released += first.amount;
      this.isDue(first.step, first.amount);
      first.amount = 0;
      this.slices.shift();
    }
    return released;
  }

  /** Takes the marked units for sending. */
  takeDue(): readonly WindowReturn[] {
    const due = [...this.due].map(([step, amount]) => ({ step, amount }));
    this.due.clear();
    return due;
  }

  get hasDue(): boolean {
    return this.due.size > 0;
  }

  private isDue(step: number, amount: number): void {
    if (amount > 0) this.due.set(step, (this.due.get(step) ?? 0) + amount);
  }
}
