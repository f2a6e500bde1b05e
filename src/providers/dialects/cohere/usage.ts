import type { Json } from '../../endpoint.js';
import { count, isObject } from '../../endpoints/reading.js';

/**
 * The tokens that Cohere bills. It adds tokens of its own around them, and says both; only these are charged, so only
 * these make the right cost. `tokens` counts where nothing was billed. Null when neither is sound.
 * https://docs.cohere.com/docs/how-does-cohere-pricing-work
 */
export function chatUsage(usage: unknown): Json | null {
  if (!isObject(usage)) return null;
  const told = pairOf(usage.billed_units) ?? pairOf(usage.tokens);
  if (!told) return null;
  const [prompt_tokens, completion_tokens] = told;
  const cached = Math.min(count(usage.cached_tokens) ?? 0, prompt_tokens);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
  };
}

function pairOf(counts: unknown): readonly [number, number] | null {
  if (!isObject(counts)) return null;
  const input = count(counts.input_tokens);
  const output = count(counts.output_tokens);
  return input === null || output === null ? null : [input, output];
}

/** What an answer without output was billed for: embeddings. Null when it is not said. */
export function inputUsage(meta: unknown): Json | null {
  const billed = isObject(meta) && isObject(meta.billed_units) ? count(meta.billed_units.input_tokens) : null;
  return billed === null ? null : { prompt_tokens: billed, total_tokens: billed };
}
