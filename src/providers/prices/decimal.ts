const NANO_DIGITS = 9;

/**
 * Turns dollars, as a price list writes them, into whole nano-dollars. Works on the decimal digits, because
 * `0.07 * 1e9` is not an integer in floating point. Digits below a nano-dollar are rounded half up.
 * Null for what is not a number of zero or more, and for amounts beyond an exact integer.
 */
export function nanoDollars(dollars: unknown): number | null {
  if (typeof dollars !== 'number') return null;
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(dollars));
  if (!match) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const nano = shift(whole + fraction, NANO_DIGITS - fraction.length + Number(exponent));
  return Number.isSafeInteger(nano) ? nano : null;
}

/** The digits times ten to the power of `places`, rounded half up. */
function shift(digits: string, places: number): number {
  if (places >= 0) return Number(digits + '0'.repeat(places));
  const padded = digits.padStart(1 - places, '0');
  const rounded = Number(padded.slice(0, places));
  return Number(padded.at(places)) >= 5 ? rounded + 1 : rounded;
}
