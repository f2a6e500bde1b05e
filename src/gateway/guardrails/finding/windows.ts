import type { RE2JS } from 're2js';
import type { TextFilter } from '../check.js';
import { isHighSurrogate } from './scanner.js';

/** A text up to this size is searched at once; a longer one in stretches, with other requests in between. */
export const STRETCH_CHARS = 64 * 1024;
/** Overlap of the stretches, so that no shorter match is cut. */
const OVERLAP_CHARS = 4 * 1024;

/** A stretch of a text. */
export interface TextWindow {
  readonly text: string;
  /** Nothing precedes it. */
  readonly isStart: boolean;
  /** Nothing follows it. */
  readonly isEnd: boolean;
}

type TextRange = readonly [start: number, end: number];

/** The first match from a position on, or null. */
type TextSearch = (text: string, from: number) => TextRange | null;

const byRegExp =
  (pattern: RegExp): TextSearch =>
  (text, from) => {
    pattern.lastIndex = from;
    const match = pattern.exec(text);
    return match ? [match.index, match.index + match[0].length] : null;
  };

const byRe2 =
  (pattern: RE2JS): TextSearch =>
  (text, from) => {
    const matcher = pattern.matcher(text);
    return matcher.find(from) ? [matcher.start(), matcher.end()] : null;
  };

/** A pattern for either engine. A RegExp must be global. */
export class Pattern {
  private readonly search: TextSearch;

  constructor(pattern: RegExp | RE2JS) {
    this.search = pattern instanceof RegExp ? byRegExp(pattern) : byRe2(pattern);
  }

  /**
   * Whether it occurs in the stretch regardless of the surrounding text. A match that touches an edge counts only if the text really begins
   * or ends there, because `^`, `$` and `\b` depend on the neighbouring character.
   */
  occursSurely({ text, isStart, isEnd }: TextWindow): boolean {
    for (let from = 0; from <= text.length;) {
      const range = this.search(text, from);
      if (!range) return false;
      const [start, end] = range;
      if ((start > 0 || isStart) && (end < text.length || isEnd)) return true;
      from = start + 1;
      if (start > 0 && end === text.length) return false;
    }
    return false;
  }

  /** Whether it occurs in the text. A match longer than 4 Ki characters may be missed in a text longer than 64 Ki. */
  occursIn(text: string): boolean | Promise<boolean> {
    if (text.length <= STRETCH_CHARS) return this.search(text, 0) !== null;
    return this.occursInStretches(text);
  }

  private async occursInStretches(text: string): Promise<boolean> {
    for (let from = 0; ; from += STRETCH_CHARS - OVERLAP_CHARS) {
      const end = Math.min(text.length, from + STRETCH_CHARS);
      const stretch = { text: text.slice(from, end), isStart: from === 0, isEnd: end === text.length };
      if (this.occursSurely(stretch)) return true;
      if (stretch.isEnd) return false;
      await new Promise(setImmediate);
    }
  }
}

/** What a text costs besides its characters: a request may have hundreds of thousands of short ones. */
const TEXT_CHARS = 64;
/** Texts up to this size together are searched at once. */
const TURN_CHARS = 256 * 1024;

/** Whether a test holds for one of the texts. Returns without a promise when they do not take long. */
export function someText(
  texts: readonly string[],
  test: (text: string) => boolean | Promise<boolean>,
  from = 0,
): boolean | Promise<boolean> {
  let cost = 0;
  for (let index = from; index < texts.length; index++) {
    const text = texts[index] as string;
    const result = test(text);
    if (result === true) return true;
    if (result !== false) return result.then((found) => found || someText(texts, test, index + 1));
    cost += text.length + TEXT_CHARS;
    if (cost > TURN_CHARS) return new Promise(setImmediate).then(() => someText(texts, test, index + 1));
  }
  return false;
}

/**
 * Passes a text unchanged while it searches for forbidden content. It holds the last `holdChars` until more follows, so that a match is not
 * released in pieces, and searches as many characters that were already released.
 */
export class WindowFilter implements TextFilter {
  private left = '';
  private waiting = '';
  private isStart = true;
  hasFailed = false;

  constructor(
    private readonly holdChars: number,
    private readonly fails: (window: TextWindow) => boolean,
  ) {}

  feed(text: string): string {
    this.waiting += text;
    this.look(false);
    const most = this.waiting.length - this.holdChars;
    return most > 0 ? this.release(isHighSurrogate(this.waiting, most - 1) ? most - 1 : most) : '';
  }

  end(): string {
    this.look(true);
    return this.release(this.waiting.length);
  }

  private look(isEnd: boolean): void {
    this.hasFailed ||= this.fails({ text: this.left + this.waiting, isStart: this.isStart, isEnd });
  }

  private release(chars: number): string {
    const out = this.waiting.slice(0, chars);
    this.waiting = this.waiting.slice(chars);
    const left = this.left + out;
    if (left.length > this.holdChars) this.isStart = false;
    this.left = this.holdChars > 0 ? left.slice(-this.holdChars) : '';
    return out;
  }
}
