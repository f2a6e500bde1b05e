/**
 * A log-linear histogram like HdrHistogram: every power of two is divided into the same number of buckets, so that the error of a
 * percentile stays below 1 % from 0.1 µs to hours, in a fixed 40 KiB and without keeping the samples. See
 * https://hdrhistogram.github.io/HdrHistogram/.
 */
const SUB_BUCKET_BITS = 7;
const SUB_BUCKETS = 2 ** SUB_BUCKET_BITS;
const MAGNITUDES = 40;
/** Ticks per microsecond: a tick is 0.1 µs. */
const TICKS = 10;

export class Histogram {
  #counts = new Float64Array(SUB_BUCKETS * MAGNITUDES);
  #total = 0;
  #sum = 0;
  #max = 0;

  get count() {
    return this.#total;
  }

  /** @param {number} microseconds negative values count as 0: two clock readings may be equal. */
  record(microseconds) {
    const value = Math.max(0, microseconds);
    this.#counts[indexOf(Math.round(value * TICKS))] += 1;
    this.#total += 1;
    this.#sum += value;
    if (value > this.#max) this.#max = value;
  }

  /** @returns {number} microseconds below which that share of the samples lies; NaN without samples. */
  percentile(share) {
    if (this.#total === 0) return Number.NaN;
    const rank = Math.ceil(share * this.#total);
    let seen = 0;
    for (let index = 0; index < this.#counts.length; index += 1) {
      seen += this.#counts[index];
      if (seen >= rank) return Math.min(this.#max, middleOf(index) / TICKS);
    }
    return this.#max;
  }

  /** The figures of a table, microseconds. */
  summary() {
    return {
      count: this.#total,
      mean: this.#total === 0 ? Number.NaN : this.#sum / this.#total,
      p50: this.percentile(0.5),
      p90: this.percentile(0.9),
      p95: this.percentile(0.95),
      p99: this.percentile(0.99),
      p999: this.percentile(0.999),
      max: this.#max,
    };
  }
}

/** Values below twice the number of sub-buckets are exact; above, the leading bits select the bucket. */
function indexOf(ticks) {
  if (ticks < SUB_BUCKETS) return ticks;
  const magnitude = Math.floor(Math.log2(ticks)) - SUB_BUCKET_BITS;
  const index = SUB_BUCKETS * (magnitude + 1) + Math.floor(ticks / 2 ** magnitude) - SUB_BUCKETS;
  return Math.min(index, SUB_BUCKETS * MAGNITUDES - 1);
}

function middleOf(index) {
  if (index < SUB_BUCKETS) return index;
  const magnitude = Math.floor(index / SUB_BUCKETS) - 1;
  const lowest = (SUB_BUCKETS + (index % SUB_BUCKETS)) * 2 ** magnitude;
  return lowest + (2 ** magnitude - 1) / 2;
}
