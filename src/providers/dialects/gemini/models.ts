/**
 * Whether a model is of Gemini's third generation or later. These take a thinking level, earlier ones a number of tokens
 * (https://ai.google.dev/gemini-api/docs/thinking); they also require their signatures back
 * (https://ai.google.dev/gemini-api/docs/thought-signatures). A Gemini name without a version, such as `gemini-flash-latest`, is one of the
 * newest.
 */
export function isGemini3(model: string): boolean {
  if (!model.includes('gemini-')) return false;
  const version = /gemini-(\d+)/.exec(model)?.[1];
  return version === undefined || Number(version) >= 3;
}

/**
 * Whether the level `MINIMAL` exists: only for the Flash models up to 3.6. Pro models, later Flash models and unknown names start at `LOW`.
 * https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/thinking
 */
export function takesMinimalLevel(model: string): boolean {
  return /gemini-3(?:\.[0-6])?-flash/.test(model);
}

/** Range of the thinking budget in tokens, for models that take one. */
export interface BudgetRange {
  /** The budget for no thinking, or the minimum of a model that cannot turn it off. */
  readonly none: number;
  readonly least: number;
  readonly most: number;
}

/** https://ai.google.dev/gemini-api/docs/thinking#set-budget. 2.5 Pro cannot stop thinking. */
const RANGES: readonly (readonly [string, BudgetRange])[] = [
  ['2.5-pro', { none: 128, least: 128, most: 32_768 }],
  ['2.5-flash-lite', { none: 0, least: 512, most: 24_576 }],
];

const FLASH_RANGE: BudgetRange = { none: 0, least: 1, most: 24_576 };

export const budgetRange = (model: string): BudgetRange =>
  RANGES.find(([name]) => model.includes(name))?.[1] ?? FLASH_RANGE;
