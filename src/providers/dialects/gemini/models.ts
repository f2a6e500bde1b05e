/**
 * Whether a model is of Gemini's third generation or later. Those are told how much to think by a level, earlier ones
 * by a number of tokens (https://ai.google.dev/gemini-api/docs/thinking); they want their signatures back
 * (https://ai.google.dev/gemini-api/docs/thought-signatures). A Gemini without a version in its name, such as
 * `gemini-flash-latest`, is one of the newest.
 */
export function isGemini3(model: string): boolean {
  if (!model.includes('gemini-')) return false;
  const version = /gemini-(\d+)/.exec(model)?.[1];
  return version === undefined || Number(version) >= 3;
}

/**
 * Whether the level `MINIMAL` exists: for the Flash models up to 3.6. Pro models and the later Flash models begin at
 * `LOW`, and so is a model taken whose name is not known.
 * https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/thinking
 */
export function takesMinimalLevel(model: string): boolean {
  return /gemini-3(?:\.[0-6])?-flash/.test(model);
}

/** The least budget: 2.5 Pro cannot stop thinking. https://ai.google.dev/gemini-api/docs/thinking#set-budget */
export function leastBudget(model: string): number {
  return model.includes('2.5-pro') ? 128 : 0;
}
