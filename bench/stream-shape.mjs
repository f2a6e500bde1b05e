/** The streams of the fake upstream: this many events with text, at this interval. */
export const FRAMES = 64;
export const FRAME_INTERVAL_MS = 20;
