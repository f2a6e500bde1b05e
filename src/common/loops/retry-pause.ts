/** How long to pause between retries, in milliseconds. */
export interface RetryPause {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Beyond this exponent every pause is at its maximum, and the power must not become infinite. */
const MAX_EXPONENT = 30;

/** The pause after `failures` failures in a row, counted from one: it doubles with each, up to the maximum. */
export const retryPauseMs = (failures: number, { firstMs, maxMs }: RetryPause): number =>
  Math.min(firstMs * 2 ** Math.min(failures - 1, MAX_EXPONENT), maxMs);
