import type { Usage } from '../../common/contracts/request-log.js';
import type { Json } from '../endpoint.js';
import { checkedUsage } from './checked-usage.js';
import { count, isObject, objectOf } from './reading.js';

/**
 * Reads the `usage` object of OpenAI's chat answers, with what other providers add to it. Null unless both totals are
 * sound. Numbers that are negative, fractional, too large or not numbers are ignored.
 */
export function usageOf(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const input = count(raw.prompt_tokens);
  const completion = count(raw.completion_tokens);
  if (input === null || completion === null) return null;

  const prompt = objectOf(raw.prompt_tokens_details);
  const finer = objectOf(raw.completion_tokens_details);
  const reasoning = count(finer.reasoning_tokens) ?? count(raw.reasoning_tokens);
  return checkedUsage(input, completion + reasoningBeside(raw, input, completion, reasoning), {
    // DeepSeek: https://api-docs.deepseek.com/guides/kv_cache
    cached_input_tokens: count(prompt.cached_tokens) ?? count(raw.prompt_cache_hit_tokens),
    cache_write_tokens: count(prompt.cache_write_tokens),
    audio_input_tokens: count(prompt.audio_tokens),
    reasoning_tokens: reasoning,
    audio_output_tokens: count(finer.audio_tokens),
  });
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

/**
 * Reads the newer `usage` object of OpenAI, `input_tokens` and `output_tokens`: of responses, images and
 * transcriptions. The details are called `input_tokens_details` in the first two and `input_token_details` in the last.
 * A transcription that is charged by the second tells `{ type: "duration", seconds }` and no tokens: null.
 * https://github.com/openai/openai-node/blob/master/src/resources/responses/responses.ts (ResponseUsage)
 * https://github.com/openai/openai-node/blob/master/src/resources/images.ts (ImagesResponse.Usage)
 * https://github.com/openai/openai-node/blob/master/src/resources/audio/transcriptions.ts (Transcription.Tokens)
 */
export function tokenUsageOf(raw: unknown): Usage | null {
  if (!isObject(raw)) return null;
  const input = objectOf(raw.input_tokens_details ?? raw.input_token_details);
  const output = objectOf(raw.output_tokens_details ?? raw.output_token_details);
  return checkedUsage(count(raw.input_tokens), count(raw.output_tokens), {
    cached_input_tokens: count(input.cached_tokens),
    cache_write_tokens: count(input.cache_write_tokens),
    audio_input_tokens: count(input.audio_tokens),
    reasoning_tokens: count(output.reasoning_tokens),
    audio_output_tokens: count(output.audio_tokens),
  });
}
