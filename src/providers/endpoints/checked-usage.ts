import type { Usage } from '../../common/contracts/request-log.js';
import { count } from './reading.js';

type FinerKind = Exclude<keyof Usage, 'input_tokens' | 'output_tokens'>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The total that each finer kind is part of. */
const TOTAL_OF = {
  cached_input_tokens: 'input_tokens',
  cache_write_tokens: 'input_tokens',
  audio_input_tokens: 'input_tokens',
  reasoning_tokens: 'output_tokens',
  audio_output_tokens: 'output_tokens',
} as const satisfies Record<FinerKind, keyof Usage>;

const KINDS = Object.keys(TOTAL_OF) as readonly FinerKind[];

/** Finer counts as an answer tells them; null or absent where it tells none. */
export type FinerCounts = Readonly<Partial<Record<FinerKind, number | null>>>;

/**
 * A usage made of two totals and finer counts of tokens.
 *
 * Null unless both totals are sound: half a usage would be charged as if the other half were free, whereas null makes
 * the gateway count the text. A finer count is never more than its total, and one of zero says nothing.
 */
export function checkedUsage(
  input: number | null,
  output: number | null,
  finer: FinerCounts = {},
): Usage | null {
  if (input === null || output === null) return null;
  if (!Number.isSafeInteger(input) || !Number.isSafeInteger(output)) return null;
  const usage: Mutable<Usage> = { input_tokens: input, output_tokens: output };
  for (const kind of KINDS) {
    const value = finer[kind];
    if (value) usage[kind] = Math.min(value, usage[TOTAL_OF[kind]]);
  }
  return usage;
}

/**
 * A count in a stream whose events tell totals so far: the latest one, or what was known where an event leaves it out
 * or at zero. Null when neither tells one.
 */
export function latest(told: unknown, known: number | undefined): number | null {
  const value = count(told);
  return value === null || value === 0 ? (known ?? value) : value;
}
