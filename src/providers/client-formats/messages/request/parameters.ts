import { parameterError } from '../../../../common/errors/field-errors.js';
import type { Json } from '../../../endpoint.js';
import { isObject, list } from '../../../endpoints/reading.js';
import { EFFORT_BUDGETS } from '../../efforts.js';
import { invalidMessagesRequest, unsupportedMessagesParameter } from './refusals.js';

/** Parameters that are translated here or elsewhere. */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'max_tokens',
  'stop_sequences',
  'metadata',
  'thinking',
  'output_config',
  'output_format',
  'service_tier',
]);

/**
 * Parameters that do not change the response: caching, its diagnosis, and the trimming of a long history
 * (https://platform.claude.com/docs/en/build-with-claude/context-editing), which only saves tokens.
 */
const HINTS: ReadonlySet<string> = new Set(['cache_control', 'diagnostics', 'context_management', 'betas']);

/** Parameters that only Anthropic has, and the values that have no effect. */
const IMPOSSIBLE: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['container', () => false],
  ['mcp_servers', (value: unknown) => list(value).length === 0],
  ['inference_geo', () => false],
  ['speed', (value: unknown) => value === 'standard'],
]);

/** The parameters of an Anthropic client besides messages and tools. Unknown ones are passed on. */
export function hubParameters(body: Json, model: string): Json {
  for (const [parameter, isHarmless] of IMPOSSIBLE) {
    const value = body[parameter] ?? null;
    if (value !== null && !isHarmless(value))
      throw unsupportedMessagesParameter(parameter, 'only Anthropic has it');
  }
  return withoutNulls({
    ...Object.fromEntries(Object.entries(body).filter(([name]) => goesAlong(name))),
    model,
    ...limitOf(body.max_tokens ?? null, model),
    stop: stopOf(body.stop_sequences ?? []),
    user: isObject(body.metadata) ? body.metadata.user_id : null,
    thinking: isObject(body.thinking) ? body.thinking : null,
    output_config: ownEffort(body),
    reasoning_effort: effortOf(body),
    response_format: formatOf(body),
    service_tier: TIERS.get(body.service_tier),
  });
}

const goesAlong = (name: string): boolean =>
  !TRANSLATED.has(name) && !HINTS.has(name) && !IMPOSSIBLE.has(name);

function stopOf(stops: unknown): unknown {
  if (!Array.isArray(stops) || !stops.every((stop) => typeof stop === 'string'))
    throw parameterError('stop_sequences', 'must be a list of strings');
  return stops.length > 0 ? stops : null;
}

function withoutNulls(body: Json): Json {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => (value ?? null) !== null));
}

/**
 * OpenAI models that refuse `max_tokens`, which is the only limit of many other providers.
 * https://platform.openai.com/docs/api-reference/chat/create
 */
const NEW_LIMIT = /(^|\/)(o\d|gpt-[5-9])/;

function limitOf(limit: unknown, model: string): Json {
  if (limit === null) throw parameterError('max_tokens', 'is required');
  return { [NEW_LIMIT.test(model) ? 'max_completion_tokens' : 'max_tokens']: limit };
}

const TIERS: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['standard_only', 'default'],
]);

const EFFORTS: ReadonlySet<unknown> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);

/** Thinking is off; between tools it may continue. */
const OFF: ReadonlySet<unknown> = new Set(['disabled', 'between_tools']);

/** Added beside the hub's effort, so that a provider with this parameter receives it unchanged. */
function ownEffort({ output_config: output }: Json): Json | null {
  return isObject(output) && EFFORTS.has(output.effort) ? { effort: output.effort } : null;
}

/**
 * The amount of reasoning. A budget becomes the lowest effort that reaches it; adaptive thinking without an effort leaves it to the model,
 * which is also the hub's default.
 */
function effortOf({ thinking, output_config: output }: Json): unknown {
  const { type, budget_tokens: budget } = isObject(thinking) ? thinking : {};
  if (OFF.has(type)) return 'none';
  const effort = ownEffort({ output_config: output })?.effort;
  if (effort !== undefined || type !== 'enabled' || typeof budget !== 'number') return effort ?? null;
  const found = [...EFFORT_BUDGETS].find(([name, tokens]) => name !== 'max' && budget <= tokens);
  return found?.[0] ?? 'xhigh';
}

/** https://platform.claude.com/docs/en/build-with-claude/structured-outputs; `output_format` is its earlier field. */
function formatOf({ output_config: output, output_format: earlier }: Json): Json | null {
  const format = (isObject(output) ? output.format : null) ?? earlier ?? null;
  if (format === null) return null;
  if (!isObject(format) || format.type !== 'json_schema' || !isObject(format.schema))
    throw invalidMessagesRequest('The output format must be of type json_schema, with a "schema".');
  return { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema, strict: true } };
}
