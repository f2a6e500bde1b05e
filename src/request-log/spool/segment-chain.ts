import type { Logger } from 'pino';
import { type EncodedFrame, withoutBodies } from './frame.js';
import { Reserve } from './reserve.js';
import { Segment, type WriteVector } from './segment.js';
import { dropSpares, segmentPath, sparesIn } from './spool-files.js';
import { spoolCounts } from './spool-metrics.js';

export interface SegmentChainOptions {
  /** The writer's own folder; it exists. */
  readonly folder: string;
  readonly logger: Logger;
  /** A segment is followed by the next one at this size. */
  readonly segmentBytes: number;
  /** A segment is followed by the next one after so long without a write, so that the old one can be deleted. */
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
 * The segments of one writer, one behind the other, and what happens when the disk refuses.
 *
 * Full disk: the reserve becomes the next segment and takes records without bodies. Reserve full too: a bounded number
 * of records waits in memory, and beyond it records are dropped and counted. Every second it is tried to take a new
 * reserve; when that works the disk has room again, and everything goes back to normal by itself.
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
   * Never throws. What it could not keep is counted. True when all of it is the kernel's; otherwise some frames may
   * still be held here, and their memory with them.
   */
  write(frames: readonly EncodedFrame[]): boolean {
    if (this.state !== 'ok') {
      this.writeReduced(frames);
      return false;
    }
    let kept = 0;
    try {
      const segment = this.segmentWithRoom();
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
   * Follows an idle segment with the next one, and gives up what is left of older uses where files do not fill within that time:
   * it is not worth keeping then, and would lie here for long. To be called now and then.
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

  /** Brings everything to the disk and gives the reserve back. */
  async finish(): Promise<void> {
    if (this.recovery) clearInterval(this.recovery);
    if (this.backlog.length > 0) this.recover();
    await this.segment?.retire();
    this.segment = null;
    await this.reserve.drop();
  }

  private segmentWithRoom(): Segment {
    this.lastWriteAt = Date.now();
    if (!this.segment || this.segment.position >= this.options.segmentBytes) return this.openNext();
    return this.segment;
  }

  /** The next segment: a file that is there already, or else a new one. */
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
