import type { Check } from '../check.js';
import { Pattern, someText, WindowFilter } from '../finding/windows.js';
import { searchedTexts } from './searched-texts.js';

/**
 * Wordings that try to take over a model. They are matched by form, which stops plain attempts but no clever ones:
 * https://genai.owasp.org/llmrisk/llm01-prompt-injection/
 *
 * Every repetition is bounded and gaps have at most 40 characters, so that a pattern spans at most `INJECTION_CHARS_MAX`.
 */
const INJECTION_CHARS_MAX = 200;

const GAP = String.raw`[\s\S]{0,40}?`;
const OLD = '(?:previous|prior|above|earlier|preceding|initial|original|system|your)';
const RULES = '(?:instructions?|prompts?|rules|directives?|guidelines|programming)';

const SOURCES: Readonly<Record<string, string>> = {
  override: String.raw`\b(?:ignore|disregard|forget|override|bypass)\b${GAP}\b${OLD}\b${GAP}\b${RULES}\b`,
  reveal: String.raw`\b(?:reveal|print|show|repeat|output|tell me|what (?:is|are))\b${GAP}\b(?:system|initial|hidden|original)\b\s{0,4}(?:prompt|instructions?|message)\b`,
  role: String.raw`\byou are (?:now|no longer)\b${GAP}\b(?:dan|jailbroken|unrestricted|unfiltered|developer mode|bound by)\b`,
  mode: String.raw`\b(?:developer|god|jailbreak|dan|sudo) mode\b${GAP}\b(?:enabled?|on|activated?)\b`,
  limits: String.raw`\b(?:without|no|ignore)\b\s{1,4}(?:any |all )?(?:restrictions|limitations|safety|ethical|content (?:policy|filters?))\b${GAP}\b(?:answer|respond|reply|comply)\b`,
  markup: String.raw`<\|(?:im_start|im_end|system|endoftext)\|>|\[\/?INST\]|<<SYS>>`,
};

const INJECTIONS = Object.entries(SOURCES).map(([name, source]) => ({
  name,
  pattern: new RegExp(source, 'gi'),
}));

const PATTERNS = INJECTIONS.map(({ name, pattern }) => ({ name, pattern: new Pattern(pattern) }));

/** Characters that no reader sees: soft hyphen, zero-width and direction marks. https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point */
const INVISIBLE =
  /[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]/g;

const visible = (text: string): string => text.replace(INVISIBLE, '');

/** Finds plain attempts to take over the model, by their wording. */
export const promptInjection = (): Check => ({
  run: async (subject) => {
    const texts = searchedTexts(subject).map(visible);
    const found: string[] = [];
    for (const { name, pattern } of PATTERNS)
      if (await someText(texts, (text) => pattern.occursIn(text))) found.push(name);
    return { verdict: found.length === 0, data: { found } };
  },
  looksEverywhere: true,
  open: () =>
    new WindowFilter(INJECTION_CHARS_MAX, (window) =>
      PATTERNS.some(({ pattern }) => pattern.occursSurely({ ...window, text: visible(window.text) })),
    ),
  searchesJoined: true,
});
