import type { OnApplicationShutdown } from '@nestjs/common';
import { IntervalJob } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import type { KeptRow } from './snapshot/kept-row.js';
import type { SnapshotFolder } from './snapshot/snapshot-folder.js';
import type { Memory } from '../memory.js';

/** How often there is a look at what happened. What was forgotten leaves the file with the next one. */
const ROUND_MS = 1_000;
/** What is new waits for others so long. */
const LEARNED_MS = 10_000;
/** Also when nothing is new: that what is written was read a moment ago is worth knowing, too. */
const AGAIN_MS = 5 * 60_000;
/** Between two writes so many times as long as the last one took: with many keys and many changes it must not become the work of the process. */
const RESTS = 20;
/** Values that a round reads again at most, of each kind. */
const RENEWED_PER_ROUND = 100;

const logger = createLogger('snapshot');

export interface SnapshotOptions {
  /** How many gateway processes this instance has. */
  readonly places: number;
  readonly isWanted: boolean;
}

/**
 * What the directories know, in a file: with it a process that starts while the database is unavailable knows what the one before
 * it knew. It is taken back at every start as what may be out of date: while the database answers, each value is read from there
 * before it is used, and all of them are read again one after the other.
 */
export class DirectorySnapshot implements OnApplicationShutdown {
  private readonly job = new IntervalJob(() => this.goRound(), {
    name: 'directory-snapshot',
    everyMs: ROUND_MS,
    logger,
    failure: 'The snapshot of keys and configs cannot be written.',
  });
  private isKept = false;
  private place = 0;
  private writtenAt = -Infinity;
  private tookMs = 0;
  private readonly written = { learned: 0, forgotten: 0 };

  constructor(
    private readonly memories: readonly Memory[],
    private readonly folder: SnapshotFolder,
    private readonly options: SnapshotOptions,
  ) {}

  /** Takes back what was known, and from now on writes what is. `place`: which of the gateway processes this is. Never rejects. */
  async begin(place: number): Promise<void> {
    this.place = place;
    try {
      if (!this.options.isWanted) return await this.folder.remove();
      for (const memory of this.memories) memory.keepRows();
      await this.folder.removeHalfWritten(place, this.options.places);
      this.takeBack(await this.folder.read());
    } catch (error) {
      logger.warn({ err: error }, 'The snapshots of keys and configs cannot be read.');
    }
    this.isKept = true;
    this.job.start();
  }

  /** Writes what is known at the end. */
  async onApplicationShutdown(): Promise<void> {
    if (!this.isKept) return;
    await this.job.stop();
    await this.write().catch((error: unknown) => {
      logger.warn({ err: error }, 'The snapshot of keys and configs cannot be written.');
    });
  }

  /** Reads again what is due and writes what is to be written. One that waits for a silent database is not joined by others. */
  round(): Promise<void> {
    return this.job.round();
  }

  /** The oldest first, as they were read: that is the order in which they are read again. */
  private takeBack(rows: readonly KeptRow[]): void {
    const byQuestion = new Map(this.memories.map((memory) => [memory.question, memory]));
    const taken = rows
      .toSorted((one, other) => one.readAt - other.readAt)
      .filter((row) => byQuestion.get(row.question)?.takeBack(row)).length;
    if (rows.length > 0)
      logger.info({ taken, found: rows.length }, 'Keys and configs were loaded from the snapshot.');
  }

  private async goRound(): Promise<void> {
    for (const memory of this.memories) await memory.renew(RENEWED_PER_ROUND);
    const age = performance.now() - this.writtenAt;
    const { learned, forgotten } = this.counts();
    const isDue =
      forgotten > this.written.forgotten ||
      (learned > this.written.learned && age > LEARNED_MS) ||
      age > AGAIN_MS;
    if (isDue && age > RESTS * this.tookMs) await this.write();
  }

  private async write(): Promise<void> {
    const counts = this.counts();
    const began = performance.now();
    try {
      await this.folder.write(this.place, this.rows());
      if (this.writtenAt === -Infinity) await this.folder.removeBeyond(this.options.places);
      Object.assign(this.written, counts);
    } finally {
      this.writtenAt = performance.now();
      this.tookMs = this.writtenAt - began;
    }
  }

  private *rows(): Iterable<KeptRow> {
    for (const memory of this.memories) yield* memory.kept();
  }

  private counts(): { readonly learned: number; readonly forgotten: number } {
    let [learned, forgotten] = [0, 0];
    for (const memory of this.memories) {
      learned += memory.learned;
      forgotten += memory.forgotten;
    }
    return { learned, forgotten };
  }
}
