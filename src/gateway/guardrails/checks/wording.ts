import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import { linearPattern } from '../../../routing-config/guardrails/linear-pattern.js';
import type { Check, Finding } from '../check.js';
import { Pattern, someText, WindowFilter } from '../finding/windows.js';

/** In a stream, this much text waits for what comes after it: a longer match may leave in part before it is seen. */
export const STREAM_HOLD_CHARS = 256;

/** Whether what is looked for is in one of the texts, or in all of them together. */
function found(pattern: Pattern, texts: readonly string[]): boolean | Promise<boolean> {
  const stretches = texts.length > 1 ? [...texts, texts.join('\n')] : texts;
  return someText(stretches, (text) => pattern.occursIn(text));
}

function matching(pattern: Pattern, not: boolean, data: Finding['data']): Check {
  const findingOf = (isFound: boolean): Finding => ({
    verdict: isFound !== not,
    data: { ...data, found: isFound, not },
  });
  return {
    run: ({ texts }) => {
      const result = found(pattern, texts);
      return result instanceof Promise ? result.then(findingOf) : findingOf(result);
    },
    looksEverywhere: not,
    ...(not && { open: () => new WindowFilter(STREAM_HOLD_CHARS, (window) => pattern.occursSurely(window)) }),
  };
}

/** Patterns of RE2 on an engine that takes linear time: no pattern can hold the process up. */
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

/** A block of code that says its language: https://spec.commonmark.org/0.31.2/#fenced-code-blocks */
export function containsCode({ format, not }: ParametersOf<'default.containsCode'>): Check {
  const tag = TAGS[format] ?? format.toLowerCase();
  const fence = new RegExp(`(?:\`\`\`|~~~)[ \\t]{0,8}(?:${tag})(?=[\\s{])`, 'gi');
  return matching(new Pattern(fence), not, { format });
}

/** Words and phrases as they are written, letter by letter. */
export function contains({ words, operator }: ParametersOf<'default.contains'>): Check {
  const has = (texts: readonly string[], word: string): boolean => texts.some((text) => text.includes(word));
  const longest = Math.max(...words.map(({ length }) => length));
  const noneOfThem: Finding = {
    verdict: holds(operator, 0, words.length),
    data: { operator, present: [] },
  };
  return {
    run: ({ texts }) => {
      const present = words.filter((word) => has(texts, word));
      if (present.length === 0) return noneOfThem;
      // The other words are the operator's own affair: the result goes to the client.
      return { verdict: holds(operator, present.length, words.length), data: { operator, present } };
    },
    looksEverywhere: operator === 'none',
    ...(operator === 'none' && {
      open: () => new WindowFilter(longest - 1, ({ text }) => words.some((word) => text.includes(word))),
    }),
  };
}

/** What "any", "all" and "none" mean for so many out of so many. */
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

/** How the last text ends, spaces behind it aside, and one full stop if the suffix has none. */
export const endsWith = ({ suffix, not }: ParametersOf<'default.endsWith'>): Check => ({
  run: ({ texts }) => {
    const last = (texts.at(-1) ?? '').trimEnd();
    return { verdict: (last.endsWith(suffix) || last.endsWith(`${suffix}.`)) !== not, data: { suffix, not } };
  },
});

/** There is text at all, and not only spaces. */
export const notNull = ({ not }: ParametersOf<'default.notNull'>): Check => ({
  run: ({ texts }) => ({ verdict: texts.some((text) => text.trim() !== '') !== not, data: { not } }),
});
