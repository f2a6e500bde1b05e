import { type FileHandle, open } from 'node:fs/promises';
import { decodeFrame, nextMagic, type StoredFrame } from './frame.js';
import type { SpoolPosition } from './spool-files.js';

/** A frame and the offset behind it. */
export interface PlacedFrame {
  readonly frame: StoredFrame;
  readonly end: number;
}

/**
 * What a look into a segment found.
 *
 * `more`: the window was full, look again at `next`. `end`: all that is there was read. `torn`: at `next` lies something
 * that is no whole frame, and no whole frame follows: either it is being written just now, or its writer died.
 */
export interface SegmentLook {
  readonly frames: readonly PlacedFrame[];
  readonly next: number;
  readonly status: 'more' | 'end' | 'torn';
  /** Damaged places that were skipped. */
  readonly damaged: number;
  /** Offset of the first of them. */
  readonly damagedAt: number | null;
}

const WINDOW_BYTES = 4 * 1024 * 1024;

/**
 * Reads whole frames of a segment from `offset` on, about 4 MiB at a time. With `skipDamage`, what is no frame is
 * skipped if a frame follows; without it reading stops there, because a frame in the making looks damaged too.
 * Rejects with ENOENT when the segment is gone.
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

interface Terms extends SpoolPosition {
  /** The bytes reach to the end of the file. */
  readonly isWhole: boolean;
  readonly skipDamage: boolean;
}

/** Null when the window is too small to judge: nothing whole is in it, but the file goes on. */
function parse(bytes: Buffer, terms: Terms): SegmentLook | null {
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
 * Whether what was read suffices to say that no frame begins here: all of the file does, and so do zeros, behind which a
 * file that is used again holds megabytes of its older use.
 */
function isEnough({ isWhole, skipDamage }: Terms, status: 'end' | 'torn', rest: number): boolean {
  return isWhole || (status === 'end' && !skipDamage && rest > 0);
}

/** Where the next whole frame begins; -1 when there is none. */
function nextFrame(bytes: Buffer, from: number, segment: number): number {
  for (let at = nextMagic(bytes, from); at !== -1; at = nextMagic(bytes, at + 1))
    if (typeof decodeFrame(bytes, at, segment) === 'object') return at;
  return -1;
}
