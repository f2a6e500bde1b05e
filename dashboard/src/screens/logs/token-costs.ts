import type { LogAttempt, LogDetail } from '../../api/logs';

/** One row of a breakdown: a number of tokens of a kind at a price. */
export interface TokenCost {
  readonly kind: string;
  readonly tokens: number;
  /** Dollars per million tokens; null if the price does not define the kind. */
  readonly usdPerMillion: number | null;
}

/** A kind without a price costs as much as the kind that contains it. */
const PART_OF: Readonly<Record<string, string>> = {
  cached_input: 'input',
  cache_write: 'input',
  audio_input: 'input',
  reasoning: 'output',
  audio_output: 'output',
};

type Usage = Pick<
  LogDetail,
  | 'input_tokens'
  | 'output_tokens'
  | 'cached_input_tokens'
  | 'cache_write_tokens'
  | 'reasoning_tokens'
  | 'audio_input_tokens'
  | 'audio_output_tokens'
>;

/** Tokens by kind, each counted once: cached, written and audio tokens are subtracted from input and output. */
export function tokensByKind(usage: Usage): readonly (readonly [kind: string, tokens: number])[] {
  const parts = {
    cached_input: usage.cached_input_tokens ?? 0,
    cache_write: usage.cache_write_tokens ?? 0,
    audio_input: usage.audio_input_tokens ?? 0,
    reasoning: usage.reasoning_tokens ?? 0,
    audio_output: usage.audio_output_tokens ?? 0,
  };
  const input = (usage.input_tokens ?? 0) - parts.cached_input - parts.cache_write - parts.audio_input;
  const output = (usage.output_tokens ?? 0) - parts.reasoning - parts.audio_output;
  const all = [
    ['input', input],
    ['cached_input', parts.cached_input],
    ['cache_write', parts.cache_write],
    ['audio_input', parts.audio_input],
    ['output', output],
    ['reasoning', parts.reasoning],
    ['audio_output', parts.audio_output],
  ] as const;
  return all.filter(([, tokens]) => tokens > 0);
}

/** The breakdown of the delivered attempt, at its recorded price. */
export function tokenCosts(log: Usage, attempt: LogAttempt | undefined): readonly TokenCost[] {
  const prices = (attempt?.price?.usd_per_million_tokens ?? {}) as Readonly<
    Record<string, number | undefined>
  >;
  return tokensByKind(log).map(([kind, tokens]) => ({
    kind,
    tokens,
    usdPerMillion: prices[kind] ?? prices[PART_OF[kind] ?? ''] ?? null,
  }));
}

/** Dollars per million tokens times 1,000 are nano-dollars per token. */
export const nanoOf = ({ tokens, usdPerMillion }: TokenCost): number | null =>
  usdPerMillion === null ? null : Math.round(tokens * usdPerMillion * 1_000);
