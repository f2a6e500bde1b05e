import type { OnApplicationShutdown } from '@nestjs/common';
import { IntervalJob } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import type { KeptRow } from './snapshot/kept-row.js';
import type { SnapshotFolder } from './snapshot/snapshot-folder.js';
import type { Memory } from './snapshot/memory.js';

/** Interval of rounds. A forgotten value leaves the file with the next one. */
const ROUND_MS = 1_000;
/** New values wait this long, so that one write covers several. */
const LEARNED_MS = 10_000;
/** The file is also written when nothing is new, because it records how fresh the values are. */
const AGAIN_MS = 5 * 60_000;
/**
 * Minimum pause between two writes, as a multiple of the last one's duration: with many keys and changes, writing must not take most of the
 * process's time.
 */
const RESTS = 20;
/** Maximum values of each kind that a round reloads. */
const RENEWED_PER_ROUND = 100;

const logger = createLogger('snapshot');

export interface SnapshotOptions {
  /** Number of gateway processes of this instance. */
  readonly places: number;
  readonly isWanted: boolean;
}

/**
 * The directories' cached rows, in a file. A process that starts while the database is unavailable serves from the file of its predecessor.
 * At every start the rows are loaded as possibly outdated: while the database is available, a value is read from there before it is used,
 * and all values are reloaded one by one.
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

  /** Loads the snapshot and writes it from now on. `place`: the index of this gateway process. Never rejects. */
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

  /** Writes the snapshot a last time. */
  async onApplicationShutdown(): Promise<void> {
    if (!this.isKept) return;
    await this.job.stop();
    await this.write().catch((error: unknown) => {
      logger.warn({ err: error }, 'The snapshot of keys and configs cannot be written.');
    });
  }

  /**
   * Reloads values that are due and writes the file if it is due. Rounds do not overlap: while one waits for an unresponsive database, no
   * other starts.
   */
  round(): Promise<void> {
    return this.job.round();
  }

  /** In the order of their last read, oldest first, which is the order in which they are reloaded. */
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
