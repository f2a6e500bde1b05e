import type { Json } from '../../../endpoint.js';
import { isObject, list } from '../../../endpoints/reading.js';
import { EFFORT_BUDGETS } from '../../../models/efforts.js';
import { invalid, unsupported } from './refusals.js';

/** Parameters that are said in other words, or elsewhere. */
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
 * What changes no answer: caching, diagnosis of it, and the tidying of a history that is too long for the model's liking
 * (https://platform.claude.com/docs/en/build-with-claude/context-editing), which costs tokens when it is not done.
 */
const HINTS: ReadonlySet<string> = new Set(['cache_control', 'diagnostics', 'context_management', 'betas']);

/** What only Anthropic has, and when it asks for nothing. */
const IMPOSSIBLE: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['container', () => false],
  ['mcp_servers', (value: unknown) => list(value).length === 0],
  ['inference_geo', () => false],
  ['speed', (value: unknown) => value === 'standard'],
]);

/** The parameters of an Anthropic client besides messages and tools. Unknown ones go along. */
export function parametersOf(body: Json, model: string): Json {
  for (const [parameter, isHarmless] of IMPOSSIBLE) {
    const value = body[parameter] ?? null;
    if (value !== null && !isHarmless(value)) throw unsupported(parameter, 'only Anthropic has it');
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
    throw invalid('The parameter "stop_sequences" must be a list of strings.');
  return stops.length > 0 ? stops : null;
}

function withoutNulls(body: Json): Json {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => (value ?? null) !== null));
}

/**
 * Models of OpenAI that refuse `max_tokens`, which many other providers know alone.
 * https://platform.openai.com/docs/api-reference/chat/create
 */
const NEW_LIMIT = /(^|\/)(o\d|gpt-[5-9])/;

function limitOf(limit: unknown, model: string): Json {
  if (limit === null) throw invalid('The parameter "max_tokens" is required.');
  return { [NEW_LIMIT.test(model) ? 'max_completion_tokens' : 'max_tokens']: limit };
}

const TIERS: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['standard_only', 'default'],
]);

const EFFORTS: ReadonlySet<unknown> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);

/** Thinking that is off; between tools it may still go on. */
const OFF: ReadonlySet<unknown> = new Set(['disabled', 'between_tools']);

/** Said beside the hub's effort, so that a provider which knows these words gets them as they were. */
function ownEffort({ output_config: output }: Json): Json | null {
  return isObject(output) && EFFORTS.has(output.effort) ? { effort: output.effort } : null;
}

/**
 * How much to reason. A budget becomes the least effort that reaches it; adaptive thinking without an effort leaves it to
 * the model, as the hub does where nothing is said.
 */
function effortOf({ thinking, output_config: output }: Json): unknown {
  const { type, budget_tokens: budget } = isObject(thinking) ? thinking : {};
  if (OFF.has(type)) return 'none';
  const effort = ownEffort({ output_config: output })?.effort;
  if (effort !== undefined || type !== 'enabled' || typeof budget !== 'number') return effort ?? null;
  const found = [...EFFORT_BUDGETS].find(([name, tokens]) => name !== 'max' && budget <= tokens);
  return found?.[0] ?? 'xhigh';
}

/** https://platform.claude.com/docs/en/build-with-claude/structured-outputs; `output_format` is its earlier place. */
function formatOf({ output_config: output, output_format: earlier }: Json): Json | null {
  const format = (isObject(output) ? output.format : null) ?? earlier ?? null;
  if (format === null) return null;
  if (!isObject(format) || format.type !== 'json_schema' || !isObject(format.schema))
    throw invalid('The output format must be of type json_schema, with a "schema".');
  return { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema, strict: true } };
}
