import { parameterError } from '../../../common/errors/field-errors.js';
import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import { EFFORT_BUDGETS, THINKING_BUDGET_MIN } from '../../client-formats/efforts.js';
import { unsupportedParameter } from '../refusing.js';
import { factsOf, type ModelFacts } from './models.js';

/** The amount of reasoning, in Anthropic's format. */
export interface Reasoning {
  readonly thinking?: Json;
  /** `output_config.effort`. */
  readonly effort?: string;
}

/**
 * Combines `reasoning_effort` and `thinking`.
 *
 * `thinking` is Anthropic's own parameter and is passed on, unless an effort beside it means the same to a model that supports only another
 * form. An effort becomes adaptive thinking with `output_config.effort` (https://platform.claude.com/docs/en/build-with-claude/effort,
 * where `low` is the least), with the thinking shown, because newer models omit its text by default; for models up to Claude 4.5 it becomes
 * a budget of at most half of `max_tokens`. An effort in Anthropic's own format does not turn thinking on by itself. Throws
 * `invalid_request` for an unknown effort and `parameter_unsupported` if the limit is too small for the minimum budget.
 */
export function claudeReasoning(hub: Json, model: string, maxTokens: unknown): Reasoning {
  const facts = factsOf(model);
  const given = givenThinking(hub, facts);
  const effort = hub.reasoning_effort ?? null;
  if (effort === null) return given;
  if (effort === 'none') return { thinking: { type: facts.off }, ...given };
  const budget = typeof effort === 'string' ? EFFORT_BUDGETS.get(effort) : undefined;
  if (budget === undefined)
    throw parameterError('reasoning_effort', `must be none, ${[...EFFORT_BUDGETS.keys()].join(', ')}`);
  if ('thinking' in given) return facts.thinking === 'manual' ? given : { ...given, ...effortOf(effort) };
  if (isOwnEffort(hub)) return {};
  if (facts.thinking === 'manual') return { thinking: manual(budget, maxTokens) };
  return { thinking: { type: 'adaptive', display: 'summarized' }, ...effortOf(effort) };
}

const effortOf = (effort: unknown): Pick<Reasoning, 'effort'> => ({
  effort: effort === 'minimal' ? 'low' : (effort as string),
});

/** Whether only `output_config.effort` is set. */
const isOwnEffort = ({ thinking, output_config: output }: Json): boolean =>
  !isObject(thinking) && isObject(output) && (output.effort ?? null) !== null;

/** Thinking in Anthropic's own format, unless the model requires another form. */
function givenThinking({ thinking, reasoning_effort: effort }: Json, facts: ModelFacts): Reasoning {
  if (!isObject(thinking)) return {};
  if (thinking.type === 'disabled') return { thinking: { ...thinking, type: facts.off } };
  if (thinking.type === 'adaptive' && facts.thinking === 'manual') return {};
  const isEffortToo = (effort ?? null) !== null;
  return thinking.type === 'enabled' && isEffortToo && !facts.takesBudgets ? {} : { thinking };
}

/** The values of `thinking.type` that turn thinking on. */
export const THINKS: ReadonlySet<unknown> = new Set(['enabled', 'adaptive']);

/**
 * Claude's limits of each parameter beside thinking.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking#feature-compatibility
 */
const SAMPLING: readonly (readonly [name: string, fits: (value: unknown) => boolean, detail: string])[] = [
  ['temperature', (value) => typeof value === 'number' && value >= 1, 'the temperature must be 1'],
  ['top_p', (value) => typeof value === 'number' && value >= 0.95, 'top_p must be at least 0.95'],
  ['top_k', () => false, 'top_k must be left out'],
];

/**
 * Throws `parameter_unsupported` for sampling that Claude refuses beside thinking that an effort was translated to. With thinking in
 * Anthropic's own format, Anthropic decides.
 */
export function checkSampling(hub: Json, thinking: unknown): void {
  if (isObject(hub.thinking) || !isObject(thinking) || !THINKS.has(thinking.type)) return;
  for (const [parameter, fits, detail] of SAMPLING) {
    const value = hub[parameter] ?? null;
    if (value !== null && !fits(value))
      throw unsupportedParameter(parameter, `with "reasoning_effort", ${detail}`);
  }
}

/** Half of the limit is left to the response, which counts towards it, too. */
function manual(budget: number, maxTokens: unknown): Json {
  const limit = typeof maxTokens === 'number' ? maxTokens : Infinity;
  if (limit <= THINKING_BUDGET_MIN)
    throw unsupportedParameter(
      'reasoning_effort',
      `this model thinks with at least ${THINKING_BUDGET_MIN} tokens, and the limit of output tokens must be larger`,
    );
  return {
    type: 'enabled',
    budget_tokens: Math.max(Math.min(budget, Math.floor(limit / 2)), THINKING_BUDGET_MIN),
  };
}
