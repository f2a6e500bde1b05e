import type { Usage, UsageCount } from '../../common/contracts/usage.js';
import { count } from './reading.js';

/** Kinds that are not part of a total. */
const UNITS = [
  'citation_tokens',
  'web_searches',
  'file_searches',
  'audio_input_ms',
  'document_pages',
  'annotated_pages',
  'search_units',
  'input_characters',
  'audio_output_ms',
  'video_output_ms',
  'image_count',
] as const;

type FinerKind = Exclude<UsageCount, 'input_tokens' | 'output_tokens' | (typeof UNITS)[number]>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The total that each finer kind is part of. */
const TOTAL_OF = {
  cached_input_tokens: 'input_tokens',
  cache_write_tokens: 'input_tokens',
  audio_input_tokens: 'input_tokens',
  cache_write_1h_tokens: 'cache_write_tokens',
  cached_audio_input_tokens: 'cached_input_tokens',
  cached_image_input_tokens: 'cached_input_tokens',
  image_input_tokens: 'input_tokens',
  video_input_tokens: 'input_tokens',
  image_output_tokens: 'output_tokens',
  video_output_tokens: 'output_tokens',
  reasoning_tokens: 'output_tokens',
  audio_output_tokens: 'output_tokens',
} as const satisfies Record<FinerKind, UsageCount>;

const KINDS = Object.keys(TOTAL_OF) as readonly FinerKind[];

/** Finer counts of a response; null or absent if it reports none. */
export type FinerCounts = Readonly<Partial<Record<FinerKind | (typeof UNITS)[number], number | null>>>;

const isSound = (total: number | null): total is number => total !== null && Number.isSafeInteger(total);

/**
 * A usage of two totals and finer counts of tokens.
 *
 * Null unless both totals are valid: half a usage would be charged as if the other half were free, whereas null makes the gateway count the
 * text. A finer count never exceeds its total, and zeros are omitted.
 */
export function checkedUsage(
  input: number | null,
  output: number | null,
  finer: FinerCounts = {},
): Usage | null {
  if (!isSound(input) || !isSound(output)) return null;
  const usage: Mutable<Usage> = { input_tokens: input, output_tokens: output };
  for (const kind of KINDS) {
    const value = finer[kind];
    if (value) usage[kind] = Math.min(value, usage[TOTAL_OF[kind]] ?? 0);
  }
  for (const unit of UNITS) if (finer[unit]) usage[unit] = finer[unit];
  return usage;
}

/**
 * A count in a stream whose events report totals so far: the latest one, or the previous one if an event omits it or has zero. Null when
 * there is none.
 */
export function latest(reported: unknown, known: number | undefined): number | null {
  const value = count(reported);
  return value === null || value === 0 ? (known ?? value) : value;
}
