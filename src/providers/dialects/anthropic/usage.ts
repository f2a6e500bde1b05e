import type { Json } from '../../endpoint.js';
import { count, isObject } from '../../endpoints/reading.js';

/**
 * Anthropic's `usage` as the hub's; null unless input and output are both valid.
 *
 * Anthropic's input excludes tokens read from or written to its cache
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching), the hub's includes them; thinking is part of the output in both.
 */
export function anthropicUsage(raw: unknown): Json | null {
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

/** The part of the cache writes that is kept for an hour: it costs more. */
function longWrites({ cache_creation: writes }: Json): Json {
  const long = isObject(writes) ? count(writes.ephemeral_1h_input_tokens) : null;
  return long ? { cache_write_1h_tokens: long } : {};
}

/** Web searches by Anthropic, which it charges per search, under the name of another provider's field. */
function searches({ server_tool_use: uses }: Json): Json {
  const made = isObject(uses) ? count(uses.web_search_requests) : null;
  return made ? { num_search_queries: made } : {};
}

/**
 * Merges the usage of a stream so far with that of an event. Each number is a total of its own, so a later one replaces an earlier one;
 * nulls are ignored. https://platform.claude.com/docs/en/build-with-claude/streaming
 */
export function mergedUsage(known: Json, reported: unknown): Json {
  if (!isObject(reported)) return known;
  const merged: Record<string, unknown> = { ...known };
  for (const name of Object.keys(reported)) {
    const value = reported[name];
    if (value !== null && value !== undefined && name !== '__proto__') merged[name] = value;
  }
  return merged;
}

/** Tiers that Anthropic reports, in OpenAI's terms. https://platform.claude.com/docs/en/api/service-tiers */
const TIERS: ReadonlyMap<unknown, string> = new Map([
  ['standard', 'default'],
  ['priority', 'priority'],
]);

/** The hub's `service_tier` of a response; empty if OpenAI has no such tier. */
export function anthropicServiceTier(raw: unknown): Json {
  const tier = isObject(raw) ? TIERS.get(raw.service_tier) : undefined;
  return tier === undefined ? {} : { service_tier: tier };
}
