import { z } from 'zod';

export const aNumber = (rule?: { readonly error: string }) => z.coerce.number(rule);
/** A whole number, at least `minimum`. */
export const wholeNumberSetting = (fallback: number, minimum: number, description: string) =>
  aNumber().int().min(minimum).default(fallback).describe(description);

/** A whole number without a default. */
export const wholeOrNone = (minimum: number, description: string) =>
  aNumber().int().min(minimum).optional().describe(description);

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const A_DURATION = /^(\d+)(ms|s|m|h|d)$/;

/** Milliseconds, or a number with its unit: `90s`, `15m`, `12h`, `7d`. */
function inMilliseconds(text: unknown): unknown {
  const [, count, unit = ''] = A_DURATION.exec(String(text).trim()) ?? [];
  return count === undefined ? text : Number(count) * (UNIT_MS[unit] ?? 1);
}

const DURATION_RULE = 'it must be milliseconds, or a number with ms, s, m, h or d, such as 15m';

/** A duration in milliseconds, at least `minimum`. */
export const duration = (fallback: number, minimum: number, description: string) =>
  z
    .preprocess(
      (text) => (text === undefined ? text : inMilliseconds(text)),
      aNumber({ error: DURATION_RULE }).int(DURATION_RULE).min(minimum).default(fallback),
    )
    .describe(description);
