const NANO_DIGITS = 9;

/** Whole nano-dollars as dollars, exactly and without trailing zeros: 150_000_000 is `0.15`. */
export function dollars(nano: number): string {
  const digits = String(nano).padStart(NANO_DIGITS + 1, '0');
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, '');
  const whole = digits.slice(0, -NANO_DIGITS);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
