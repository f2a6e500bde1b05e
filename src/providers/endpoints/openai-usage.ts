import type { Usage } from '../../common/contracts/request-log.js';
import type { Json } from '../endpoint.js';
import { count, isObject } from './reading.js';

type Details = Partial<Omit<Usage, 'input_tokens' | 'output_tokens'>>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Reads the `usage` object of OpenAI's chat answers, with what other providers add to it.
 *
 * Null unless both totals are sound: half a usage would be charged as if the other half were free, whereas
 * null makes the gateway count the text. Numbers that are negative, fractional, too large or not numbers are
 * ignored, and a finer count is never more than its total.
 */
export function usageOf(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const input = count(raw.prompt_tokens);
  const completion = count(raw.completion_tokens);
  if (input === null || completion === null) return null;

  const prompt = isObject(raw.prompt_tokens_details) ? raw.prompt_tokens_details : {};
  const finer = isObject(raw.completion_tokens_details) ? raw.completion_tokens_details : {};
  const reasoning = count(finer.reasoning_tokens) ?? count(raw.reasoning_tokens);
  const output = completion + reasoningBeside(raw, input, completion, reasoning);
  if (!Number.isSafeInteger(output)) return null;
  return {
    input_tokens: input,
    output_tokens: output,
    ...details(input, {
      // DeepSeek: https://api-docs.deepseek.com/guides/kv_cache
      cached_input_tokens: count(prompt.cached_tokens) ?? count(raw.prompt_cache_hit_tokens),
      cache_write_tokens: count(prompt.cache_write_tokens),
      audio_input_tokens: count(prompt.audio_tokens),
    }),
    ...details(output, {
      reasoning_tokens: reasoning,
      audio_output_tokens: count(finer.audio_tokens),
    }),
  };
}

/**
 * Reasoning tokens that `completion_tokens` leaves out. OpenAI counts them inside; xAI's models count them
 * beside, which shows in the total of all three.
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/grok/capabilities/reasoning
 */
function reasoningBeside(raw: Json, input: number, completion: number, reasoning: number | null): number {
  if (!reasoning) return 0;
  return raw.total_tokens === input + completion + reasoning ? reasoning : 0;
}

/** Only the counts that say something, each cut to its total. */
function details(total: number, counts: Readonly<Record<string, number | null>>): Details {
  const kept: Mutable<Details> = {};
  for (const [name, value] of Object.entries(counts)) {
    if (value) kept[name as keyof Details] = Math.min(value, total);
  }
  return kept;
}
