import type { WindowReturn } from './store.js';

/** What was leased of a window must be used while it counts there: within this share of the window. */
export const SLICES_PER_WINDOW = 10;

/** Units that were counted in one step of a window. The object stays the same while its units are in use, so that they can come back to it. */
export interface WindowSlice {
  readonly step: number;
  /** By the clock of the process (`performance.now`). */
  readonly grantedAt: number;
  /** Units that are not in use. */
  amount: number;
}

/**
 * The unused part of what a process has leased of one window, the oldest first.
 *
 * Each unit goes back to the step in which it was counted. Taken off another step, it would free what others used: the step of
 * a long stream's reservation may have left the window long ago.
 */
export class WindowSlices {
  private slices: WindowSlice[] = [];
  private due = new Map<number, number>();

  /** Where the next unit comes from. */
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

  /** Units of `slice` were not needed after all. */
  restore(slice: WindowSlice, amount: number): void {
    if (slice.amount === 0) this.slices.unshift(slice);
    slice.amount += amount;
  }

  /** The oldest units are to go back to the store. */
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

  /** The units are to go back that would be used after they have left the window. Answers how many these are. */
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

  /** What is to go back; from now on it is on its way. */
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
