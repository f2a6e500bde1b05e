import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from 'pg';
import type { LogRow } from '../../common/database/request-log/log-row.js';
import { readCursor, storeBatch, type StoredBatch } from '../../common/database/request-log/store-batch.js';
import { endLeases } from '../../common/database/limits/end-leases.js';
import { readRedactors, type RedactorOf } from '../../common/redaction/read-redactors.js';
import type { Logger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { readOpened } from '../../common/spool/frame-values.js';
import { isOwnerDead } from '../../common/spool/owner.js';
import {
  listSegments,
  listWriters,
  removeFolder,
  segmentPath,
  type SpoolPosition,
} from '../../common/spool/spool-files.js';
import { redactorFor, rowsOfClosed, rowsOfCrashed } from './log-rows.js';
import type { BatchAnnouncer, UsageCounter } from './ports.js';
import { shipperMetrics } from './shipper-metrics.js';
import { OvertakenError, SpoolTail } from './spool-tail.js';

export interface ShipperOptions {
  /** Whoever made it listens to its errors: it outlives the shipper. */
  readonly pool: Pool;
  /** The spool: `<data dir>/spool`. */
  readonly spool: string;
  readonly announcer: BatchAnnouncer;
  readonly counter: UsageCounter;
  readonly logger: Logger;
}

/**
 * Rows gather for so long before they are stored: what a transaction, its announcement and its job cost, 94 rows cost as 300 do. Batches
 * follow one another without a pause where one was full, because the spool has grown longer then.
 */
const ROUND_MS = 250;
const BACK_OFF_MAX_MS = 5_000;
/** Writers at a time: while the database takes the rows of one, those of the other are made ready. */
const LANES = 2;
const STOP_WITHIN_MS = 10_000;

/** A cursor beyond every segment: all of this writer is stored and its folder may go. */
const FINISHED: SpoolPosition = { segment: 2 ** 31 - 1, offset: 0 };

/**
 * Moves request logs from the spool into the database, each exactly once.
 *
 * A round takes from every writer what it has, at most a batch, two writers at a time: read frames, store rows and cursor in one transaction,
 * then delete the segments that are done with. Killed at any point, it goes on from the cursor; what was stored but not
 * yet deleted is not stored again, because the cursor says so. Two shippers on one spool only cost each other work.
 */
export class Shipper {
  private readonly tails = new Map<string, SpoolTail>();
  private running: Promise<void> | null = null;
  private isStopping = false;
  private isBehind = false;
  private wake: (() => void) | null = null;
  private caughtUpAt = Date.now();

  private readonly report: (message: string, error: unknown) => void;

  constructor(private readonly options: ShipperOptions) {
    this.report = reportSparsely(options.logger);
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Stores what the spool holds, as far as that takes at most ten seconds. What remains is stored after the next start. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.wake?.();
    const timeIsUp = new AbortController();
    const limit = setTimeout(() => timeIsUp.abort(), STOP_WITHIN_MS);
    await Promise.race([this.shipTheRest(timeIsUp.signal), once(timeIsUp.signal, 'abort')]);
    clearTimeout(limit);
  }

  private async shipTheRest(timeIsUp: AbortSignal): Promise<void> {
    await this.running;
    let isMore = true;
    while (isMore && !timeIsUp.aborted) isMore = await this.round().catch(() => false);
  }

  /** One pass over all writers. True when there may be more right now. Rejects when the database cannot be used. */
  async round(): Promise<boolean> {
    const writers = listWriters(this.options.spool);
    for (const known of this.tails.keys()) if (!writers.includes(known)) this.tails.delete(known);
    const queue = writers.values();
    const lanes = Array.from({ length: LANES }, () => this.shipAll(queue));
    const outcomes = await Promise.allSettled(lanes);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
    const isMore = outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value);
    if (!isMore) this.caughtUpAt = Date.now();
    return isMore;
  }

  /** One lane of a round: takes the next writer as soon as it is done with one. */
  private async shipAll(queue: Iterable<string>): Promise<boolean> {
    let isMore = false;
    for (const writer of queue) if (await this.ship(writer)) isMore = true;
    return isMore;
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.isStopping) {
      const began = Date.now();
      this.isBehind = false;
      try {
        await this.round();
        if (failures > 0) this.options.logger.info('Request logs are stored again.');
        failures = 0;
      } catch (error) {
        failures += 1;
        this.failed(error, failures);
      }
      this.measure();
      const round = Math.min(ROUND_MS * 2 ** Math.min(failures, 5), BACK_OFF_MAX_MS);
      if (failures > 0 || !this.isBehind) await this.pause(began + round - Date.now());
    }
  }

  /** The first failure of several in a row is news; the others are counted. */
  private failed(error: unknown, failures: number): void {
    shipperMetrics.failures.inc();
    if (failures === 1)
      this.options.logger.error(
        { err: error },
        'Request logs cannot be stored; they stay in the spool. Trying again.',
      );
  }

  private async ship(writer: string): Promise<boolean> {
    try {
      return await this.shipBatch(writer);
    } catch (error) {
      // Whether the commit came through is unknown: only the cursor in the database can tell.
      this.tails.delete(writer);
      if (isFileTrouble(error)) {
        this.report('A folder of the spool cannot be read. Trying again in the next round.', error);
        return false;
      }
      throw error;
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

  /** Asked after the exchanges were read: rules that were saved before they arrived are there. */
  private redactors(exchanges: readonly { readonly organisation_id: string }[]): Promise<RedactorOf> {
    return readRedactors(
      async (sql, parameters) => (await this.options.pool.query<object>(sql, parameters)).rows,
      exchanges.map(({ organisation_id }) => organisation_id),
    );
  }

  /** Closes for a dead writer what it left open, then removes its folder. */
  private async finish(writer: string, tail: SpoolTail): Promise<boolean> {
    if (tail.openCount > 0) {
      const open = [...tail.openExchanges];
      const redactorOf = await this.redactors(open.map(({ json }) => readOpened(json)));
      const rows = rowsOfCrashed(open, tail.diedAt(), redactorOf);
      if (!(await this.store(writer, { from: tail.cursor, to: FINISHED, rows }))) return true;
      shipperMetrics.crashed.inc(rows.length);
      this.options.logger.warn(
        { writer, exchanges: rows.length },
        'Closed the exchanges of a gateway process that died.',
      );
    }
    await this.endLeases(writer);
    this.remove(writer);
    return false;
  }

  /** What a dead process still held of limits is free again, now that all that it spent is counted. */
  private async endLeases(writer: string): Promise<void> {
    if (isOwnerDead(join(this.options.spool, writer))) await endLeases(this.options.pool, writer);
  }

  private remove(writer: string): void {
    this.tails.delete(writer);
    removeFolder(join(this.options.spool, writer));
  }

  private async tailOf(writer: string): Promise<SpoolTail | null> {
    const known = this.tails.get(writer);
    if (known) return known;
    const cursor = await readCursor(this.options.pool, writer);
    if (cursor?.segment === FINISHED.segment) {
      await this.endLeases(writer);
      this.remove(writer);
      return null;
    }
    const tail = await SpoolTail.restore(join(this.options.spool, writer), cursor);
    this.tails.set(writer, tail);
    return tail;
  }

  /** False when another shipper was faster; then what is known of this writer is out of date. */
  private async store(
    writerId: string,
    batch: {
      readonly from: SpoolPosition | null;
      readonly to: SpoolPosition;
      readonly rows: readonly LogRow[];
    },
  ): Promise<boolean> {
    const stored = await storeBatch(this.options.pool, { writerId, ...batch });
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

  /** Not awaited: a queue that is away must not hold up the spool. */
  private announce(batchId: string): void {
    this.options.announcer.announce(batchId).catch(() => shipperMetrics.announceFailures.inc());
  }

  private measure(): void {
    let bytes = 0;
    for (const writer of listWriters(this.options.spool)) bytes += sizeOf(join(this.options.spool, writer));
    let open = 0;
    for (const tail of this.tails.values()) open += tail.openCount;
    shipperMetrics.pendingBytes.set(bytes);
    shipperMetrics.openExchanges.set(open);
    shipperMetrics.oldestSeconds.set((Date.now() - this.caughtUpAt) / 1000);
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
}

function sizeOf(folder: string): number {
  return listSegments(folder).reduce(
    (sum, segment) => sum + (statSync(segmentPath(folder, segment), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** Errors of the file system name a path; those of the database and of its connection do not. */
function isFileTrouble(error: unknown): boolean {
  return error instanceof OvertakenError || typeof (error as { readonly path?: unknown }).path === 'string';
}
