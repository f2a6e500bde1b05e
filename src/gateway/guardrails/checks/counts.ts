import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import type { Check } from '../check.js';

/** A run of punctuation that ends a sentence, with closing quotes or brackets, before a space or the end. */
const SENTENCE_END = /(?<![.!?。！？…])[.!?。！？…]+["'”’)\]]{0,3}(?=\s|$)|(?<![。！？])[。！？]+/g;
/** A word has a letter or a digit: punctuation alone is none. */
const WORD = /[\p{L}\p{N}]\S*/gu;
const WRITTEN = /[\p{L}\p{N}]/u;

function occurrences(text: string, pattern: RegExp): number {
  pattern.lastIndex = 0;
  let count = 0;
  while (pattern.exec(text)) count++;
  return count;
}

/** Number of sentences of a text. An unfinished one counts too. */
export function sentencesIn(text: string): number {
  SENTENCE_END.lastIndex = 0;
  let count = 0;
  let end = 0;
  for (let match = SENTENCE_END.exec(text); match; match = SENTENCE_END.exec(text)) {
    count++;
    end = SENTENCE_END.lastIndex;
  }
  return count + (WRITTEN.test(text.slice(end)) ? 1 : 0);
}

/** Number of words of a text, separated by whitespace. */
export const wordsIn = (text: string): number => occurrences(text, WORD);

/** Approximate number of user-perceived characters: a surrogate pair is one. */
function charactersIn(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xd800) pairs++;
  return text.length - pairs;
}

interface CountRange {
  readonly least: number;
  readonly most: number;
  readonly not: boolean;
}

/** Counts over all texts of the subject together. */
function counting(countIn: (text: string) => number, { least, most, not }: CountRange): Check {
  return {
    run: ({ texts }) => {
      const count = texts.reduce((sum, text) => sum + countIn(text), 0);
      return {
        verdict: (count >= least && count <= most) !== not,
        data: { count, minimum: least, maximum: most, not },
      };
    },
  };
}

export const sentenceCount = (given: ParametersOf<'default.sentenceCount'>): Check =>
  counting(sentencesIn, { least: given.minSentences, most: given.maxSentences, not: given.not });

export const wordCount = (given: ParametersOf<'default.wordCount'>): Check =>
  counting(wordsIn, { least: given.minWords, most: given.maxWords, not: given.not });

export const characterCount = (given: ParametersOf<'default.characterCount'>): Check =>
  counting(charactersIn, { least: given.minCharacters, most: given.maxCharacters, not: given.not });
