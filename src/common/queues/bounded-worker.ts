import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Worker } from 'bullmq';

const LONGEST_CLOSING_MS = 5_000;
const PAUSE_AFTER_FAILURE_MS = 1_000;

/**
 * A worker that bothers nobody when its queue is away.
 *
 * It closes in bounded time: BullMQ's own waits for a connection that may never come, and a process that cannot end by itself is
 * killed. A job that is cut off is delivered again to another worker. And it rests before it asks again for a job that it could
 * not get: BullMQ's own does so when a connection is refused, and after every other failure asks again at once, for ever.
 */
export class BoundedWorker extends Worker {
  #closed: Promise<void> | undefined;

  protected override async moveToActive(token: string, name?: string): Promise<Job> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await sleep(PAUSE_AFTER_FAILURE_MS, undefined, { ref: false });
      throw error;
    }
  }

  override close(force?: boolean): Promise<void> {
    return (this.#closed ??= this.#closeInTime(force));
  }

  async #closeInTime(force?: boolean): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, LONGEST_CLOSING_MS)));
    await Promise.race([super.close(force), enough]);
    clearTimeout(timer);
  }
}
