import type { Json } from '../../endpoint.js';
import { count, isObject } from '../../endpoints/reading.js';

/**
 * Anthropic's `usage` as the hub's; null unless input and output are both sound.
 *
 * Anthropic counts input beside what was read from or written to its cache
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching), the hub counts all of it; thinking is inside the
 * output with both.
 */
export function hubUsage(raw: unknown): Json | null {
  if (!isObject(raw)) return null;
  const input = count(raw.input_tokens);
  const output = count(raw.output_tokens);
  if (input === null || output === null) return null;
  const read = count(raw.cache_read_input_tokens) ?? 0;
  const written = count(raw.cache_creation_input_tokens) ?? 0;
  const prompt = input + read + written;
  if (!Number.isSafeInteger(prompt + output)) return null;
  const finer = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {};
  const reasoning = count(finer.thinking_tokens);
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written, ...longWrites(raw) },
    ...searches(raw),
    ...(reasoning === null ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

/** Of what was written to the cache, what is kept there for an hour: it costs more. */
function longWrites({ cache_creation: writes }: Json): Json {
  const long = isObject(writes) ? count(writes.ephemeral_1h_input_tokens) : null;
  return long ? { cache_write_1h_tokens: long } : {};
}

/** Searches that Anthropic made, which it charges by the piece, under the name that another provider has for them. */
function searches({ server_tool_use: uses }: Json): Json {
  const made = isObject(uses) ? count(uses.web_search_requests) : null;
  return made ? { num_search_queries: made } : {};
}

/**
 * What a stream has reported of its usage so far and what it tells now. Each number is a total of its own, so a later one
 * takes the place of an earlier one; null tells nothing. https://platform.claude.com/docs/en/build-with-claude/streaming
 */
export function mergedUsage(known: Json, told: unknown): Json {
  if (!isObject(told)) return known;
  const merged: Record<string, unknown> = { ...known };
  for (const name of Object.keys(told)) {
    const value = told[name];
    if (value !== null && value !== undefined && name !== '__proto__') merged[name] = value;
  }
  return merged;
}

/** Tiers that Anthropic says it has used, in OpenAI's words. https://platform.claude.com/docs/en/api/service-tiers */
const TIERS: ReadonlyMap<unknown, string> = new Map([
  ['standard', 'default'],
  ['priority', 'priority'],
]);

/** The hub's `service_tier` of an answer; nothing where OpenAI has no such tier. */
export function hubTier(raw: unknown): Json {
  const tier = isObject(raw) ? TIERS.get(raw.service_tier) : undefined;
  return tier === undefined ? {} : { service_tier: tier };
}
