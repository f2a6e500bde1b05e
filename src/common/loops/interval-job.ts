import { createLogger, type Logger } from '../observability/logger.js';
import { reportSparsely } from '../observability/report-sparsely.js';
import { retryPauseMs } from './retry-pause.js';
import { LoopHealth } from './loop-health.js';

export interface IntervalJobOptions {
  /** Its label in metrics and readiness, in kebab case. */
  readonly name: string;
  /** From the beginning of a round to that of the next. A round that takes longer is followed by the next at once. */
  readonly everyMs: number;
  readonly logger: Logger;
  /** What the log says when a round fails. */
  readonly failure: string;
  /**
   * A round that makes no progress for so long is abandoned, and a job without a success for so long counts as
   * stalled. Default: five minutes, or three intervals where these are longer.
   */
  readonly boundMs?: number;
}

/** What a round knows of itself. */
export interface Round {
  /** The job stops, or the round took too long and was abandoned: leave at the next step. */
  readonly isOver: boolean;
  /** A step of a long round succeeded: the round is not stuck. */
  progressed(): void;
}

/** `more`: succeeded, and there is more to do right now. */
type Outcome = 'done' | 'more' | 'failed';

const BOUND_MS = 5 * 60_000;
const RETRY = { firstMs: 1_000, maxMs: 60_000 };
const SHORTEST_MAX_MS = 5_000;
const STOP_WITHIN_MS = 10_000;

/**
 * Work that is repeated for as long as the process lives, one round at a time. Whatever a round does, the next one
 * comes: failures are logged and counted, and followed by a doubling pause; a round that hangs is abandoned. The job
 * reports to `LoopHealth`, so one that does not succeed is visible. Should the loop itself break, the process ends,
 * and its supervisor starts another.
 *
 * A timer and no schedule in the queue, because that would be gone with the queue. Several processes may run the same
 * job at once, and an abandoned round may overlap with the next: the work has to allow for both.
 */
export class IntervalJob {
  private readonly health: LoopHealth;
  private readonly report: (message: string, error: unknown) => void;
  private current: RunningRound | null = null;
  private running: Promise<Outcome> | null = null;
  private failures = 0;
  private isStarted = false;
  private isStopped = false;
  private wake: () => void = () => undefined;

  /** `work` resolves with true when there is more to do at once. */
  constructor(
    private readonly work: (round: Round) => Promise<unknown>,
    private readonly options: IntervalJobOptions,
  ) {
    const { name, everyMs, boundMs = Math.max(BOUND_MS, 3 * everyMs), logger } = options;
    this.health = new LoopHealth(name, boundMs);
    this.report = reportSparsely(logger);
  }

  /** The first round begins after one interval; call `round` as well to have it now. */
  start(): void {
    if (this.isStarted || this.isStopped) return;
    this.isStarted = true;
    this.health.watch();
    this.repeat().catch(endProcess);
  }

  /** Runs one round now, or joins the one that runs. Never rejects. */
  async round(): Promise<void> {
    await this.runOnce();
  }

  /** Resolves when the round that runs has ended, after ten seconds at the latest. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.health.unwatch();
    this.wake();
    this.current?.leaveWithin(STOP_WITHIN_MS);
    await this.running;
  }

  private async repeat(): Promise<void> {
    let pauseMs = this.options.everyMs;
    for (;;) {
      if (pauseMs > 0) await this.pause(pauseMs);
      if (this.isStopped) return;
      const began = performance.now();
      const outcome = await this.runOnce();
      pauseMs = this.pauseAfter(outcome, performance.now() - began);
      // Without a pause nothing else of this process would get its turn.
      if (pauseMs <= 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** After a failure an hourly job tries again within a minute; one that runs more often, within its interval or 5 s. */
  private pauseAfter(outcome: Outcome, tookMs: number): number {
    const { everyMs } = this.options;
    if (outcome === 'more') return 0;
    if (outcome === 'done') return everyMs - tookMs;
    const maxMs = Math.min(Math.max(everyMs, SHORTEST_MAX_MS), RETRY.maxMs);
    return retryPauseMs(this.failures, { ...RETRY, maxMs });
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private runOnce(): Promise<Outcome> {
    this.running ??= this.tryOnce().finally(() => (this.running = null));
    return this.running;
  }

  private async tryOnce(): Promise<Outcome> {
    const { failure, logger, name } = this.options;
    const round = new RunningRound(this.health);
    this.current = round;
    try {
      const isMore = await Promise.race([this.begin(round), round.abandoned]);
      this.health.succeeded();
      if (this.failures > 0) logger.info({ loop: name }, 'A background loop succeeds again.');
      this.failures = 0;
      return isMore === true ? 'more' : 'done';
    } catch (error) {
      this.failures += 1;
      this.health.failed();
      this.report(failure, error);
      return 'failed';
    } finally {
      round.end();
    }
  }

  /** Work that throws before it has made its promise fails like any other. */
  private async begin(round: Round): Promise<unknown> {
    return this.work(round);
  }
}

/** A round, with the timer that gives it up. */
class RunningRound implements Round {
  private timer: NodeJS.Timeout;
  private giveUp: (error: Error) => void = () => undefined;
  /** Rejects when the round made no progress for too long. */
  readonly abandoned = new Promise<never>((_, reject) => (this.giveUp = reject));
  isOver = false;

  constructor(private readonly health: LoopHealth) {
    const { boundMs } = health;
    this.abandoned.catch(() => undefined);
    this.timer = this.abandonIn(boundMs);
  }

  private abandonIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.isOver = true;
      this.giveUp(new Error(`A round made no progress for ${ms / 1000} s and was abandoned.`));
    }, ms).unref();
  }

  progressed(): void {
    if (this.isOver) return;
    this.timer.refresh();
    this.health.succeeded();
  }

  leaveWithin(ms: number): void {
    this.end();
    this.timer = this.abandonIn(ms);
  }

  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }
}

/** Logging the failure may be what failed. */
function endProcess(error: unknown): void {
  try {
    createLogger('loops').fatal({ err: error }, 'A background loop broke; the process ends.');
  } finally {
    process.exit(1);
  }
}
