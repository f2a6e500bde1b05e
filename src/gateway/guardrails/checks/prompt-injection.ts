import type { Check } from '../check.js';
import { INJECTION_CHARS_MAX, INJECTIONS } from '../finding/injections.js';
import { Pattern, someText, WindowFilter } from '../finding/windows.js';

const PATTERNS = INJECTIONS.map(({ name, pattern }) => ({ name, pattern: new Pattern(pattern) }));

/** Plain attempts to take over the model, by their words. */
export const promptInjection = (): Check => ({
  run: ({ texts }) => {
    const found: string[] = [];
    const looks = PATTERNS.map(({ name, pattern }) => {
      const note = (isFound: boolean): void => void (isFound && found.push(name));
      const result = someText(texts, (text) => pattern.occursIn(text));
      return result instanceof Promise ? result.then(note) : note(result);
    });
    const finding = () => ({ verdict: found.length === 0, data: { found } });
    return looks.some((look) => look instanceof Promise) ? Promise.all(looks).then(finding) : finding();
  },
  open: () =>
    new WindowFilter(INJECTION_CHARS_MAX, (window) =>
      PATTERNS.some(({ pattern }) => pattern.occursSurely(window)),
    ),
});
