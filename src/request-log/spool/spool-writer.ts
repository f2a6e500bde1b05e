import { randomUUID } from 'node:crypto';
import { mkdirSync, utimes, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import type { Allocate, EncodedFrame } from './frame.js';
import { HEARTBEAT_MS, writeOwner } from './owner.js';
import { writeVector, type WriteVector } from './segment.js';
import { SegmentChain, type SpoolState } from './segment-chain.js';
import { ENDED_FILE, OWNER_FILE } from './spool-files.js';
import { spoolCounts } from './spool-metrics.js';

export interface SpoolWriterOptions {
  /** The spool: `<data dir>/spool`. Each writer creates its own folder in it. */
  readonly spool: string;
  readonly logger: Logger;
  /** Disk space allocated in advance for when the disk is full. */
  readonly reserveBytes?: number;
  readonly segmentBytes?: number;
  readonly idleMs?: number;
  readonly write?: WriteVector;
}

const MIB = 1024 * 1024;
const RESERVE_BYTES = 64 * MIB;
const SEGMENT_BYTES = 16 * MIB;
const IDLE_MS = 60_000;
/** Memory for the frames of one event loop turn. */
const SLAB_BYTES = 512 * 1024;

/**
 * Appends frames to the spool for one process.
 *
 * `append` only queues. Everything appended during one event loop turn goes to the kernel in one write at its end, regardless of the number
 * of requests; then the callbacks run. Nothing here throws to a caller or waits for the disk.
 */
export class SpoolWriter {
  private chain: SegmentChain;
  private folder: string;
  private pending: EncodedFrame[] = [];
  private waiting: (() => void)[] = [];
  private isScheduled = false;
  private slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  private slabUsed = 0;
  private readonly heartbeat: NodeJS.Timeout;

  constructor(private readonly options: SpoolWriterOptions) {
    this.folder = this.makeFolder();
    this.id = basename(this.folder);
    this.chain = this.begin();
    this.heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS).unref();
  }

  /** Name of the folder that this writer started with. */
  readonly id: string;

  get state(): SpoolState {
    return this.chain.state;
  }

  /** Memory for a frame that is appended in this event loop turn; frames of one turn are adjacent where they fit. */
  readonly allocate: Allocate = (bytes) => {
    const end = this.slabUsed + bytes;
    if (end > SLAB_BYTES) return Buffer.allocUnsafe(bytes);
    const memory = this.slab.subarray(this.slabUsed, end);
    this.slabUsed = end;
    return memory;
  };

  append(frame: EncodedFrame): void {
    this.pending.push(frame);
    this.schedule();
  }

  /** Calls back at the end of this event loop turn, once everything appended so far has reached the kernel. */
  whenWritten(then: () => void): void {
    this.waiting.push(then);
    this.schedule();
  }

  /** Flushes everything to the disk and marks the folder as ended. Nothing may be appended afterwards. */
  async close(): Promise<void> {
    clearInterval(this.heartbeat);
    this.flush();
    await this.chain.finish();
    writeFileSync(join(this.folder, ENDED_FILE), '', { mode: 0o600 });
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => this.flush());
  }

  private flush(): void {
    this.isScheduled = false;
    const frames = this.pending;
    const callbacks = this.waiting;
    this.pending = [];
    this.waiting = [];
    if (frames.length > 0) this.write(frames);
    for (const callback of callbacks) this.call(callback);
  }

  private write(frames: readonly EncodedFrame[]): void {
    if (!this.chain.write(frames)) this.slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    this.slabUsed = 0;
    for (const { bytes } of frames) spoolCounts.bytes += bytes;
  }

  /** A failing callback must not prevent the others. */
  private call(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.options.logger.error({ err: error }, 'A callback after a write to the spool failed.');
    }
  }

  private makeFolder(): string {
    const folder = join(this.options.spool, randomUUID());
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeOwner(folder);
    return folder;
  }

  private begin(): SegmentChain {
    const { logger, reserveBytes, segmentBytes, idleMs, write } = this.options;
    return new SegmentChain({
      folder: this.folder,
      logger,
      reserveBytes: reserveBytes ?? RESERVE_BYTES,
      segmentBytes: segmentBytes ?? SEGMENT_BYTES,
      idleMs: idleMs ?? IDLE_MS,
      write: write ?? writeVector,
    });
  }

  private beat(): void {
    this.chain.tidy(Date.now());
    const now = new Date();
    utimes(join(this.folder, OWNER_FILE), now, now, (error) => {
      if (error?.code === 'ENOENT') this.restart();
    });
  }

  /** Another process took this one for dead and removed its folder. Later frames must not go to a deleted file. */
  private restart(): void {
    this.options.logger.error('The folder of this process in the spool was removed. Starting a new one.');
    try {
      const old = this.chain;
      this.folder = this.makeFolder();
      this.chain = this.begin();
      void old.finish();
    } catch (error) {
      this.options.logger.error(
        { err: error },
        'A new folder in the spool could not be created. Trying again.',
      );
    }
  }
}
