import type { Json } from '../../endpoint.js';
import { count, isObject } from '../../endpoints/reading.js';

/**
 * The hub's usage as Anthropic's, whose input excludes cache reads and writes. Zero if the provider reported nothing: the format has no
 * value for that. https://platform.claude.com/docs/en/api/messages
 */
export function toMessagesUsage(hub: unknown): Json {
  const usage = isObject(hub) ? hub : {};
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const finer = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const read = count(prompt.cached_tokens) ?? 0;
  const written = count(prompt.cache_write_tokens) ?? 0;
  const reasoning = count(finer.reasoning_tokens);
  return {
    input_tokens: Math.max((count(usage.prompt_tokens) ?? 0) - read - written, 0),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: count(usage.completion_tokens) ?? 0,
    output_tokens_details: reasoning === null ? null : { thinking_tokens: reasoning },
    server_tool_use: null,
  };
}

/**
 * The usage of a chunk or a response, in either field: Groq's streams have a field of their own.
 * https://console.groq.com/docs/api-reference#chat
 */
export function hubUsageIn({ usage, x_groq: groq }: Json): Json | null {
  if (isObject(usage)) return usage;
  return isObject(groq) && isObject(groq.usage) ? groq.usage : null;
}

/** Null if the provider does not report how long cache writes are kept. */
function cacheCreation(hub: unknown): Json | null {
  const { prompt_tokens_details: prompt } = isObject(hub) ? hub : {};
  const { cache_write_1h_tokens: long, cache_write_tokens: written } = isObject(prompt) ? prompt : {};
  const hour = count(long);
  if (!hour) return null;
  return {
    ephemeral_1h_input_tokens: hour,
    ephemeral_5m_input_tokens: Math.max((count(written) ?? 0) - hour, 0),
  };
}

/** OpenAI's tiers in Anthropic's terms. https://platform.claude.com/docs/en/api/service-tiers */
const TIERS: ReadonlyMap<unknown, string> = new Map([
  ['default', 'standard'],
  ['priority', 'priority'],
]);

/** The usage of a whole message, which has more fields than that at a stream's end. */
export function wholeUsage({ usage, service_tier: tier }: Json): Json {
  return {
    ...toMessagesUsage(usage),
    cache_creation: cacheCreation(usage),
    inference_geo: null,
    service_tier: TIERS.get(tier) ?? null,
    speed: null,
  };
}
