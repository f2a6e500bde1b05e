import type { Json } from '../endpoint.js';

/**
 * A numeric limit, rounded up; null for anything else. Strings count too, because some providers accept numbers in them, and forms have
 * only strings.
 */
export function boundOf(value: unknown): number | null {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
  const number = isNumber ? Math.ceil(Number(value)) : Number.NaN;
  return Number.isSafeInteger(number) && number > 0 ? number : null;
}

/** The highest number in any of the fields; null if none has one. A field of a form may occur twice. */
export function highest(places: readonly Json[], names: readonly string[]): number | null {
  let most: number | null = null;
  for (const place of places)
    for (const name of names) {
      const value = place[name];
      if (value !== undefined) most = higher(most, Array.isArray(value) ? highestOf(value) : boundOf(value));
    }
  return most;
}

const highestOf = (values: readonly unknown[]): number | null =>
  values.reduce<number | null>((most, value) => higher(most, boundOf(value)), null);

const higher = (one: number | null, other: number | null): number | null =>
  one === null || (other !== null && other > one) ? other : one;
