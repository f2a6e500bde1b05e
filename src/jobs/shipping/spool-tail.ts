import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ParsedExchange } from '../../request-log/redaction/clear-exchange.js';
import type { StoredFrame } from '../../request-log/spool/frame.js';
import { readClosed } from '../../request-log/spool/frame-values.js';
import { isOwnerDead, lastHeartbeat } from '../../request-log/spool/owner.js';
import { type PlacedFrame, readSegment, type SegmentLook } from '../../request-log/spool/segment-reader.js';
import {
  ENDED_FILE,
  listOpenExchanges,
  listSegments,
  removeFile,
  retireSegment,
  segmentPath,
  type SpoolPosition,
} from '../../request-log/spool/spool-files.js';
import {
  forgetOpenExchanges,
  keepOpenExchanges,
  type OpenExchange,
  openExchangeOf,
  readOpenExchanges,
} from './open-exchanges.js';
import type { DamagedSegments } from './damaged-segments.js';
import { shipperMetrics } from './shipper-metrics.js';

/** The result of one read: the next frames of one writer. */
export interface SpoolReading {
  readonly closed: readonly ParsedExchange[];
  readonly opened: readonly OpenExchange[];
  readonly end: SpoolPosition;
  /** The writer is dead and everything it wrote was read. */
  readonly isFinal: boolean;
  /** There was more than fits into a batch: the writer is faster than its rows are stored. */
  readonly isFull: boolean;
}

/** Another shipper continued and deleted segments. This one's state for the writer is outdated. */
export class OvertakenError extends Error {
  constructor() {
    super('Another shipper has moved the cursor of this spool.');
    this.name = 'OvertakenError';
  }
}

const ROWS_MAX = 1_000;
const BYTES_MAX = 16 * 1024 * 1024;

/** A live writer completes a frame within microseconds. After this long, a partial frame is damage. */
const HALF_FRAME_TIMEOUT_MS = 5_000;

/**
 * One writer's spool as the shipper reads it: the read position and the open exchanges.
 *
 * Reading changes nothing; `apply` does, after the commit. So no failure needs undoing: the tail is discarded and recreated from the cursor
 * in the database and the files.
 */
export class SpoolTail {
  private readonly open = new Map<string, OpenExchange>();
  /** Segments up to this one were deleted. The content of those before the first segment read is unknown. */
  private goneUpTo: number;
  private leavesNothing = false;
  /** Owners of records that were read before the cursor when the tail was restored. */
  private readonly owners = new Map<string, RecordOwner>();
  private stuck: { readonly at: SpoolPosition; readonly since: number } | null = null;

  private constructor(
    private readonly folder: string,
    private position: SpoolPosition,
    /** The cursor in the database. */
    private stored: SpoolPosition | null,
    private readonly damage: DamagedSegments,
  ) {
    this.goneUpTo = position.segment;
  }

  /**
   * Some of the records must not be kept. A reused segment would keep them until it is overwritten, so from now on this writer's segments
   * are deleted.
   */
  leaveNothing(): void {
    this.leavesNothing = true;
    this.goneUpTo = Number.POSITIVE_INFINITY;
  }

  get cursor(): SpoolPosition | null {
    return this.stored;
  }

  get openExchanges(): Iterable<OpenExchange> {
    return this.open.values();
  }

  /** Owners of records before the cursor in the existing segments: an earlier tail has read them. */
  get earlierOwners(): readonly RecordOwner[] {
    return [...this.owners.values()];
  }

  get openCount(): number {
    return this.open.size;
  }

  /** Restores the open exchanges: those recorded when segments were deleted, then those in the segments before the cursor. */
  static async restore(
    folder: string,
    cursor: SpoolPosition | null,
    damage: DamagedSegments,
  ): Promise<SpoolTail> {
    const start = cursor ?? { segment: 0, offset: 0 };
    const cutUpTo = listOpenExchanges(folder).at(-1) ?? 0;
    const tail = new SpoolTail(
      folder,
      cutUpTo < start.segment ? start : { segment: cutUpTo + 1, offset: 0 },
      cursor,
      damage,
    );
    for (const exchange of await readOpenExchanges(folder)) tail.open.set(exchange.id, exchange);
    for (const segment of listSegments(folder))
      if (segment <= start.segment)
        await tail.remember(segment, segment === start.segment ? start.offset : Number.POSITIVE_INFINITY);
    return tail;
  }

  /** Reads on, up to one batch. Rejects when another shipper deleted unread segments. */
  async read(): Promise<SpoolReading> {
    if ((listOpenExchanges(this.folder).at(-1) ?? 0) >= this.position.segment && this.position.segment > 0)
      throw new OvertakenError();
    // Checked before listing the files, so that a dead writer's files are complete.
    const hasEnded = existsSync(join(this.folder, ENDED_FILE));
    const isDead = hasEnded || isOwnerDead(this.folder);
    const batch = new ReadingInProgress();
    const segments = listSegments(this.folder).filter((segment) => segment >= this.position.segment);
    let end = this.position;
    for (const [index, segment] of segments.entries()) {
      const isLast = index === segments.length - 1;
      const isSealed = isDead || !isLast;
      const offset = segment === this.position.segment ? this.position.offset : 0;
      end = await this.readOn(batch, { segment, offset }, { isSealed, mayBeCut: isLast && !hasEnded });
      if (batch.isFull) return batch.finish(end, false);
    }
    return batch.finish(end, isDead);
  }

  /** Call it once the reading is stored: everything before its end is done. */
  apply(reading: SpoolReading): void {
    for (const exchange of reading.opened) this.open.set(exchange.id, exchange);
    for (const { closed } of reading.closed) this.open.delete(closed.record.id);
    this.position = reading.end;
    if (reading.closed.length > 0) this.stored = reading.end;
  }

  /**
   * Deletes the segments before the current one, oldest first, so that the remaining ones are always the newest. Their open exchanges are
   * saved first.
   */
  async cut(): Promise<void> {
    const done = listSegments(this.folder).filter((segment) => segment < this.position.segment);
    const last = done.at(-1);
    if (last === undefined) return;
    if (this.open.size === 0) forgetOpenExchanges(this.folder, Number.POSITIVE_INFINITY);
    else await this.keepOpen(last, done[0] ?? last);
    for (const segment of done) this.discard(segment);
    forgetOpenExchanges(this.folder, last);
  }

  /** Keeps the damaged segments of a writer whose folder is about to be removed. */
  keepDamaged(): void {
    for (const segment of listSegments(this.folder))
      if (this.damage.isKnown(segmentPath(this.folder, segment))) this.discard(segment);
  }

  private discard(segment: number): void {
    const path = segmentPath(this.folder, segment);
    if (!this.leavesNothing && this.damage.isKnown(path)) return this.damage.keep(path);
    this.damage.forget(path);
    if (segment > this.goneUpTo) retireSegment(this.folder, segment);
    else removeFile(path);
  }

  /**
   * On a full disk the oldest segment is deleted first to make room for the list of open exchanges. If both this process and the writer are
   * killed in between, the exchanges open in that one segment are lost; never freeing a full disk would be worse.
   */
  private async keepOpen(upTo: number, oldest: number): Promise<void> {
    try {
      await keepOpenExchanges(this.folder, upTo, this.open.values());
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      removeFile(segmentPath(this.folder, oldest));
      await keepOpenExchanges(this.folder, upTo, this.open.values());
    }
  }

  /** The last heartbeat of the writer, milliseconds since the epoch. */
  diedAt(): number {
    const last = listSegments(this.folder).at(-1);
    const written = last === undefined ? 0 : statSync(segmentPath(this.folder, last)).mtimeMs;
    return Math.max(written, lastHeartbeat(this.folder));
  }

  private async readOn(
    batch: ReadingInProgress,
    from: SpoolPosition,
    terms: SegmentReadOptions,
  ): Promise<SpoolPosition> {
    const path = segmentPath(this.folder, from.segment);
    let at = from;
    for (;;) {
      const look = await readSegment(path, at, terms.isSealed || this.isStuckAt(at));
      this.report(look, at, terms);
      const taken = batch.take(look.frames, (offset) => this.damage.found(path, offset));
      at = { segment: at.segment, offset: batch.isFull ? (taken ?? at.offset) : look.next };
      if (batch.isFull || look.status !== 'more') return at;
    }
  }

  private isStuckAt({ segment, offset }: SpoolPosition): boolean {
    const { stuck } = this;
    if (stuck?.at.segment !== segment || stuck.at.offset !== offset) return false;
    return Date.now() - stuck.since > HALF_FRAME_TIMEOUT_MS;
  }

  private report(
    look: SegmentLook,
    { segment }: SpoolPosition,
    { isSealed, mayBeCut }: SegmentReadOptions,
  ): void {
    const path = segmentPath(this.folder, segment);
    shipperMetrics.damaged.inc(look.damaged);
    if (look.damagedAt !== null) this.damage.found(path, look.damagedAt);
    if (look.status !== 'torn') return;
    if (isSealed) {
      shipperMetrics.torn.inc();
      if (!mayBeCut) this.damage.found(path, look.next);
      return;
    }
    const at = { segment, offset: look.next };
    if (this.stuck?.at.segment !== segment || this.stuck.at.offset !== look.next)
      this.stuck = { at, since: Date.now() };
  }

  private async remember(segment: number, until: number): Promise<void> {
    const path = segmentPath(this.folder, segment);
    for (let offset = 0; ;) {
      const look = await readSegment(path, { segment, offset }, true);
      if (look.damagedAt !== null && look.damagedAt < until) this.damage.found(path, look.damagedAt);
      for (const { frame, end } of look.frames) if (end <= until) this.note(frame);
      if (look.status !== 'more' || look.next >= until) return;
      offset = look.next;
    }
  }

  private note(frame: StoredFrame): void {
    const { opened, closed } = understood(frame) ?? {};
    if (opened) this.open.set(opened.id, opened);
    if (!closed) return;
    const { id, organisation_id, workspace_id } = closed.closed.record;
    this.open.delete(id);
    this.owners.set(`${organisation_id} ${workspace_id}`, { organisation_id, workspace_id });
  }
}

/** `isSealed`: the writer has moved on from the segment; `mayBeCut`: it may have died in the middle of a frame. */
interface SegmentReadOptions {
  readonly isSealed: boolean;
  readonly mayBeCut: boolean;
}

type RecordOwner = Pick<ParsedExchange['closed']['record'], 'organisation_id' | 'workspace_id'>;

/** The parsed frame. Null when its JSON is invalid, which the checksum all but excludes; it must not block the others. */
function understood(frame: StoredFrame): { opened?: OpenExchange; closed?: ParsedExchange } | null {
  try {
    return frame.kind === 'opened' ? { opened: openExchangeOf(frame) } : { closed: closedOf(frame) };
  } catch {
    shipperMetrics.damaged.inc();
    return null;
  }
}

function closedOf({ json, requestBody, responseBody }: StoredFrame): ParsedExchange {
  return { closed: readClosed(json), requestBody, responseBody };
}

/** Collects frames until there are enough for a batch. */
class ReadingInProgress {
  private readonly closed: ParsedExchange[] = [];
  private readonly opened: OpenExchange[] = [];
  private bytes = 0;

  get isFull(): boolean {
    return this.closed.length >= ROWS_MAX || this.bytes >= BYTES_MAX;
  }

  /** Takes frames until full; returns the offset after the last one taken. */
  take(frames: readonly PlacedFrame[], onDamage: (offset: number) => void): number | null {
    let taken: number | null = null;
    for (const { frame, end } of frames) {
      const found = understood(frame);
      if (!found) onDamage(end - frame.bytes);
      const { opened, closed } = found ?? {};
      if (opened) this.opened.push(opened);
      if (closed) this.closed.push(closed);
      this.bytes += frame.bytes;
      taken = end;
      if (this.isFull) break;
    }
    return taken;
  }

  finish(end: SpoolPosition, isFinal: boolean): SpoolReading {
    return { closed: this.closed, opened: this.opened, end, isFinal, isFull: this.isFull };
  }
}
