/** From the least to the greatest. */
const ORDER = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

type Effort = (typeof ORDER)[number];

const COMMON: readonly Effort[] = ['low', 'medium', 'high'];

/**
 * Values of `reasoning_effort` that models take, by name; the first pattern that fits counts. A name may stand behind that of a
 * reseller's maker, `openai/gpt-5`. A model that is not named here takes none: those that do not reason refuse the parameter.
 * https://platform.openai.com/docs/guides/reasoning, https://platform.openai.com/docs/models, https://api-docs.deepseek.com/guides/thinking_mode,
 * https://docs.x.ai/docs/guides/reasoning, https://openrouter.ai/docs/use-cases/reasoning-tokens
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

/** The effort that a model takes and that comes nearest, rather less than more; null where it takes none. No thinking has no neighbour. */
export function nearestEffort(model: string, wanted: unknown): string | null {
  const at = ORDER.findIndex((effort) => effort === wanted);
  const taken = EFFORTS.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1] ?? [];
  if (wanted === 'none') return taken.includes('none') ? 'none' : null;
  const some = taken.filter((effort) => effort !== 'none');
  return some.findLast((effort) => ORDER.indexOf(effort) <= at) ?? some[0] ?? null;
}

/** Anthropic's smallest thinking budget, in tokens. https://platform.claude.com/docs/en/build-with-claude/extended-thinking */
export const THINKING_BUDGET_MIN = 1_024;

/**
 * Tokens of thinking that an effort of the hub stands for, where a model wants a number. Neither side documents
 * equivalents; each step doubles or more, and the largest leaves half of the default limit to the answer.
 */
export const EFFORT_BUDGETS: ReadonlyMap<string, number> = new Map([
  ['minimal', THINKING_BUDGET_MIN],
  ['low', 2_048],
  ['medium', 8_192],
  ['high', 16_384],
  ['xhigh', 32_000],
  ['max', 48_000],
]);
