import type { Json } from '../../endpoint.js';
import { count, isObject } from '../../endpoints/reading.js';
import { billedTokens } from '../../endpoints/v2.js';

/** The tokens that Cohere bills, in the hub's format; null when they are invalid. */
export function chatUsage(usage: unknown): Json | null {
  if (!isObject(usage)) return null;
  const tokens = billedTokens(usage);
  if (!tokens) return null;
  const [prompt_tokens, completion_tokens] = tokens;
  const cached = Math.min(count(usage.cached_tokens) ?? 0, prompt_tokens);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
  };
}

/** The billed input of a response without output: embeddings. Null when it is not reported. */
export function inputUsage(meta: unknown): Json | null {
  const billed = isObject(meta) && isObject(meta.billed_units) ? count(meta.billed_units.input_tokens) : null;
  return billed === null ? null : { prompt_tokens: billed, total_tokens: billed };
}
