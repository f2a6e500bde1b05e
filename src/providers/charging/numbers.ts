import type { Json } from '../endpoint.js';

/**
 * A number that bounds a use, rounded up; null for anything else. Some providers read numbers in strings, and forms have
 * nothing but strings, so these count.
 */
export function boundOf(value: unknown): number | null {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
  const number = isNumber ? Math.ceil(Number(value)) : Number.NaN;
  return Number.isSafeInteger(number) && number > 0 ? number : null;
}

/** The highest number that any of the fields has; null where none has one. A field of a form may come twice. */
export function highest(places: readonly Json[], names: readonly string[]): number | null {
  const values = places.flatMap((place) => names.flatMap((name) => place[name]));
  const numbers = values.map(boundOf).filter((number) => number !== null);
  return numbers.length === 0 ? null : Math.max(...numbers);
}
