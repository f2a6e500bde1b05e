import { MOST_TOKENS } from '../../common/contracts/usage.js';

/** The highest cost of one call that a client may report, in dollars. The sums of nine thousand such costs fit 64 bits. */
export const MOST_USD = 1_000_000;

const DEEPEST = 4;

/** The place in a document of a number beyond the largest count of tokens, step by step; null when all of them fit. */
export function placeOfTooLarge(value: unknown, depth = 0): readonly string[] | null {
  if (typeof value === 'number') return value > MOST_TOKENS ? [] : null;
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return null;
  for (const [name, inner] of Object.entries(value)) {
    const place = placeOfTooLarge(inner, depth + 1);
    if (place) return [name, ...place];
  }
  return null;
}
