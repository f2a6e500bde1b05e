import { createLogger, type Logger } from '../observability/logger.js';
import { reportSparsely } from '../observability/report-sparsely.js';
import { retryPauseMs } from './retry-pause.js';
import { LoopHealth } from './loop-health.js';

export interface IntervalJobOptions {
  /** Label in metrics and readiness, in kebab case. */
  readonly name: string;
  /** Interval between the starts of rounds. A round that takes longer is followed by the next at once. */
  readonly everyMs: number;
  readonly logger: Logger;
  /** The log message when a round fails. */
  readonly failure: string;
  /**
   * A round without progress for this long is abandoned, and a job without a success for this long counts as stalled. Default: five
   * minutes, or three intervals if longer.
   */
  readonly boundMs?: number;
}

/** The state of a round. */
export interface Round {
  /** The job is stopping, or the round took too long and was abandoned: return at the next step. */
  readonly hasEnded: boolean;
  /** Reports that a step of a long round succeeded: the round is not stuck. */
  progressed(): void;
}

/** `more`: succeeded, and there is more to do right now. */
type RunOutcome = 'done' | 'more' | 'failed';

const BOUND_MS = 5 * 60_000;
const RETRY = { firstMs: 1_000, maxMs: 60_000 };
const SHORTEST_MAX_MS = 5_000;
const STOP_WITHIN_MS = 10_000;

/**
 * Work that is repeated for the lifetime of the process, one round at a time. Rounds continue whatever happens: failures are logged and
 * counted, and followed by a doubling pause; a round that hangs is abandoned. The job reports to `LoopHealth`, so one that does not succeed
 * is visible. If the loop itself breaks, the process ends, and its supervisor starts another.
 *
 * A timer instead of a schedule in the queue, which could be lost with the queue. Several processes may run the same job at once, and an
 * abandoned round may overlap with the next: the work has to allow for both.
 */
export class IntervalJob {
  private readonly health: LoopHealth;
  private readonly report: (message: string, error: unknown) => void;
  private current: RunningRound | null = null;
  private running: Promise<RunOutcome> | null = null;
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

  /** The first round begins after one interval; call `round` as well to run one now. */
  start(): void {
    if (this.isStarted || this.isStopped) return;
    this.isStarted = true;
    this.health.watch();
    this.repeat().catch(endProcess);
  }

  /** Runs one round now, or joins the running one. Never rejects. */
  async round(): Promise<void> {
    await this.runOnce();
  }

  /** Resolves when the running round has ended, after ten seconds at the latest. */
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
      // Yields to the event loop, which would otherwise be starved.
      if (pauseMs <= 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** After a failure an hourly job retries within a minute; a more frequent one, within its interval or 5 s. */
  private pauseAfter(outcome: RunOutcome, tookMs: number): number {
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

  private runOnce(): Promise<RunOutcome> {
    this.running ??= this.tryOnce().finally(() => (this.running = null));
    return this.running;
  }

  private async tryOnce(): Promise<RunOutcome> {
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

  /** Work that throws before returning its promise fails like any other. */
  private async begin(round: Round): Promise<unknown> {
    return this.work(round);
  }
}

/** A round with its timeout. */
class RunningRound implements Round {
  private timer: NodeJS.Timeout;
  private giveUp: (error: Error) => void = () => undefined;
  /** Rejects when the round made no progress for too long. */
  readonly abandoned = new Promise<never>((_, reject) => (this.giveUp = reject));
  hasEnded = false;

  constructor(private readonly health: LoopHealth) {
    const { boundMs } = health;
    this.abandoned.catch(() => undefined);
    this.timer = this.abandonIn(boundMs);
  }

  private abandonIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.hasEnded = true;
      this.giveUp(new Error(`A round made no progress for ${ms / 1000} s and was abandoned.`));
    }, ms).unref();
  }

  progressed(): void {
    if (this.hasEnded) return;
    this.timer.refresh();
    this.health.succeeded();
  }

  leaveWithin(ms: number): void {
    this.end();
    this.timer = this.abandonIn(ms);
  }

  end(): void {
    this.hasEnded = true;
    clearTimeout(this.timer);
  }
}

/** Logging itself may have failed. */
function endProcess(error: unknown): void {
  try {
    createLogger('loops').fatal({ err: error }, 'A background loop broke; the process ends.');
  } finally {
    process.exit(1);
  }
}
