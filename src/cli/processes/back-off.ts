const FIRST_MS = 100;
const LONGEST_MS = 5_000;
/** A process that ran this long started well: its next failure counts as the first. */
const HEALTHY_MS = 30_000;

/** The delay before an ended process is restarted: 100 ms, doubling to 5 s. */
export class BackOff {
  #failures = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  #startedAt = 0;

  started(): void {
    this.#startedAt = this.now();
  }

  /** Milliseconds to wait after the process ended. */
  next(): number {
    if (this.now() - this.#startedAt >= HEALTHY_MS) this.#failures = 0;
    return Math.min(FIRST_MS * 2 ** this.#failures++, LONGEST_MS);
  }
}
