/**
 * A sparse log-linear histogram of non-negative whole numbers: bucket number to count.
 *
 * Each power of two is divided into 64 buckets of equal width, so a value read back from its bucket is off by less than 1/128 (0.8 %), and
 * values below 64 are exact. Bucket borders are fixed, so histograms of different minutes, keys and processes add up without loss.
 *
 * The values are microseconds. The format is that of HdrHistogram with a precision of 64: https://hdrhistogram.github.io/HdrHistogram/
 */
export type Histogram = Map<number, number>;

/** The stored form: a JSON object keyed by bucket number, without empty buckets. */
export type StoredHistogram = Readonly<Record<string, number>>;

const PER_OCTAVE = 64;
/** 64 = 2^6: values below are their own bucket. */
const EXACT_BITS = 6;

/** The bucket of a value. Fractions are rounded; negative values and NaN count as 0. */
export function bucketOf(value: number): number {
  const whole = value > 0 ? Math.min(Math.round(value), Number.MAX_SAFE_INTEGER) : 0;
  if (whole < PER_OCTAVE) return whole;
  const exponent = floorLog2(whole);
  const step = 2 ** (exponent - EXACT_BITS);
  return PER_OCTAVE * (exponent - EXACT_BITS) + Math.floor(whole / step);
}

/** The representative value of a bucket: its middle. */
export function valueOf(bucket: number): number {
  if (bucket < PER_OCTAVE) return bucket;
  const octave = Math.floor(bucket / PER_OCTAVE) - 1;
  const step = 2 ** octave;
  return (PER_OCTAVE + (bucket % PER_OCTAVE)) * step + (step - 1) / 2;
}

export function record(histogram: Histogram, value: number): void {
  const bucket = bucketOf(value);
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1);
}

/** The sum of two histograms. Neither is changed. */
export function merge(one: Histogram, other: Histogram): Histogram {
  const sum = new Map(one);
  for (const [bucket, count] of other) sum.set(bucket, (sum.get(bucket) ?? 0) + count);
  return sum;
}

export function countOf(histogram: Histogram): number {
  let total = 0;
  for (const count of histogram.values()) total += count;
  return total;
}

/** The quantiles of a histogram, which is sorted once for all of them. */
export class Quantiles {
  private readonly ordered: readonly (readonly [bucket: number, count: number])[];
  private readonly total: number;

  constructor(histogram: Histogram) {
    this.ordered = [...histogram].sort(([left], [right]) => left - right);
    this.total = countOf(histogram);
  }

  /** The value at a quantile from 0 to 1 (nearest rank), or null when nothing was counted. */
  at(share: number): number | null {
    const rank = Math.max(1, Math.ceil(share * this.total));
    let seen = 0;
    for (const [bucket, count] of this.ordered) {
      seen += count;
      if (seen >= rank) return valueOf(bucket);
    }
    return null;
  }
}

/** One more than the bucket of the largest bigint. */
export const BUCKETS = 3_776;

/**
 * The value at a quantile of counts by bucket number (nearest rank), or null when nothing was counted. Loops by index: iterators took five
 * times as long, and a page of end users ranks thousands.
 */
export function quantileOf(counts: Readonly<Float64Array>, share: number): number | null {
  let total = 0;
  for (let bucket = 0; bucket < counts.length; bucket++) total += counts[bucket] ?? 0;
  const rank = Math.max(1, Math.ceil(share * total));
  let seen = 0;
  for (let bucket = 0; bucket < counts.length; bucket++) {
    seen += counts[bucket] ?? 0;
    if (seen >= rank) return valueOf(bucket);
  }
  return null;
}

export function toStored(histogram: Histogram): StoredHistogram {
  return Object.fromEntries(histogram);
}

export function fromStored(stored: StoredHistogram): Histogram {
  return new Map(Object.entries(stored).map(([bucket, count]) => [Number(bucket), count]));
}

/** Exact for every safe integer; `Math.log2` may round up just below a power of two. */
function floorLog2(whole: number): number {
  const high = Math.floor(whole / 2 ** 32);
  return high > 0 ? 63 - Math.clz32(high) : 31 - Math.clz32(whole);
}
