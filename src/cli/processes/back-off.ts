import { retryPauseMs } from '../../common/loops/retry-pause.js';

const PAUSE = { firstMs: 100, maxMs: 5_000 };
/** A process that ran this long started well: its next failure counts as the first. */
const HEALTHY_MS = 30_000;

/** The delay before an ended process is restarted: 100 ms, doubling to 5 s. */
export class BackOff {
  private failures = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  private startedAt = 0;

  started(): void {
    this.startedAt = this.now();
  }

  /** Milliseconds to wait after the process ended. */
  next(): number {
    if (this.now() - this.startedAt >= HEALTHY_MS) this.failures = 0;
    this.failures += 1;
    return retryPauseMs(this.failures, PAUSE);
  }
}
