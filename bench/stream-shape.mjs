/** The streams of the fake upstream: so many events with text, at this pace. */
export const FRAMES = 64;
export const FRAME_INTERVAL_MS = 20;
