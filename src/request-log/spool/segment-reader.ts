import { type FileHandle, open } from 'node:fs/promises';
import { decodeFrame, nextMagic, type StoredFrame } from './frame.js';
import type { SpoolPosition } from './spool-files.js';

/** A frame and the offset after it. */
export interface PlacedFrame {
  readonly frame: StoredFrame;
  readonly end: number;
}

/**
 * The result of reading part of a segment.
 *
 * `more`: the window was full, read again from `next`. `end`: everything was read. `torn`: the bytes at `next` are not a whole frame, and
 * no whole frame follows: either a frame is being written, or the writer died.
 */
export interface SegmentLook {
  readonly frames: readonly PlacedFrame[];
  readonly next: number;
  readonly status: 'more' | 'end' | 'torn';
  /** Number of damaged ranges that were skipped. */
  readonly damaged: number;
  /** Offset of the first damaged range. */
  readonly damagedAt: number | null;
}

const WINDOW_BYTES = 4 * 1024 * 1024;

/**
 * Reads whole frames of a segment from `offset` on, about 4 MiB at a time. With `skipDamage`, invalid bytes are skipped if a frame follows;
 * otherwise reading stops there, because a partly written frame looks damaged too. Rejects with ENOENT when the segment was deleted.
 */
export async function readSegment(
  path: string,
  { segment, offset }: SpoolPosition,
  skipDamage: boolean,
): Promise<SegmentLook> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const rest = Math.max(0, size - offset);
    const window = Math.min(rest, WINDOW_BYTES);
    const terms = { segment, offset, skipDamage };
    const look = parse(await read(file, offset, window), { ...terms, isWhole: window === rest });
    if (look) return look;
    const whole = await read(file, offset, rest);
    return (
      parse(whole, { ...terms, isWhole: true }) ?? {
        frames: [],
        next: offset,
        status: 'end',
        damaged: 0,
        damagedAt: null,
      }
    );
  } finally {
    await file.close();
  }
}

async function read(file: FileHandle, offset: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes);
  let done = 0;
  while (done < bytes) {
    const { bytesRead } = await file.read(buffer, done, bytes - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}

interface FrameReadOptions extends SpoolPosition {
  /** The bytes reach to the end of the file. */
  readonly isWhole: boolean;
  readonly skipDamage: boolean;
}

/** Null when the window contains no whole frame but the file continues. */
function parse(bytes: Buffer, terms: FrameReadOptions): SegmentLook | null {
  const { segment, offset, skipDamage } = terms;
  const frames: PlacedFrame[] = [];
  let at = 0;
  let damaged = 0;
  let damagedAt: number | null = null;
  for (;;) {
    const found = decodeFrame(bytes, at, segment);
    if (typeof found === 'object') {
      at += found.bytes;
      frames.push({ frame: found, end: offset + at });
      continue;
    }
    const look = { frames, next: offset + at, damaged, damagedAt };
    const status = found === 'nothing' ? 'end' : 'torn';
    if (!isEnough(terms, status, bytes.length - at))
      return frames.length > 0 ? { ...look, status: 'more' } : null;
    const resume = skipDamage ? nextFrame(bytes, at + 1, segment) : -1;
    if (resume === -1) return { ...look, status };
    damaged += 1;
    damagedAt ??= offset + at;
    at = resume;
  }
}

/**
 * Whether the bytes prove that no frame begins here: the whole file does, and so do zeros, which in a reused file precede megabytes of old
 * data.
 */
function isEnough({ isWhole, skipDamage }: FrameReadOptions, status: 'end' | 'torn', rest: number): boolean {
  return isWhole || (status === 'end' && !skipDamage && rest > 0);
}

/** Offset of the next whole frame; -1 without one. */
function nextFrame(bytes: Buffer, from: number, segment: number): number {
  for (let at = nextMagic(bytes, from); at !== -1; at = nextMagic(bytes, at + 1))
    if (typeof decodeFrame(bytes, at, segment) === 'object') return at;
  return -1;
}
