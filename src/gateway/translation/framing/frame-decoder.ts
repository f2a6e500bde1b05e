import type { StreamEvent } from '../../../providers/translation.js';

/** The reading of one stream's framing: bytes cut anywhere in, whole events out. */
export interface FrameDecoder {
  /** Nothing waits for the rest of a frame, and the next bytes are read as those behind a frame are. */
  readonly isBetweenFrames: boolean;
  /**
   * The events that these bytes complete. Throws a plain Error when the bytes cannot be frames, or when one frame passes
   * `FRAME_BYTES_MAX`; the stream is broken then and the decoder must not be fed again.
   */
  feed(chunk: Buffer): readonly StreamEvent[];
  /** The provider closed the stream. Call it once. Throws as `feed` does. */
  end(): readonly StreamEvent[];
}

/** Bytes of one frame at most. What waits for its end waits in memory, so that there must be a bound. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;

/** What a decoder throws when a frame passes the bound. */
export const frameTooLong = (): Error => new Error('A frame of the stream is longer than 16 MiB.');
