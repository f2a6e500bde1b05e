import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import { mapMaybePromise } from '../../../common/maybe-promise.js';
import { linearPattern } from '../../../routing-config/guardrails/linear-pattern.js';
import type { Check, CheckSubject, Finding } from '../check.js';
import { Pattern, someText, WindowFilter } from '../finding/windows.js';
import { searchedTexts } from './searched-texts.js';

/** In a stream, this much text is held until more follows: part of a longer match may be sent before it is found. */
export const STREAM_HOLD_CHARS = 256;

/** Whether the pattern occurs in one of the texts, or in all of them joined. */
function found(pattern: Pattern, subject: CheckSubject): boolean | Promise<boolean> {
  const { texts } = subject;
  const searched = searchedTexts(subject);
  const stretches = texts.length > 1 ? [...searched, texts.join('\n')] : searched;
  return someText(stretches, (text) => pattern.occursIn(text));
}

function matching(pattern: Pattern, not: boolean, data: Finding['data']): Check {
  const findingOf = (isFound: boolean): Finding => ({
    verdict: isFound !== not,
    data: { ...data, found: isFound, not },
  });
  return {
    run: (subject) => mapMaybePromise(found(pattern, subject), findingOf),
    looksEverywhere: not,
    ...(not && {
      open: () => new WindowFilter(STREAM_HOLD_CHARS, (window) => pattern.occursSurely(window)),
      searchesJoined: true,
    }),
  };
}

/** RE2 patterns on an engine with linear time: no pattern can block the process. */
export const regexMatch = ({ rule, not }: ParametersOf<'default.regexMatch'>): Check =>
  matching(new Pattern(linearPattern(rule)), not, { rule });

const TAGS: Readonly<Record<string, string>> = {
  TypeScript: 'typescript|tsx?',
  JavaScript: 'javascript|jsx?|mjs|cjs',
  Python: 'python3?|py',
  'C#': 'c#|cs|csharp',
  'C++': 'c\\+\\+|cpp|cxx|cc',
  Ruby: 'ruby|rb',
  Kotlin: 'kotlin|kts?',
  Go: 'go|golang',
  Rust: 'rust|rs',
  Perl: 'perl|pl',
  Shell: 'shell|sh|bash|zsh|console',
  YAML: 'ya?ml',
  Markdown: 'markdown|md',
  Dockerfile: 'dockerfile|docker',
  HTML: 'html?',
  JSON: 'json[5c]?',
};

/** A code block that names its language: https://spec.commonmark.org/0.31.2/#fenced-code-blocks */
export function containsCode({ format, not }: ParametersOf<'default.containsCode'>): Check {
  const tag = TAGS[format] ?? format.toLowerCase();
  const fence = new RegExp(`(?:\`\`\`|~~~)[ \\t]{0,8}(?:${tag})(?=[\\s{])`, 'gi');
  return matching(new Pattern(fence), not, { format });
}

/** Literal words and phrases, case-sensitive. */
export function contains({ words, operator }: ParametersOf<'default.contains'>): Check {
  const has = (texts: readonly string[], word: string): boolean => texts.some((text) => text.includes(word));
  const longest = Math.max(...words.map(({ length }) => length));
  const noneOfThem: Finding = {
    verdict: holds(operator, 0, words.length),
    data: { operator, present: [] },
  };
  return {
    run: (subject) => {
      const searched = searchedTexts(subject);
      const present = words.filter((word) => has(searched, word));
      if (present.length === 0) return noneOfThem;
      // Absent words stay private to the operator: the result goes to the client.
      return { verdict: holds(operator, present.length, words.length), data: { operator, present } };
    },
    looksEverywhere: operator === 'none',
    ...(operator === 'none' && {
      open: () => new WindowFilter(longest - 1, ({ text }) => words.some((word) => text.includes(word))),
      searchesJoined: true,
    }),
  };
}

/** The meaning of "any", "all" and "none" for `count` of `total`. */
export function holds(operator: 'any' | 'all' | 'none', count: number, total: number): boolean {
  if (operator === 'none') return count === 0;
  return operator === 'all' ? count === total : count > 0;
}

type CaseFold = (text: string) => string;

function inCase(cased: CaseFold, not: boolean): Check {
  const isOther = (text: string): boolean => text !== cased(text);
  return {
    run: ({ texts }) => ({ verdict: texts.some(isOther) === not, data: { not } }),
    ...(!not && { open: () => new WindowFilter(0, ({ text }) => isOther(text)) }),
  };
}

export const allUpperCase = ({ not }: ParametersOf<'default.alluppercase'>): Check =>
  inCase((text) => text.toUpperCase(), not);

export const allLowerCase = ({ not }: ParametersOf<'default.alllowercase'>): Check =>
  inCase((text) => text.toLowerCase(), not);

/** The end of the last text, ignoring trailing whitespace and one full stop if the suffix has none. */
export const endsWith = ({ suffix, not }: ParametersOf<'default.endsWith'>): Check => ({
  run: ({ texts }) => {
    const last = (texts.at(-1) ?? '').trimEnd();
    return { verdict: (last.endsWith(suffix) || last.endsWith(`${suffix}.`)) !== not, data: { suffix, not } };
  },
});

/** The texts are not empty, and not only whitespace. */
export const notNull = ({ not }: ParametersOf<'default.notNull'>): Check => ({
  run: ({ texts }) => ({ verdict: texts.some((text) => text.trim() !== '') !== not, data: { not } }),
});
