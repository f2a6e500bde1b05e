import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Worker } from 'bullmq';
import { LoopHealth } from '../../common/loops/loop-health.js';

const LONGEST_CLOSING_MS = 5_000;
const PAUSE_AFTER_FAILURE_MS = 1_000;
/** A worker that waits for a job asks for it again every few seconds. */
const STALLED_AFTER_MS = 60_000;

/**
 * A worker that only logs when its queue is unavailable.
 *
 * It closes in bounded time: BullMQ's own waits for a connection that may never come, and a process that cannot end by itself is
 * killed. A job that is cut off is delivered again to another worker. And it rests before it asks again for a job that it could
 * not get: BullMQ's own does so when a connection is refused, and after every other failure asks again at once, indefinitely.
 *
 * Its loop counts as healthy while the queue answers, with or without a job, and while it works on jobs and so has no reason to ask.
 */
export class BoundedWorker extends Worker {
  #closed: Promise<void> | undefined;
  #jobs = 0;
  // BullMQ's constructor starts the loop, which waits at least one turn before it asks for the first job.
  readonly #health = new LoopHealth(`queue-${this.name}`, STALLED_AFTER_MS, () => this.#jobs > 0).watch();

  protected override async moveToActive(token: string, name?: string): Promise<Job> {
    try {
      const job = await super.moveToActive(token, name);
      this.#health.succeeded();
      return job;
    } catch (error) {
      this.#health.failed();
      await sleep(PAUSE_AFTER_FAILURE_MS, undefined, { ref: false });
      throw error;
    }
  }

  protected override async callProcessJob(job: Job, token: string, signal?: AbortSignal): Promise<unknown> {
    this.#jobs += 1;
    try {
      return await super.callProcessJob(job, token, signal);
    } finally {
      this.#jobs -= 1;
    }
  }

  override close(force?: boolean): Promise<void> {
    return (this.#closed ??= this.#closeInTime(force));
  }

  async #closeInTime(force?: boolean): Promise<void> {
    this.#health.unwatch();
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, LONGEST_CLOSING_MS)));
    await Promise.race([super.close(force), enough]);
    clearTimeout(timer);
  }
}
