/** The granularities of rollups, finest first. Each is derived from the one before; the first from request rows. */
export const GRAINS = ['minute', 'hour', 'day'] as const;

export type Grain = (typeof GRAINS)[number];

export const GRAIN_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const satisfies Record<
  Grain,
  number
>;

/** The granularity derived from this one; null after the coarsest. */
export const NEXT_GRAIN = { minute: 'hour', hour: 'day', day: null } as const satisfies Record<
  Grain,
  Grain | null
>;

/** The start, in UTC, of the bucket that contains a moment. Milliseconds since the epoch. */
export function startOf(grain: Grain, at: number): number {
  return Math.floor(at / GRAIN_MS[grain]) * GRAIN_MS[grain];
}
