import { parameterError } from '../../../../common/errors/field-errors.js';
import type { Json } from '../../../endpoint.js';
import { isObject, stringify } from '../../../endpoints/reading.js';
import { claudeReasoning } from '../../claude/thinking.js';
import { withoutAnthropicParameters } from '../../../client-formats/anthropic-parameters.js';
import { type ModelFamily, familyOf } from '../models.js';
import { because, type Impossible, refuseImpossible, unsupportedParameter } from '../../refusing.js';
import { stopSequences } from '../../stop.js';

const NO_PROBABILITIES = 'Bedrock returns no log probabilities';

/**
 * Parameters of the hub that Converse does not support (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
 * Penalties, `seed` and the like are not listed: some models have them as parameters of their own.
 */
const IMPOSSIBLE: ReadonlyMap<string, Impossible> = new Map([
  ['n', because('Bedrock gives one response per request', '1')],
  ['logprobs', because(NO_PROBABILITIES, 'false')],
  ['top_logprobs', because(NO_PROBABILITIES, '0')],
  ['logit_bias', because('Bedrock has no such control of sampling', '{}')],
  ['audio', because('Bedrock answers with text only')],
  ['modalities', because('Bedrock answers with text only', '["text"]', '[]')],
  ['verbosity', because('Bedrock has no such control of length', '"medium"')],
  ['store', because('Bedrock stores no responses', 'false')],
  ['functions', because('send "tools" instead', '[]')],
  ['function_call', because('send "tool_choice" instead')],
  ['web_search_options', because('Bedrock has no web search')],
]);

/** Parameters of the hub that are translated here or elsewhere, and hints that do not change the response. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'stream',
  'stream_options',
  'user',
  'safety_identifier',
  'metadata',
  'reasoning_effort',
  'thinking',
  'response_format',
  'output_config',
  'service_tier',
  'prediction',
  'prompt_cache_key',
  'prompt_cache_retention',
  'additionalModelRequestFields',
  'additional_model_request_fields',
]);

/** Converse's own fields, which clients may send in either spelling. */
const OWN: ReadonlyMap<string, string> = new Map(
  [
    'guardrailConfig',
    'performanceConfig',
    'promptVariables',
    'requestMetadata',
    'additionalModelResponseFieldPaths',
    'outputConfig',
    'serviceTier',
  ].flatMap((name) => [
    [name, name],
    [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name],
  ]),
);

/**
 * The parameters of a request besides messages and tools. Those without a field in Converse are passed on as the model's own.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
export function bedrockParameters(hub: Json, model: string): Json {
  refuseImpossible(hub, IMPOSSIBLE);
  return present({
    inferenceConfig: inferenceOf(hub),
    additionalModelRequestFields: modelFields(hub, model),
    outputConfig: outputOf(hub.response_format ?? null),
    serviceTier: tierOf(hub.service_tier ?? null),
    requestMetadata: labelsOf(hub.metadata),
    ...ownFields(hub),
  });
}

/** Leaves out nulls and empty objects. */
function present(fields: Json): Json {
  const isThere = (value: unknown) =>
    (value ?? null) !== null && !(isObject(value) && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isThere(value)));
}

/**
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InferenceConfiguration.html. `temperature` ends at 1 there and at 2
 * with OpenAI; above 1 it is reduced to 1, because below 1 both scales mean the same.
 */
function inferenceOf(hub: Json): Json {
  return present({
    maxTokens: hub.max_completion_tokens ?? hub.max_tokens,
    temperature: typeof hub.temperature === 'number' ? Math.min(hub.temperature, 1) : hub.temperature,
    topP: hub.top_p,
    stopSequences: stopsOf(hub),
  });
}

function stopsOf(hub: Json): unknown {
  const stops = stopSequences(hub, { provider: 'Bedrock', most: 2_500 });
  return stops.length > 0 ? stops : null;
}

function ownFields(hub: Json): Json {
  const own = Object.entries(hub).flatMap(([name, value]) => {
    const known = name === 'output_config' || name === 'service_tier' ? undefined : OWN.get(name);
    return known === undefined ? [] : [[known, value] as const];
  });
  return Object.fromEntries(own);
}

const isModelField = (name: string): boolean =>
  !TRANSLATED.has(name) && !OWN.has(name) && !IMPOSSIBLE.has(name);

function modelFields(hub: Json, model: string): Json {
  const family = familyOf(model);
  const given = hub.additionalModelRequestFields ?? hub.additional_model_request_fields ?? null;
  const topK = hub.top_k ?? null;
  return present({
    ...Object.fromEntries(Object.entries(hub).filter(([name]) => isModelField(name))),
    ...(topK === null ? {} : TOP_K[family](topK)),
    ...REASONING[family](hub, model),
    ...(isObject(given) ? given : {}),
  });
}

/**
 * `top_k` in each family:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html,
 * https://docs.aws.amazon.com/nova/latest/userguide/complete-request-schema.html,
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-cohere-command-r-plus.html
 */
const TOP_K: Readonly<Record<ModelFamily, (value: unknown) => Json>> = {
  anthropic: (value) => ({ top_k: value }),
  nova: (value) => ({ inferenceConfig: { topK: value } }),
  cohere: (value) => ({ k: value }),
  other: (value) => ({ top_k: value }),
};

/** OpenAI's own effort, for models that have a parameter of this name or refuse it. */
const asGiven = (hub: Json, model: string): Json =>
  present({ reasoning_effort: withoutAnthropicParameters(hub, model).reasoning_effort });

const REASONING: Readonly<Record<ModelFamily, (hub: Json, model: string) => Json>> = {
  anthropic: anthropicReasoning,
  nova: novaReasoning,
  cohere: asGiven,
  other: asGiven,
};

/** https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html and `-adaptive-thinking` */
function anthropicReasoning(hub: Json, model: string): Json {
  const limit = hub.max_completion_tokens ?? hub.max_tokens;
  const { thinking, effort } = claudeReasoning(hub, model, limit);
  const output = isObject(hub.output_config) ? hub.output_config : {};
  return present({ thinking, output_config: { ...output, ...(effort === undefined ? {} : { effort }) } });
}

/** Nova has three efforts. https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html */
const NOVA_EFFORTS: ReadonlyMap<unknown, string> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
  ['max', 'high'],
]);

const namesBudget = (thinking: unknown): boolean => isObject(thinking) && thinking.type !== 'adaptive';

function novaReasoning({ reasoning_effort: effort, thinking }: Json): Json {
  const isOff = effort === 'none' || (isObject(thinking) && thinking.type === 'disabled');
  if (isOff) return { reasoningConfig: { type: 'disabled' } };
  if ((effort ?? null) === null && namesBudget(thinking))
    throw unsupportedParameter('thinking', 'Nova takes no budget of tokens; send "reasoning_effort"');
  if ((effort ?? null) === null) return {};
  const known = NOVA_EFFORTS.get(effort);
  if (known === undefined)
    throw parameterError('reasoning_effort', `must be none, ${[...NOVA_EFFORTS.keys()].join(', ')}`);
  return { reasoningConfig: { type: 'enabled', maxReasoningEffort: known } };
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html: the schema is a string there. */
function outputOf(format: unknown): Json | null {
  const type = isObject(format) ? format.type : format;
  if (type === null || type === 'text') return null;
  if (type === 'json_object')
    throw unsupportedParameter(
      'response_format',
      'Bedrock writes JSON by a schema only; send the type "json_schema"',
    );
  const asked = isObject(format) ? format.json_schema : null;
  if (type !== 'json_schema' || !isObject(asked) || !isObject(asked.schema))
    throw parameterError('response_format', 'must be of type text, or json_schema with a "schema"');
  const { name, description, schema } = asked;
  const jsonSchema = present({ schema: stringify(schema), name, description });
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ServiceTier.html */
const TIERS: ReadonlySet<unknown> = new Set(['default', 'priority', 'flex', 'reserved']);

function tierOf(tier: unknown): Json | null {
  if (tier === null || tier === 'auto') return null;
  if (isObject(tier)) return tier;
  if (!TIERS.has(tier))
    throw unsupportedParameter('service_tier', `Bedrock has the tiers auto, ${[...TIERS].join(', ')}`);
  return { type: tier };
}

/** Bedrock's labels of a request. OpenAI's may be any text, and Bedrock would refuse the request for others. */
const LABEL = /^[\w\s:@$#=/+,.-]{1,256}$/;

function labelsOf(metadata: unknown): Json | null {
  if (!isObject(metadata)) return null;
  const isLabel = ([name, value]: [string, unknown]) =>
    LABEL.test(name) && typeof value === 'string' && LABEL.test(value);
  return Object.fromEntries(Object.entries(metadata).filter(isLabel).slice(0, 16));
}
