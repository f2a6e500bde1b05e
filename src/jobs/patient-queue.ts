import type { JobsOptions, Queue } from 'bullmq';
import { createLogger } from '../common/observability/logger.js';
import { reportSparsely } from '../common/observability/report-sparsely.js';

const PATIENCE_MS = 2_000;
/** Jobs that are being added at most. While Redis is unavailable each waits for it, and they must not pile up. */
const MOST_UNDER_WAY = 100;

/** Adds jobs to a queue that may be unavailable. What is not taken must be found again by a sweep. */
export class PatientQueue<T> {
  #underWay = 0;

  constructor(
    private readonly queue: Queue,
    name: string,
  ) {
    const report = reportSparsely(createLogger(name));
    // BullMQ reports lost connections here, and an error that nobody listens to ends the process.
    queue.on('error', (error) => report('the queue is unavailable', error));
  }

  /** Settles within two seconds; rejects when the queue did not take the job. A job whose id is known is not added again. */
  async add({ data, options }: { readonly data: T; readonly options: JobsOptions }): Promise<void> {
    if (this.#underWay >= MOST_UNDER_WAY) throw new Error('Too many announcements wait for the queue.');
    this.#underWay += 1;
    const added = this.queue.add(this.queue.name, data, options).finally(() => (this.#underWay -= 1));
    // It may fail after nobody waits for it any more.
    added.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error('The queue did not take the announcement in time.')),
        PATIENCE_MS,
      );
    });
    await Promise.race([added, tooLate]).finally(() => clearTimeout(timer));
  }
}
