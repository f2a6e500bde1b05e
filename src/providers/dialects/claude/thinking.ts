import { AppError } from '../../../common/errors/app-error.js';
import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import { factsOf } from './models.js';

/** How much a model shall reason, in Anthropic's words. */
export interface Reasoning {
  readonly thinking?: Json;
  /** `output_config.effort`. */
  readonly effort?: string;
}

/** Anthropic's least budget. https://platform.claude.com/docs/en/build-with-claude/extended-thinking */
const BUDGET_MIN = 1_024;

/**
 * Tokens of thinking that an effort of the hub stands for, where a model wants a number. Neither side documents
 * equivalents; each step doubles or more, and the largest leaves half of the default limit to the answer.
 */
export const BUDGETS: ReadonlyMap<string, number> = new Map([
  ['minimal', BUDGET_MIN],
  ['low', 2_048],
  ['medium', 8_192],
  ['high', 16_384],
  ['xhigh', 32_000],
  ['max', 48_000],
]);

/**
 * `reasoning_effort` and `thinking`, together.
 *
 * `thinking` is Anthropic's own parameter and goes along as it is. An effort becomes adaptive thinking with
 * `output_config.effort` (https://platform.claude.com/docs/en/build-with-claude/effort, where `low` is the least), with
 * the thinking shown, because newer models leave its text out by default; for models up to Claude 4.5 it becomes a
 * budget below `max_tokens`. Throws `invalid_request` for an unknown effort and `parameter_unsupported` where the limit
 * leaves no room for the least budget.
 */
export function reasoningOf(hub: Json, model: string, maxTokens: unknown): Reasoning {
  const given = isObject(hub.thinking) ? { thinking: hub.thinking } : {};
  const effort = hub.reasoning_effort ?? null;
  if (effort === null) return given;
  const { thinking, off } = factsOf(model);
  if (effort === 'none') return { thinking: { type: off }, ...given };
  const budget = typeof effort === 'string' ? BUDGETS.get(effort) : undefined;
  if (budget === undefined)
    throw new AppError('invalid_request', {
      detail: `The parameter "reasoning_effort" must be none, ${[...BUDGETS.keys()].join(', ')}.`,
    });
  if (thinking === 'manual') return 'thinking' in given ? given : { thinking: manual(budget, maxTokens) };
  return {
    thinking: { type: 'adaptive', display: 'summarized' },
    ...given,
    effort: effort === 'minimal' ? 'low' : (effort as string),
  };
}

function manual(budget: number, maxTokens: unknown): Json {
  const room = typeof maxTokens === 'number' ? maxTokens - 1 : budget;
  if (room < BUDGET_MIN)
    throw new AppError('parameter_unsupported', {
      parameter: 'reasoning_effort',
      detail: `this model thinks with at least ${BUDGET_MIN} tokens, and the limit of output tokens must be larger`,
    });
  return { type: 'enabled', budget_tokens: Math.min(budget, room) };
}
