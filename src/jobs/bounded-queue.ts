import type { JobsOptions, Queue } from 'bullmq';
import { createLogger } from '../common/observability/logger.js';
import { reportSparsely } from '../common/observability/report-sparsely.js';

const ENQUEUE_TIMEOUT_MS = 2_000;
/** Maximum number of jobs being added at once. While Redis is unavailable each of them waits, and they must not pile up. */
const MOST_UNDER_WAY = 100;

/** Adds jobs to a queue that may be unavailable. A sweep must find the jobs that were not added. */
export class BoundedQueue<T> {
  private underWay = 0;

  constructor(
    private readonly queue: Queue,
    name: string,
  ) {
    const report = reportSparsely(createLogger(name));
    // BullMQ emits lost connections here, and an error event without a listener ends the process.
    queue.on('error', (error) => report('The queue is unavailable.', error));
  }

  /** Settles within two seconds; rejects when the queue did not accept the job. A job with a known id is not added again. */
  async add({ data, options }: { readonly data: T; readonly options: JobsOptions }): Promise<void> {
    if (this.underWay >= MOST_UNDER_WAY) throw new Error('Too many announcements wait for the queue.');
    this.underWay += 1;
    const added = this.queue.add(this.queue.name, data, options).finally(() => (this.underWay -= 1));
    // It may fail after the caller stopped waiting.
    added.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error('The queue did not take the announcement in time.')),
        ENQUEUE_TIMEOUT_MS,
      );
    });
    await Promise.race([added, tooLate]).finally(() => clearTimeout(timer));
  }
}
