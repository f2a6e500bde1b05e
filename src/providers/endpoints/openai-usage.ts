import type { Usage } from '../../common/contracts/usage.js';
import type { Json } from '../endpoint.js';
import { checkedUsage, type FinerCounts } from './checked-usage.js';
import { count, isObject, objectOf } from './reading.js';

/**
 * Reads the `usage` object of OpenAI's chat responses, with other providers' additions. Null unless both totals are valid. Numbers that are
 * negative, fractional, too large or not numbers are ignored.
 */
export function openaiUsage(raw: unknown): Usage | null {
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
    cache_write_1h_tokens: count(prompt.cache_write_1h_tokens),
    ...inputKinds(prompt),
    reasoning_tokens: reasoning,
    ...outputKinds(finer),
    // Perplexity: https://docs.perplexity.ai/api-reference/chat-completions-post
    citation_tokens: count(raw.citation_tokens),
    web_searches: count(raw.num_search_queries),
    // Mistral charges audio by its duration: https://docs.mistral.ai/api/endpoint/audio/transcriptions (UsageInfo)
    audio_input_ms: durationMs(raw.prompt_audio_seconds),
  });
}

/** Counts of audio, image and video tokens in an input's details, including cached ones. */
function inputKinds(details: Json): FinerCounts {
  const cached = objectOf(details.cached_tokens_details);
  return {
    audio_input_tokens: count(details.audio_tokens),
    image_input_tokens: count(details.image_tokens),
    video_input_tokens: count(details.video_tokens),
    cached_audio_input_tokens: count(cached.audio_tokens),
    cached_image_input_tokens: count(cached.image_tokens),
  };
}

const outputKinds = (details: Json): FinerCounts => ({
  audio_output_tokens: count(details.audio_tokens),
  image_output_tokens: count(details.image_tokens),
  video_output_tokens: count(details.video_tokens),
});

/**
 * Reasoning tokens that `completion_tokens` excludes. OpenAI includes them; xAI's models count them separately, which the total of all
 * three shows. https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/grok/capabilities/reasoning
 */
function reasoningBeside(raw: Json, input: number, completion: number, reasoning: number | null): number {
  if (!reasoning) return 0;
  return raw.total_tokens === input + completion + reasoning ? reasoning : 0;
}

/**
 * Reads OpenAI's newer `usage` object, `input_tokens` and `output_tokens`: of responses, images and transcriptions. The details are
 * `input_tokens_details` in the first two and `input_token_details` in the last. A transcription that is charged by the second reports `{
 * type: "duration", seconds }` and no tokens. `units`: charges besides tokens.
 * https://github.com/openai/openai-node/blob/master/src/resources/responses/responses.ts (ResponseUsage)
 * https://github.com/openai/openai-node/blob/master/src/resources/images.ts (ImagesResponse.Usage)
 * https://github.com/openai/openai-node/blob/master/src/resources/audio/transcriptions.ts (Transcription.Tokens)
 */
export function tokenUsageOf(raw: unknown, units: FinerCounts = {}): Usage | null {
  if (!isObject(raw)) return null;
  if (raw.type === 'duration') return durationUsage(raw.seconds);
  const input = objectOf(raw.input_tokens_details ?? raw.input_token_details);
  const output = objectOf(raw.output_tokens_details ?? raw.output_token_details);
  return checkedUsage(count(raw.input_tokens), count(raw.output_tokens), {
    cached_input_tokens: count(input.cached_tokens),
    cache_write_tokens: count(input.cache_write_tokens),
    ...inputKinds(input),
    reasoning_tokens: count(output.reasoning_tokens),
    ...outputKinds(output),
    ...units,
  });
}

const SECONDS_MAX = 10_000_000;

/** A usage of audio of this duration; null for an invalid one. */
export function durationUsage(seconds: unknown): Usage | null {
  const audio_input_ms = durationMs(seconds);
  return audio_input_ms === null ? null : checkedUsage(0, 0, { audio_input_ms });
}

const durationMs = (seconds: unknown): number | null =>
  typeof seconds === 'number' && seconds >= 0 && seconds <= SECONDS_MAX ? Math.ceil(seconds * 1000) : null;
