/** The granularities of rollups, finest first. Each is derived from the one before; the first from request rows. */
export const GRANULARITIES = ['minute', 'hour', 'day'] as const;

export type Granularity = (typeof GRANULARITIES)[number];

export const GRANULARITY_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const satisfies Record<
  Granularity,
  number
>;

/** The granularity derived from this one; null after the coarsest. */
export const NEXT_GRANULARITY = { minute: 'hour', hour: 'day', day: null } as const satisfies Record<
  Granularity,
  Granularity | null
>;

/** The start, in UTC, of the bucket that contains a moment. Milliseconds since the epoch. */
export function startOf(granularity: Granularity, at: number): number {
  return Math.floor(at / GRANULARITY_MS[granularity]) * GRANULARITY_MS[granularity];
}
