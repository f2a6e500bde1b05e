import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import { unsupportedParameter } from '../refusing.js';
import { stopSequences } from '../stop.js';

/** Parameters of the hub under Cohere's names. https://docs.cohere.com/reference/chat */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['max_completion_tokens', 'max_tokens'],
  ['top_p', 'p'],
  ['top_k', 'k'],
]);

/** Parameters that do not affect the response. */
const DROPPED: ReadonlySet<string> = new Set([
  'metadata',
  'user',
  'store',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'prediction',
  'service_tier',
  'stream_options',
]);

/** Read by `request.ts`, `messages.ts` and `tools.ts`. */
const READ: ReadonlySet<string> = new Set([
  'messages',
  'tools',
  'tool_choice',
  'stop',
  'response_format',
  'reasoning_effort',
  'thinking',
]);

type IsAsked = (value: unknown) => boolean;
const isAnything: IsAsked = () => true;

/** Parameters that Cohere lacks, and the values that have an effect. */
const REFUSED: ReadonlyMap<string, IsAsked> = new Map<string, IsAsked>([
  ['audio', isAnything],
  ['functions', isAnything],
  ['function_call', isAnything],
  ['logit_bias', (value) => isObject(value) && Object.keys(value).length > 0],
  // Cohere returns them without the text of each token, which the hub's require.
  ['logprobs', (value) => value === true],
  ['top_logprobs', (value) => value !== 0],
  ['modalities', (value) => !Array.isArray(value) || value.some((kind) => kind !== 'text')],
  ['n', (value) => value !== 1],
  ['parallel_tool_calls', (value) => value === false],
  ['verbosity', (value) => value !== 'medium'],
  ['web_search_options', isAnything],
]);

/**
 * Parameters that need at most another name; unknown ones, such as `documents`, `citation_options` and `safety_mode`, are passed on. Throws
 * `parameter_unsupported`.
 */
export function plainParameters(hub: Json): Json {
  return Object.fromEntries(
    Object.entries(hub)
      .filter(
        ([name, value]) =>
          isPresent(value) && !DROPPED.has(name) && !READ.has(name) && !isRefusable(name, value),
      )
      .map(([name, value]) => [RENAMED.get(name) ?? name, value]),
  );
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

/** Whether Cohere lacks the parameter. Throws if its value has an effect. */
function isRefusable(name: string, value: unknown): boolean {
  const isRequested = REFUSED.get(name);
  if (isRequested?.(value)) throw unsupportedParameter(name, 'Cohere has no such parameter');
  return isRequested !== undefined;
}

/** https://docs.cohere.com/reference/chat (stop_sequences) */
export function stopParameters(hub: Json): Json {
  const stops = stopSequences(hub, { provider: 'Cohere', most: 5 });
  return stops.length > 0 ? { stop_sequences: stops } : {};
}

/** A schema is sent in JSON mode; its name, description and `strict` have no fields. https://docs.cohere.com/docs/structured-outputs */
export function formatParameters({ response_format: format }: Json): Json {
  if (!isObject(format)) return {};
  const { type, json_schema, schema } = format;
  if (type === 'text') return {};
  if (type === 'json_schema' && isObject(json_schema))
    return { response_format: { type: 'json_object', json_schema: json_schema.schema } };
  return { response_format: isObject(schema) ? { type, json_schema: schema } : format };
}

/** Anthropic's clients send thinking settings to every model (`client-formats/messages`); models without thinking refuse them. */
const hasEffort = ({ type }: Json, effort: unknown): boolean => type === 'adaptive' || isPresent(effort);

/**
 * Reasoning is on or off, within a budget. Models that can reason do so unless it is turned off, and others have no such parameter; so only
 * the effort `none` has an effect. https://docs.cohere.com/docs/reasoning
 */
export function thinkingParameters({ reasoning_effort, thinking }: Json, model: string): Json {
  if (isObject(thinking) && hasEffort(thinking, reasoning_effort) && !model.includes('reasoning')) return {};
  if (isObject(thinking)) {
    const { type, budget_tokens, token_budget = budget_tokens } = thinking;
    const isOff = type === 'disabled';
    return {
      thinking: {
        type: isOff ? type : 'enabled',
        ...(token_budget !== undefined && !isOff && { token_budget }),
      },
    };
  }
  return reasoning_effort === 'none' ? { thinking: { type: 'disabled' } } : {};
}
