const NANO_DIGITS = 9;

/** Converts dollars, as written in a price list, to whole nano-dollars. */
export const nanoDollars = (dollars: unknown): number | null => scaled(dollars, NANO_DIGITS);

/**
 * An amount times ten to the power of `digits`, as a whole number. Works on the decimal digits, because `0.07 * 1e9` is not an integer in
 * floating point. Fractions are rounded half up. Null for values that are not numbers of zero or more, and for amounts beyond an exact
 * integer.
 */
export function scaled(amount: unknown, digits: number): number | null {
  if (typeof amount !== 'number') return null;
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(amount));
  if (!match) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const result = shift(whole + fraction, digits - fraction.length + Number(exponent));
  return Number.isSafeInteger(result) ? result : null;
}

/** The digits times ten to the power of `places`, rounded half up. */
function shift(digits: string, places: number): number {
  if (places >= 0) return Number(digits + '0'.repeat(places));
  const padded = digits.padStart(1 - places, '0');
  const rounded = Number(padded.slice(0, places));
  return Number(padded.at(places)) >= 5 ? rounded + 1 : rounded;
}

/** Converts dollars as exact decimals to whole nano-dollars. Throws a RangeError for an amount that has no such number. */
export function exactNanoDollars(dollars: string): number {
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d{1,9}))?$/.exec(dollars) ?? [];
  const nano = Number(whole + fraction.padEnd(NANO_DIGITS, '0'));
  if (whole === '' || !Number.isSafeInteger(nano))
    throw new RangeError(`"${dollars}" is not an exact amount.`);
  return nano;
}
