import { Gauge, register } from 'prom-client';
import type { Queryable } from './queryable.js';
import { IntervalJob } from '../common/loops/interval-job.js';
import { createLogger } from '../common/observability/logger.js';
import { type ReadinessCheck, CheckFailure } from '../common/supervision/probes.js';

/** With a larger offset, keys expire and budgets begin at noticeably different times on different machines. */
export const CLOCK_OFFSET_MAX_MS = 2_000;
const EVERY_MS = 60_000;

/** Milliseconds since the epoch by the database's clock, when evaluated. */
const DATABASE_NOW = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms';

/**
 * How far our clock is ahead of another, milliseconds; negative when it is behind. The other clock was read between two readings of ours,
 * so only a difference beyond these is an offset.
 */
export function clockOffsetMs(theirs: number, before: number, after: number): number {
  if (theirs < before) return Math.round(before - theirs);
  return theirs > after ? Math.round(after - theirs) : 0;
}

/**
 * Compares the clock of this machine with the database's: at the start, and every minute. With a wrong clock, keys expire early or late on
 * this machine, and its rows have wrong dates. It is reported in the log, as `gatehouse_clock_offset_seconds` and in readiness.
 */
export class DatabaseClock {
  private offsetMs: number | null = null;
  private readonly logger = createLogger('clock');
  private readonly job = new IntervalJob(() => this.measure(), {
    name: 'database-clock',
    everyMs: EVERY_MS,
    logger: this.logger,
    failure: 'The clock could not be compared with the database.',
  });
  private readonly gauge = new Gauge({
    name: 'gatehouse_clock_offset_seconds',
    help: 'How far the clock of this machine is ahead of the database clock; negative when it is behind.',
    registers: [register],
    // The processes of a machine share its clock.
    aggregator: 'first',
  });

  constructor(
    private readonly database: Queryable,
    private readonly now: () => number = Date.now,
  ) {
    // Absent until measured, instead of 0.
    this.gauge.remove();
  }

  start(): void {
    void this.job.round();
    this.job.start();
  }

  async stop(): Promise<void> {
    await this.job.stop();
    register.removeSingleMetric('gatehouse_clock_offset_seconds');
  }

  /** For readiness: removing this instance would not help the others, so a wrong clock only degrades it. */
  get check(): ReadinessCheck {
    return {
      name: 'clock',
      isVital: false,
      run: () => {
        if (this.isWrong) throw new CheckFailure(this.sentence);
      },
    };
  }

  /** Rejects while the database is unavailable, and keeps the last offset. */
  async measure(): Promise<void> {
    const before = this.now();
    const [row] = await this.database.query<{ now_ms: number }>(DATABASE_NOW);
    if (row) this.take(clockOffsetMs(row.now_ms, before, this.now()));
  }

  private take(offsetMs: number): void {
    const wasWrong = this.isWrong;
    this.offsetMs = offsetMs;
    this.gauge.set(offsetMs / 1_000);
    if (this.isWrong)
      this.logger.warn({ offset_ms: offsetMs }, `${this.sentence} Synchronize both clocks (NTP).`);
    else if (wasWrong) this.logger.info({ offset_ms: offsetMs }, 'The clock of this machine is right again.');
  }

  private get isWrong(): boolean {
    return Math.abs(this.offsetMs ?? 0) > CLOCK_OFFSET_MAX_MS;
  }

  private get sentence(): string {
    const offsetMs = this.offsetMs ?? 0;
    const seconds = (Math.abs(offsetMs) / 1_000).toFixed(1);
    return `The clock of this machine is ${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} the database's.`;
  }
}
