import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { NewLogRow } from '../../request-log/store/log-row.js';
import { readCursor, storeBatch, type StoredBatch } from '../../request-log/store/store-batch.js';
import { endLeases } from '../../request-log/charging/end-leases.js';
import { readRedactors, type RedactorOf } from '../../request-log/redaction/read-redactors.js';
import { IntervalJob, type Round } from '../../common/loops/interval-job.js';
import type { Logger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { readOpened } from '../../request-log/spool/frame-values.js';
import { isOwnerDead } from '../../request-log/spool/owner.js';
import {
  listWriters,
  pendingBytesIn,
  removeFolder,
  type SpoolPosition,
} from '../../request-log/spool/spool-files.js';
import { DamagedSegments } from './damaged-segments.js';
import { redactorFor, rowsOfClosed, rowsOfCrashed } from './log-rows.js';
import type { BatchQueue, UsageCounter } from './ports.js';
import { measureShipper, shipperMetrics } from './shipper-metrics.js';
import { OvertakenError, SpoolTail } from './spool-tail.js';

export interface ShipperOptions {
  /** The creator handles its errors: it outlives the shipper. */
  readonly pool: Pool;
  /** The spool: `<data dir>/spool`. */
  readonly spool: string;
  readonly batchQueue: BatchQueue;
  readonly counter: UsageCounter;
  readonly logger: Logger;
}

/**
 * Rows accumulate for this long before they are stored: the fixed cost of a transaction, its announcement and its job is the same for 94
 * rows as for 300. After a full batch the next one follows at once, because the spool has grown by then.
 */
const ROUND_MS = 250;
/** The shipper's loop in metrics and readiness. */
export const SHIPPER_LOOP = 'shipper';
const STALLED_AFTER_MS = 60_000;
const TIDY_EVERY_MS = 60 * 60_000;
/** Writers processed at a time: while the database stores one's rows, the other's are prepared. */
const LANES = 2;
/** Between two rounds of a stop while the database is unavailable. */
const STOP_RETRY_MS = 500;

/** A cursor beyond every segment: everything of this writer is stored and its folder can be removed. */
const FINISHED: SpoolPosition = { segment: 2 ** 31 - 1, offset: 0 };

/**
 * Moves request logs from the spool into the database, each exactly once.
 *
 * A round takes up to one batch from every writer, two writers at a time: it reads frames, stores rows and cursor in one transaction, then
 * deletes the processed segments. Killed at any point, it resumes from the cursor, which prevents rows that are stored but not yet deleted
 * from being stored twice. Two shippers on one spool only do redundant work.
 */
export class Shipper {
  private readonly tails = new Map<string, SpoolTail>();
  private roundsUnderWay = 0;
  /** A batch of this round was full. */
  private isBehind = false;
  /** A folder could not be read in this round. */
  private isHeldUp = false;
  private timedRound: Round | null = null;
  private caughtUpAt = performance.now();
  private readonly shipping: IntervalJob;
  private readonly tidying: IntervalJob;
  private readonly damage: DamagedSegments;
  private readonly report: (message: string, error: unknown) => void;

  constructor(private readonly options: ShipperOptions) {
    const { logger, spool } = options;
    this.report = reportSparsely(logger);
    this.damage = new DamagedSegments(spool, logger);
    this.shipping = new IntervalJob((round) => this.shipOnTime(round), {
      name: SHIPPER_LOOP,
      everyMs: ROUND_MS,
      boundMs: STALLED_AFTER_MS,
      logger,
      failure: 'Request logs cannot be stored; they stay in the spool. Trying again.',
    });
    this.tidying = new IntervalJob(async () => this.damage.forgetOld(), {
      name: 'damaged-segments',
      everyMs: TIDY_EVERY_MS,
      logger,
      failure: 'Old damaged segments cannot be deleted.',
    });
    measureShipper(this);
  }

  start(): void {
    this.shipping.start();
    this.tidying.start();
  }

  /**
   * Stores the contents of the spool for at most this time, in milliseconds, and tries again while the database is unavailable. The rest is
   * stored after the next start on the same data folder.
   */
  async stop(withinMs: number): Promise<void> {
    const timeIsUp = new AbortController();
    const limit = setTimeout(() => timeIsUp.abort(), withinMs);
    await Promise.race([this.shipTheRest(timeIsUp.signal), once(timeIsUp.signal, 'abort')]);
    clearTimeout(limit);
    if (timeIsUp.signal.aborted)
      this.options.logger.warn(
        { within_ms: withinMs, pending_bytes: this.pendingBytes },
        'The spool was not stored completely. Start an instance on this data folder again, or its request logs are lost with the disk.',
      );
  }

  private async shipTheRest(timeIsUp: AbortSignal): Promise<void> {
    await Promise.all([this.shipping.stop(), this.tidying.stop()]);
    const retry = () => sleep(STOP_RETRY_MS, true, { signal: timeIsUp }).catch(() => false);
    let isMore = true;
    while (isMore && !timeIsUp.aborted) isMore = await this.round().catch(retry);
  }

  /** One pass over all writers. Returns true when more may be waiting. Rejects when the database cannot be used. */
  async round(): Promise<boolean> {
    // The previous round was abandoned. If it resumes after all, it must not share state with this one.
    if (this.roundsUnderWay > 0) this.tails.clear();
    this.roundsUnderWay += 1;
    try {
      return await this.shipWriters();
    } finally {
      this.roundsUnderWay -= 1;
    }
  }

  private async shipWriters(): Promise<boolean> {
    const began = performance.now();
    this.isBehind = this.isHeldUp = false;
    const writers = listWriters(this.options.spool);
    for (const known of this.tails.keys()) if (!writers.includes(known)) this.tails.delete(known);
    const queue = writers.values();
    const lanes = Array.from({ length: LANES }, () => this.shipAll(queue));
    const outcomes = await Promise.allSettled(lanes);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
    if (!this.isBehind && !this.isHeldUp) this.caughtUpAt = began;
    return outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value);
  }

  /** A round that counts its failure. Returns true when a batch was full: the spool grows faster than rows accumulate. */
  private async shipOnTime(round: Round): Promise<boolean> {
    this.timedRound = round;
    try {
      await this.round();
      return this.isBehind;
    } catch (error) {
      shipperMetrics.failures.inc();
      throw error;
    }
  }

  /** Seconds since the spool was last stored completely. */
  get oldestSeconds(): number {
    return (performance.now() - this.caughtUpAt) / 1000;
  }

  get openExchanges(): number {
    let open = 0;
    for (const tail of this.tails.values()) open += tail.openCount;
    return open;
  }

  get pendingBytes(): number {
    return pendingBytesIn(this.options.spool);
  }

  /** One lane of a round: takes the next writer when it is done with one. */
  private async shipAll(queue: Iterable<string>): Promise<boolean> {
    let isMore = false;
    for (const writer of queue) if (await this.ship(writer)) isMore = true;
    return isMore;
  }

  /** An unreadable folder does not block the others: its writer's records stay in it until it can be read. */
  private async ship(writer: string): Promise<boolean> {
    try {
      return await this.shipBatch(writer);
    } catch (error) {
      // Whether the commit succeeded is unknown: only the cursor in the database shows it.
      this.tails.delete(writer);
      if (error instanceof DatabaseFailure) throw error.cause;
      if (error instanceof OvertakenError) return false;
      this.isHeldUp = true;
      shipperMetrics.folderFailures.inc();
      this.report(
        `The spool folder ${writer} cannot be read or cleared. Trying again in the next round.`,
        error,
      );
      return false;
    }
  }

  private async shipBatch(writer: string): Promise<boolean> {
    const tail = await this.tailOf(writer);
    if (!tail) return false;
    const reading = await tail.read();
    if (reading.isFull) this.isBehind = true;
    if (reading.closed.length > 0) {
      const redactorOf = await this.redactors(reading.closed.map(({ closed }) => closed.record));
      if (reading.closed.some(({ closed: { record } }) => redactorFor(record, redactorOf)))
        tail.leaveNothing();
      const rows = await rowsOfClosed(reading.closed, {
        counter: this.options.counter,
        redactorOf,
        isBehind: reading.isFull,
      });
      if (!(await this.store(writer, { from: tail.cursor, to: reading.end, rows }))) return true;
    }
    tail.apply(reading);
    await tail.cut();
    if (!reading.isFinal) return reading.closed.length > 0;
    return this.finish(writer, tail);
  }

  /** Read after the exchanges, so that rules saved before they arrived are included. */
  private redactors(exchanges: readonly { readonly organisation_id: string }[]): Promise<RedactorOf> {
    return this.ask(
      readRedactors(
        async (sql, parameters) => (await this.options.pool.query<object>(sql, parameters)).rows,
        exchanges.map(({ organisation_id }) => organisation_id),
      ),
    );
  }

  /** Closes what a dead writer left open, then removes its folder. */
  private async finish(writer: string, tail: SpoolTail): Promise<boolean> {
    if (tail.openCount > 0) {
      const open = [...tail.openExchanges];
      const redactorOf = await this.redactors(open.map(({ json }) => readOpened(json)));
      const rows = rowsOfCrashed(open, tail.diedAt(), redactorOf);
      if (!(await this.store(writer, { from: tail.cursor, to: FINISHED, rows }))) return true;
      shipperMetrics.crashed.inc(rows.length);
      this.options.logger.warn(
        { writer, exchanges: rows.length },
        'Closed the exchanges of a gateway process that was killed.',
      );
    }
    await this.endLeases(writer);
    tail.keepDamaged();
    this.remove(writer);
    return false;
  }

  /** Releases what a dead process still held of limits, now that everything it spent is counted. */
  private async endLeases(writer: string): Promise<void> {
    if (isOwnerDead(join(this.options.spool, writer))) await this.ask(endLeases(this.options.pool, writer));
  }

  private remove(writer: string): void {
    this.tails.delete(writer);
    removeFolder(join(this.options.spool, writer));
  }

  private async tailOf(writer: string): Promise<SpoolTail | null> {
    const known = this.tails.get(writer);
    if (known) return known;
    const cursor = await this.ask(readCursor(this.options.pool, writer));
    if (cursor?.segment === FINISHED.segment) {
      await this.endLeases(writer);
      this.remove(writer);
      return null;
    }
    const tail = await SpoolTail.restore(join(this.options.spool, writer), cursor, this.damage);
    const owners = tail.earlierOwners;
    if (owners.length > 0) {
      const redactorOf = await this.redactors(owners);
      if (owners.some((owner) => redactorFor(owner, redactorOf))) tail.leaveNothing();
    }
    this.tails.set(writer, tail);
    return tail;
  }

  /** False when another shipper was first; the state kept for this writer is then outdated. */
  private async store(
    writerId: string,
    batch: {
      readonly from: SpoolPosition | null;
      readonly to: SpoolPosition;
      readonly rows: readonly NewLogRow[];
    },
  ): Promise<boolean> {
    const stored = await this.ask(storeBatch(this.options.pool, { writerId, ...batch }));
    if (!stored) {
      shipperMetrics.conflicts.inc();
      this.tails.delete(writerId);
      return false;
    }
    this.count(stored);
    if (stored.batchId) this.announce(stored.batchId);
    return true;
  }

  private count({ rows, duplicates, poison }: StoredBatch): void {
    this.timedRound?.progressed();
    shipperMetrics.batches.inc();
    shipperMetrics.rows.inc(rows);
    shipperMetrics.duplicates.inc(duplicates);
    shipperMetrics.poison.inc(poison);
    if (poison > 0)
      this.options.logger.error(
        { poison },
        'Request logs were refused by the tables and kept as dead letters.',
      );
  }

  /** Not awaited: an unavailable queue must not block the spool. */
  private announce(batchId: string): void {
    this.options.batchQueue.enqueue(batchId).catch(() => shipperMetrics.announceFailures.inc());
  }

  /** Distinguishes database failures from folder failures. */
  private async ask<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      throw new DatabaseFailure('The database did not do what it was asked.', { cause });
    }
  }
}

/** Socket and file errors look alike, so database errors are marked at their source. */
class DatabaseFailure extends Error {}
