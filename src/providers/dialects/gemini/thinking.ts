import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import { firstField } from './fields.js';
import { type BudgetRange, budgetRange, takesMinimalLevel, isGemini3 } from './models.js';
import { refuseParameter } from '../refusing.js';

/**
 * Each `reasoning_effort` as a level or a number of tokens. The numbers are those of Google's own layer for OpenAI's clients. If a model
 * cannot stop thinking, `none` is its minimum; `xhigh` and `max` are the maximum. https://ai.google.dev/gemini-api/docs/openai#thinking
 */
const EFFORTS: ReadonlyMap<unknown, { readonly level: string; readonly budget: number }> = new Map([
  ['none', { level: 'MINIMAL', budget: 0 }],
  ['minimal', { level: 'MINIMAL', budget: 1024 }],
  ['low', { level: 'LOW', budget: 1024 }],
  ['medium', { level: 'MEDIUM', budget: 8192 }],
  ['high', { level: 'HIGH', budget: 24_576 }],
  ['xhigh', { level: 'HIGH', budget: 24_576 }],
  ['max', { level: 'HIGH', budget: 24_576 }],
]);

/**
 * `thinkingConfig` of a request; undefined without thinking settings. Google's own setting (`extra_body.google.thinking_config`) wins, then
 * a budget, then the effort: Gemini refuses level and budget together, and models with levels receive the one for the client's effort. A
 * budget for an effort is at most half of the token limit, which includes Gemini's thoughts.
 * https://ai.google.dev/api/generate-content#ThinkingConfig
 */
export function thinkingConfig(hub: Json, google: Json, model: string): Json | undefined {
  const own = firstField(google, 'thinking_config', 'thinkingConfig');
  if (isObject(own)) return own;
  const { thinking, reasoning_effort: effort } = hub;
  const limit = hub.max_completion_tokens ?? hub.max_tokens;
  const tokensLeft = typeof limit === 'number' ? Math.floor(limit / 2) : Infinity;
  const prefersLevel = isGemini3(model) && (effort ?? null) !== null;
  return (prefersLevel ? undefined : fromThinking(thinking, model)) ?? fromEffort(effort, model, tokensLeft);
}

/** https://platform.claude.com/docs/en/build-with-claude/extended-thinking */
function fromThinking(thinking: unknown, model: string): Json | undefined {
  if (!isObject(thinking)) return undefined;
  if (thinking.type === 'disabled') return fromEffort('none', model);
  if (typeof thinking.budget_tokens !== 'number') return undefined;
  return { includeThoughts: true, thinkingBudget: within(budgetRange(model), thinking.budget_tokens) };
}

function fromEffort(effort: unknown, model: string, tokensLeft = Infinity): Json | undefined {
  if (effort === undefined || effort === null) return undefined;
  const { level, budget } =
    EFFORTS.get(effort) ?? refuseParameter('reasoning_effort', 'Gemini does not support this effort');
  const includeThoughts = effort !== 'none';
  if (!isGemini3(model)) {
    const range = budgetRange(model);
    return {
      includeThoughts,
      thinkingBudget: budget ? within(range, Math.min(budget, tokensLeft)) : range.none,
    };
  }
  const isMissing = level === 'MINIMAL' && !takesMinimalLevel(model);
  return { includeThoughts, thinkingLevel: isMissing ? 'LOW' : level };
}

const within = ({ least, most }: BudgetRange, budget: number): number =>
  Math.max(least, Math.min(budget, most));
