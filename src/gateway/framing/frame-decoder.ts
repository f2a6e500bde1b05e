import type { StreamEvent } from '../../providers/translation.js';

/** Decodes one stream's framing: takes bytes cut anywhere and returns whole events. */
export interface FrameDecoder {
  /** No partial frame is pending, and the next bytes begin a frame. */
  readonly isBetweenFrames: boolean;
  /**
   * The events that these bytes complete. Throws a plain Error when the bytes cannot be frames, or when one frame exceeds
   * `FRAME_BYTES_MAX`; then the stream is broken and the decoder must not be used again.
   */
  feed(chunk: Buffer): readonly StreamEvent[];
  /** The provider closed the stream. Call it once. Throws as `feed` does. */
  end(): readonly StreamEvent[];
}

/** Maximum size of a frame. An incomplete frame is held in memory, so it needs a limit. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;

/** The error of a frame above the limit. */
export const frameTooLong = (): Error => new Error('A frame of the stream is longer than 16 MiB.');
