import type { Logger } from 'pino';
import { type EncodedFrame, withoutBodies } from './frame.js';
import { Reserve } from './reserve.js';
import { Segment, type WriteVector } from './segment.js';
import { dropSpares, segmentPath, sparesIn } from './spool-files.js';
import { spoolCounts } from './spool-metrics.js';

export interface SegmentChainOptions {
  /** The writer's own, existing folder. */
  readonly folder: string;
  readonly logger: Logger;
  /** A segment that reaches this size is followed by the next. */
  readonly segmentBytes: number;
  /** A segment without a write for this long is followed by the next, so that it can be deleted. */
  readonly idleMs: number;
  readonly reserveBytes: number;
  readonly write: WriteVector;
}

/** `degraded`: the disk is full, records are kept without bodies. `exhausted`: even the reserve is full. */
export type SpoolState = 'ok' | 'degraded' | 'exhausted';

const LEVELS: Readonly<Record<SpoolState, number>> = { ok: 0, degraded: 1, exhausted: 2 };
const RECOVERY_EVERY_MS = 1_000;
const BACKLOG_BYTES_MAX = 16 * 1024 * 1024;

/**
 * The segments of one writer, in sequence, and the handling of write failures.
 *
 * Full disk: the reserve becomes the next segment and takes records without bodies. Reserve full too: a bounded number of records waits in
 * memory; beyond that, records are dropped and counted. Every second the chain tries to allocate a new reserve; once that succeeds, the
 * disk has room again and normal operation resumes.
 */
export class SegmentChain {
  private currentState: SpoolState = 'ok';
  private segment: Segment | null = null;
  private number = 0;
  private lastWriteAt = 0;
  private readonly reserve: Reserve;
  private backlog: EncodedFrame[] = [];
  private backlogBytes = 0;
  private recovery: NodeJS.Timeout | null = null;

  constructor(private readonly options: SegmentChainOptions) {
    this.reserve = new Reserve(options.folder, options.reserveBytes);
    void this.reserve.prepare();
  }

  get state(): SpoolState {
    return this.currentState;
  }

  private enter(state: SpoolState): void {
    this.currentState = state;
    spoolCounts.degraded = LEVELS[state];
  }

  /**
   * Never throws. Dropped records are counted. Returns true when all frames have reached the kernel; otherwise some frames, with their
   * memory, may still be held here.
   */
  write(frames: readonly EncodedFrame[]): boolean {
    if (this.state !== 'ok') {
      this.writeReduced(frames);
      return false;
    }
    let kept = 0;
    try {
      const segment = this.segmentWithSpace();
      const { frames: whole, error } = segment.append(frames);
      kept = whole;
      if (error) throw error;
      return true;
    } catch (error) {
      this.degrade(error);
      this.writeReduced(frames.slice(kept));
      return false;
    }
  }

  /**
   * Closes an idle segment, and deletes spare files that are not needed within that time: they are not worth keeping and would otherwise
   * hold old data for long. Call it periodically.
   */
  tidy(now: number): void {
    if (this.state !== 'ok') return;
    const since = now - this.options.idleMs;
    try {
      dropSpares(this.options.folder, since);
      if (!this.segment) return;
      if (this.segment.openedAt < since) this.segment.forgetOld();
      if (this.segment.position > 0 && this.lastWriteAt < since) this.openNext();
    } catch (error) {
      this.degrade(error);
    }
  }

  /** Flushes everything to the disk and releases the reserve. */
  async finish(): Promise<void> {
    if (this.recovery) clearInterval(this.recovery);
    if (this.backlog.length > 0) this.recover();
    await this.segment?.retire();
    this.segment = null;
    await this.reserve.drop();
  }

  private segmentWithSpace(): Segment {
    this.lastWriteAt = Date.now();
    if (!this.segment || this.segment.position >= this.options.segmentBytes) return this.openNext();
    return this.segment;
  }

  /** The next segment: a spare file, or else a new one. */
  private openNext(): Segment {
    const { folder, write } = this.options;
    const number = this.number + 1;
    const path = segmentPath(folder, number);
    const [spare] = sparesIn(folder);
    return this.follow(
      spare === undefined ? Segment.create(path, number, write) : Segment.again(spare, path, number, write),
    );
  }

  private follow(next: Segment): Segment {
    this.number += 1;
    void this.segment?.retire();
    this.segment = next;
    return next;
  }

  private degrade(error: unknown): void {
    this.enter('degraded');
    this.options.logger.error(
      { err: error },
      'log_degraded: the spool cannot be written. Request logs are kept without bodies until the disk has space.',
    );
    try {
      if (!this.reserve.isReady) throw new Error('There is no reserve.');
      const { folder, write } = this.options;
      const number = this.number + 1;
      const path = segmentPath(folder, number);
      const capacity = this.reserve.useAs(path);
      this.follow(Segment.within(path, number, { capacity, write }));
    } catch (cause) {
      this.exhaust(cause);
    }
    this.recovery ??= setInterval(() => void this.tryToRecover(), RECOVERY_EVERY_MS).unref();
  }

  private exhaust(cause: unknown): void {
    this.enter('exhausted');
    this.options.logger.error(
      { err: cause },
      'log_exhausted: the reserve of the spool is used up. Request logs wait in memory.',
    );
  }

  private writeReduced(frames: readonly EncodedFrame[]): void {
    for (const frame of frames) {
      const small = withoutBodies(frame);
      if (small !== frame && frame.hasBodies) spoolCounts.bodiesDropped += 1;
      if (!this.fitsReserve(small)) this.remember(small);
    }
  }

  private fitsReserve(frame: EncodedFrame): boolean {
    const { segment } = this;
    if (this.state !== 'degraded' || !segment) return false;
    const error =
      segment.position + frame.bytes > segment.capacity
        ? new Error('The next record does not fit.')
        : segment.append([frame]).error;
    if (error) this.exhaust(error);
    return error === null;
  }

  private remember(frame: EncodedFrame): void {
    if (this.backlogBytes + frame.bytes > BACKLOG_BYTES_MAX) {
      spoolCounts.recordsDropped += 1;
      return;
    }
    this.backlog.push(frame);
    this.backlogBytes += frame.bytes;
  }

  private async tryToRecover(): Promise<void> {
    dropSpares(this.options.folder);
    if (await this.reserve.prepare()) this.recover();
  }

  private recover(): void {
    if (this.state === 'ok') return;
    try {
      if (this.state === 'degraded') this.segment?.trim();
      this.openNext();
    } catch (error) {
      this.options.logger.warn({ err: error }, 'The spool still cannot be written.');
      return;
    }
    if (this.recovery) clearInterval(this.recovery);
    this.recovery = null;
    this.enter('ok');
    this.options.logger.info('The spool can be written again; bodies are kept again.');
    const waiting = this.backlog;
    this.backlog = [];
    this.backlogBytes = 0;
    if (waiting.length > 0) this.write(waiting);
  }
}
