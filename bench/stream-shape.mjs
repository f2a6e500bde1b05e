/** The streams of the fake upstream: this many events with text, at this interval; the variable makes them slower. */
export const FRAMES = 64;
export const FRAME_INTERVAL_MS = Number(process.env.BENCH_FRAME_INTERVAL_MS ?? 20);
