import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Worker } from 'bullmq';
import { LoopHealth } from '../../common/loops/loop-health.js';

const LONGEST_CLOSING_MS = 5_000;
const PAUSE_AFTER_FAILURE_MS = 1_000;
/** An idle worker polls for a job every few seconds. */
const STALLED_AFTER_MS = 60_000;

/**
 * A worker that only logs when its queue is unavailable.
 *
 * It closes in bounded time: BullMQ's own waits for a connection that may never be made, and a process that does not end is killed. An
 * interrupted job is delivered to another worker. It also pauses after any failed poll: BullMQ's own pauses only when a connection is
 * refused, and after other failures polls again at once, indefinitely.
 *
 * Its loop counts as healthy while the queue responds, with or without a job, and while it works on jobs and so does not poll.
 */
export class BoundedWorker extends Worker {
  private timedClose: Promise<void> | undefined;
  private jobs = 0;
  // BullMQ's constructor starts the loop, which waits at least one turn before it polls for the first job.
  private readonly health = new LoopHealth(
    `queue-${this.name}`,
    STALLED_AFTER_MS,
    () => this.jobs > 0,
  ).watch();

  protected override async moveToActive(token: string, name?: string): Promise<Job> {
    try {
      const job = await super.moveToActive(token, name);
      this.health.succeeded();
      return job;
    } catch (error) {
      this.health.failed();
      await sleep(PAUSE_AFTER_FAILURE_MS, undefined, { ref: false });
      throw error;
    }
  }

  protected override async callProcessJob(job: Job, token: string, signal?: AbortSignal): Promise<unknown> {
    this.jobs += 1;
    try {
      return await super.callProcessJob(job, token, signal);
    } finally {
      this.jobs -= 1;
    }
  }

  override close(force?: boolean): Promise<void> {
    return (this.timedClose ??= this.closeInTime(force));
  }

  private async closeInTime(force?: boolean): Promise<void> {
    this.health.unwatch();
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, LONGEST_CLOSING_MS)));
    await Promise.race([super.close(force), enough]);
    clearTimeout(timer);
  }
}
