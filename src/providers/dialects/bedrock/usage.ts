import type { Json } from '../../endpoint.js';
import { count, isObject, list } from '../../endpoints/reading.js';

/**
 * Converse's `usage` as the hub's; null unless input and output are both valid. Converse's input excludes tokens read from or written to
 * the cache, the hub's includes them. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html and
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export function bedrockUsage(raw: unknown): Json | null {
  if (!isObject(raw)) return null;
  const input = count(raw.inputTokens);
  const output = count(raw.outputTokens);
  if (input === null || output === null) return null;
  const read = count(raw.cacheReadInputTokens) ?? 0;
  const written = count(raw.cacheWriteInputTokens) ?? 0;
  const prompt = input + read + written;
  if (!Number.isSafeInteger(prompt + output)) return null;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      cached_tokens: read,
      cache_write_tokens: written,
      ...longWrites(raw.cacheDetails),
    },
  };
}

/**
 * The part of the cache writes that is kept for an hour: it costs more.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CacheDetail.html
 */
function longWrites(details: unknown): Json {
  let tokens = 0;
  for (const detail of list(details))
    if (isObject(detail) && detail.ttl === '1h') tokens += count(detail.inputTokens) ?? 0;
  return tokens > 0 ? { cache_write_1h_tokens: tokens } : {};
}

/** The hub's `service_tier` of a response; empty if OpenAI has no such tier. */
export function bedrockServiceTier(tier: unknown): Json {
  const type = isObject(tier) ? tier.type : undefined;
  return type === 'default' || type === 'priority' || type === 'flex' ? { service_tier: type } : {};
}
