/** From the lowest to the highest. */
const ORDER = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

type Effort = (typeof ORDER)[number];

const COMMON: readonly Effort[] = ['low', 'medium', 'high'];

/**
 * Values of `reasoning_effort` that models accept, by name; the first matching pattern counts. A reseller may prefix the name with the
 * maker's, `openai/gpt-5`. A model that is not listed accepts none: models without reasoning refuse the parameter.
 * https://platform.openai.com/docs/guides/reasoning, https://platform.openai.com/docs/models,
 * https://api-docs.deepseek.com/guides/thinking_mode, https://docs.x.ai/docs/guides/reasoning,
 * https://openrouter.ai/docs/use-cases/reasoning-tokens
 */
const EFFORTS: readonly (readonly [RegExp, readonly Effort[]])[] = [
  [/gpt-5[^/]*-chat/, []],
  [/gpt-5-pro/, ['high']],
  [/gpt-5\.\d+-pro/, ['medium', 'high', 'xhigh']],
  [/gpt-5\.(1-codex-max|[2-9]-codex)/, [...COMMON, 'xhigh']],
  [/gpt-5[^/]*codex/, COMMON],
  [/gpt-5\.1/, ['none', ...COMMON]],
  [/gpt-(5\.[2-9]|[6-9])/, ['none', ...COMMON, 'xhigh']],
  [/gpt-5/, ['minimal', ...COMMON]],
  [/gpt-oss/, COMMON],
  [/(^|\/)o1-(mini|preview)/, []],
  [/(^|\/)o\d[^/]*-deep-research/, ['medium']],
  [/(^|\/)o\d/, COMMON],
  [/deepseek-v4/, ['high', 'max']],
  [/grok-3-mini/, ['low', 'high']],
  [/claude-(3-7|(opus|sonnet|haiku|fable)-[4-9])|gemini-(2\.5|[3-9])/, COMMON],
];

/** The nearest effort that a model accepts, rather lower than higher; null if it accepts none. `none` is matched only exactly. */
export function nearestEffort(model: string, requested: unknown): string | null {
  const at = ORDER.findIndex((effort) => effort === requested);
  const taken = EFFORTS.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1] ?? [];
  if (requested === 'none') return taken.includes('none') ? 'none' : null;
  const some = taken.filter((effort) => effort !== 'none');
  return some.findLast((effort) => ORDER.indexOf(effort) <= at) ?? some[0] ?? null;
}

/** Anthropic's smallest thinking budget, in tokens. https://platform.claude.com/docs/en/build-with-claude/extended-thinking */
export const THINKING_BUDGET_MIN = 1_024;

/**
 * Thinking tokens for an effort of the hub, if a model requires a number. Neither side documents equivalents; each step at least doubles,
 * and the largest leaves half of the default limit to the response.
 */
export const EFFORT_BUDGETS: ReadonlyMap<string, number> = new Map([
  ['minimal', THINKING_BUDGET_MIN],
  ['low', 2_048],
  ['medium', 8_192],
  ['high', 16_384],
  ['xhigh', 32_000],
  ['max', 48_000],
]);
