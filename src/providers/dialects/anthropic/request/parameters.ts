import { parameterError } from '../../../../common/errors/field-errors.js';
import type { Json } from '../../../endpoint.js';
import { isObject } from '../../../endpoints/reading.js';
import { factsOf } from '../../claude/models.js';
import { because, type Impossible, refuseImpossible, unsupportedParameter } from '../../refusing.js';
import { claudeReasoning } from '../../claude/thinking.js';
import { stopSequences } from '../../stop.js';

const NO_SAMPLING = 'Anthropic has no such control of sampling';
const NO_PROBABILITIES = 'Anthropic returns no log probabilities';

/**
 * Parameters of the hub that the Messages API does not support (https://platform.claude.com/docs/en/api/messages). Anthropic's own endpoint
 * for OpenAI's clients ignores most of them (https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk); here they are
 * refused, because ignoring them would change the response.
 */
const IMPOSSIBLE: ReadonlyMap<string, Impossible> = new Map([
  ['n', because('Anthropic gives one response per request', '1')],
  ['logprobs', because(NO_PROBABILITIES, 'false')],
  ['top_logprobs', because(NO_PROBABILITIES, '0')],
  ['logit_bias', because(NO_SAMPLING, '{}')],
  ['seed', because(NO_SAMPLING)],
  ['frequency_penalty', because(NO_SAMPLING, '0')],
  ['presence_penalty', because(NO_SAMPLING, '0')],
  ['audio', because('Anthropic returns no audio')],
  ['modalities', because('Anthropic answers with text only', '["text"]', '[]')],
  ['verbosity', because('Anthropic has no such control of length', '"medium"')],
  ['store', because('Anthropic stores no responses', 'false')],
  ['functions', because('send "tools" instead', '[]')],
  ['function_call', because('send "tool_choice" instead')],
  ['web_search_options', because('send Anthropic\'s own web search tool in "tools" instead')],
]);

/** Parameters of the hub that are translated here or elsewhere. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'stop',
  'user',
  'safety_identifier',
  'metadata',
  'reasoning_effort',
  'thinking',
  'response_format',
  'output_config',
  'service_tier',
]);

/** Hints for OpenAI's own cache and speed, which do not change the response. */
const HINTS: ReadonlySet<string> = new Set([
  'prediction',
  'prompt_cache_key',
  'prompt_cache_retention',
  'stream_options',
]);

/**
 * The parameters of a request besides messages and tools; the caller may add to the result. Unknown ones are passed on.
 *
 * `temperature` ends at 1 with Anthropic and at 2 with OpenAI; above 1 it is reduced to 1, as in Anthropic's own endpoint for OpenAI's
 * clients (https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk): below 1, both scales mean the same. Models from
 * Claude 4.7 on refuse values other than the default themselves. Labels in `metadata` other than `user_id` belong to responses stored at
 * OpenAI, of which there are none.
 */
export function anthropicParameters(hub: Json, model: string): Record<string, unknown> {
  refuseImpossible(hub, IMPOSSIBLE);
  const maxTokens = hub.max_completion_tokens ?? hub.max_tokens ?? factsOf(model).maxTokens;
  const { thinking, effort } = claudeReasoning(hub, model, maxTokens);
  const body: Record<string, unknown> = { model, max_tokens: maxTokens };
  for (const name in hub) if (goesAlong(name)) setUnlessNull(body, name, hub[name]);
  setUnlessNull(body, 'temperature', temperatureOf(hub));
  setUnlessNull(body, 'stop_sequences', stopsOf(hub));
  setUnlessNull(body, 'metadata', metadataOf(hub));
  setUnlessNull(body, 'thinking', thinking);
  setUnlessNull(body, 'output_config', outputOf(hub, effort));
  setUnlessNull(body, 'service_tier', tierOf(hub.service_tier ?? null));
  return body;
}

const goesAlong = (name: string): boolean =>
  !TRANSLATED.has(name) && !HINTS.has(name) && !IMPOSSIBLE.has(name) && name !== '__proto__';

function setUnlessNull(body: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== null && value !== undefined) body[name] = value;
}

const temperatureOf = ({ temperature }: Json): unknown =>
  typeof temperature === 'number' ? Math.min(temperature, 1) : temperature;

/** Anthropic documents no limit. https://platform.claude.com/docs/en/api/messages */
function stopsOf(hub: Json): unknown {
  if (hub.stop === undefined) return null;
  const stops = stopSequences(hub);
  return stops.length > 0 ? stops : null;
}

/** https://platform.claude.com/docs/en/api/messages: `metadata` has only this field. */
function metadataOf({ metadata, safety_identifier: safety, user }: Json): Json | null {
  const label = isObject(metadata) ? textOf(metadata.user_id) : null;
  const id = label ?? textOf(safety) ?? textOf(user);
  return id === null ? null : { user_id: id };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** https://platform.claude.com/docs/en/build-with-claude/structured-outputs and `/effort` beside it. */
function outputOf(hub: Json, effort: string | undefined): Json | null {
  const { output_config: own = null, response_format: requestedFormat = null } = hub;
  if (own === null && requestedFormat === null && effort === undefined) return null;
  const given = isObject(own) ? own : {};
  const format = formatOf(requestedFormat);
  const output = { ...given, ...(effort === undefined ? {} : { effort }), ...(format ? { format } : {}) };
  return Object.keys(output).length > 0 ? output : null;
}

function formatOf(format: unknown): Json | null {
  const type = isObject(format) ? format.type : format;
  if (type === null || type === 'text') return null;
  if (type === 'json_object')
    throw unsupportedParameter(
      'response_format',
      'Anthropic writes JSON by a schema only; send the type "json_schema"',
    );
  const requestedFormat = isObject(format) ? format.json_schema : null;
  if (type !== 'json_schema' || !isObject(requestedFormat) || !isObject(requestedFormat.schema))
    throw parameterError('response_format', 'must be of type text, or json_schema with a "schema"');
  const about =
    typeof requestedFormat.description === 'string' ? { description: requestedFormat.description } : {};
  return { type: 'json_schema', schema: { ...about, ...requestedFormat.schema } };
}

/**
 * OpenAI's tiers as Anthropic's two: `auto` uses priority capacity if the account has it, `standard_only` never.
 * https://platform.claude.com/docs/en/api/service-tiers
 */
const TIERS: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['priority', 'auto'],
  ['default', 'standard_only'],
  ['standard_only', 'standard_only'],
]);

function tierOf(tier: unknown): string | null {
  if (tier === null) return null;
  const known = TIERS.get(tier);
  if (known === undefined)
    throw unsupportedParameter('service_tier', 'Anthropic has the tiers auto, default and priority');
  return known;
}
