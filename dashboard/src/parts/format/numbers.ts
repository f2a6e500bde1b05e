/** An en dash stands for a missing value. */
export const NONE = '–';

const grouped = new Intl.NumberFormat('en-US');
const NANO_PER_CENT = 10_000_000;
const NANO_PER_TEN_THOUSANDTH = 100_000;

/** An exact count: 48,204. */
export const exact = (count: number): string => grouped.format(count);

/** A short count: 950, 1.2k, 3.4M. */
export function short(count: number): string {
  const steps = [
    [1e9, 'B'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const;
  const step = steps.find(([size]) => Math.abs(count) >= size * 0.9995);
  if (!step) return String(Math.round(count));
  const [size, unit] = step;
  const value = count / size;
  return `${trimmed(value.toFixed(Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2))}${unit}`;
}

/** Three significant digits suffice; 1.20k becomes 1.2k. */
const trimmed = (digits: string): string => (digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits);

/**
 * Money from integer nano-dollars, without floating-point sums: $12.34 from a dollar on, $0.0041 below, <$0.0001 for smaller amounts. Null
 * is unknown.
 */
export function money(nano: number | null): string {
  if (nano === null) return NONE;
  const sign = nano < 0 ? '−' : '';
  const amount = Math.abs(Math.round(nano));
  if (amount === 0) return '$0';
  const tenThousandths = Math.round(amount / NANO_PER_TEN_THOUSANDTH);
  if (tenThousandths === 0) return `<${sign}$0.0001`;
  if (tenThousandths >= 10_000) {
    const cents = Math.round(amount / NANO_PER_CENT);
    return `${sign}$${grouped.format(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, '0')}`;
  }
  const digits = `0.${String(tenThousandths).padStart(4, '0')}`;
  return `${sign}$${digits.endsWith('00') ? digits.slice(0, -2) : digits}`;
}

/** Every digit, for a breakdown: $0.000154. */
export function exactMoney(nano: number | null): string {
  if (nano === null) return NONE;
  const amount = Math.abs(Math.round(nano));
  const [whole, rest] = [Math.floor(amount / 1e9), String(amount % 1e9).padStart(9, '0')];
  const digits = rest.replace(/0+$/, '').padEnd(2, '0');
  return `${nano < 0 ? '−' : ''}$${grouped.format(whole)}.${digits}`;
}

/** Analytics reports cents; the dashboard uses nano-dollars. */
export const nanoOfCents = (cents: number): number => Math.round(cents * NANO_PER_CENT);
export const nanoOfDollars = (dollars: number): number => Math.round(dollars * 100 * NANO_PER_CENT);

/** 9 ms, 412 ms, 2.31 s, 30.0 s, 2 min 5 s. */
export function duration(ms: number | null): string {
  if (ms === null) return NONE;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(2)} s`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** 12.3 KB: bytes in readable form. */
export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)} KB` : `${(count / 1_000_000).toFixed(1)} MB`;
}

/** 0.41 % */
export const percent = (value: number): string =>
  `${value === 0 ? '0' : value < 10 ? value.toFixed(2) : value.toFixed(1)} %`;
