import { Worker } from 'bullmq';

const LONGEST_CLOSING_MS = 5_000;

/**
 * A worker that closes in bounded time. BullMQ's own waits for a connection that may never come, and a process
 * that cannot end by itself is killed. A job that is cut off is delivered again to another worker.
 */
export class BoundedWorker extends Worker {
  #closed: Promise<void> | undefined;

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
