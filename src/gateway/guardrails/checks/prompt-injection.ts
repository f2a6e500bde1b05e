import type { Check } from '../check.js';
import { INJECTION_CHARS_MAX, INJECTIONS } from '../finding/injections.js';
import { Pattern, someText, WindowFilter } from '../finding/windows.js';

const PATTERNS = INJECTIONS.map(({ name, pattern }) => ({ name, pattern: new Pattern(pattern) }));

/** Finds plain attempts to take over the model, by their wording. */
export const promptInjection = (): Check => ({
  run: async ({ texts }) => {
    const found: string[] = [];
    for (const { name, pattern } of PATTERNS)
      if (await someText(texts, (text) => pattern.occursIn(text))) found.push(name);
    return { verdict: found.length === 0, data: { found } };
  },
  looksEverywhere: true,
  open: () =>
    new WindowFilter(INJECTION_CHARS_MAX, (window) =>
      PATTERNS.some(({ pattern }) => pattern.occursSurely(window)),
    ),
});
