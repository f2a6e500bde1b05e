import type { Logger } from '../common/observability/logger.js';
import { reportSparsely } from '../common/observability/report-sparsely.js';

/**
 * Work that comes round on a timer: one round at a time, whose failures are reported and left to the next one. A plain
 * timer, because a schedule inside the queue would be gone with the queue; any number of processes may do it at once.
 */
export class InTurn {
  readonly #report: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(
    private readonly work: () => Promise<void>,
    { logger, failure }: { readonly logger: Logger; readonly failure: string },
  ) {
    const report = reportSparsely(logger);
    this.#report = (error) => report(failure, error);
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  start(everyMs: number): void {
    this.#timer = setInterval(() => void this.round(), everyMs);
    this.#timer.unref();
  }

  /** Never rejects; while a round runs, another call waits for that one. */
  async round(): Promise<void> {
    this.#running ??= this.work()
      .catch(this.#report)
      .finally(() => (this.#running = undefined));
    await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }
}
