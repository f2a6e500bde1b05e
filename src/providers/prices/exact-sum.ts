/** Adds up counts at prices, in nano-dollars. */
export interface Summands {
  /** Adds `count` at `rate` nano-dollars for each `per` of them. `per` must divide `COMMON`. */
  add(count: number, rate: number, per: number): void;
}

export const MILLION = 1_000_000;
export const THOUSAND = 1_000;
export const HOUR_MS = 3_600_000;

const HALF = MILLION / 2;

/** In plain numbers, because nearly every request is small and each is priced. Supports a million and its divisors. */
export class PlainSum implements Summands {
  private total = HALF;

  add(count: number, rate: number, per: number): void {
    this.total += count * rate * (MILLION / per);
  }

  /** Rounded half up; null if plain numbers are not exact. A sum of whole products below 2^53 is exact. */
  get nanoDollars(): number | null {
    if (!(this.total <= Number.MAX_SAFE_INTEGER)) return null;
    return (this.total - (this.total % MILLION)) / MILLION;
  }
}

/** The least common multiple of a million and the milliseconds of an hour. */
const COMMON = 18_000_000n;

export class ExactSum implements Summands {
  private total = COMMON / 2n;

  add(count: number, rate: number, per: number): void {
    this.total += BigInt(count) * BigInt(rate) * (COMMON / BigInt(per));
  }

  /** Rounded half up, limited to the largest exact integer. */
  get nanoDollars(): number {
    const nano = this.total / COMMON;
    return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano);
  }
}

/** Counts that are not whole numbers of zero or more count as zero. */
export const countOrZero = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;

/** The part of a total that `part` does not cover. */
export const rest = (total: unknown, part: unknown): number =>
  Math.max(0, countOrZero(total) - countOrZero(part));
