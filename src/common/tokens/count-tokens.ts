import { createRequire } from 'node:module';

/** The part of the tokenizer that is used; its module is loaded on the first call, so it is not imported. */
interface Tokenizer {
  countTokens(text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }): number;
}

/**
 * The tokenizer's time grows with the square of a run without a word boundary: 64 KiB of one repeated letter took six seconds, of Japanese
 * 45. In pieces of this many UTF-16 units, the time is linear.
 */
const PIECE = 128;
/** Beyond this many pieces, a sample is counted: this limits the time for any text to about a second. */
const MAX_PIECES = 4096;

const EVERYTHING_IS_TEXT = { disallowedSpecial: new Set<string>() };

let tokenizer: Tokenizer | undefined;

/**
 * Approximate number of tokens of a text, in OpenAI's encoding o200k_base, for usage that a provider did not report.
 *
 * Exact for prose; a token may be counted twice where a run of more than 128 characters without white space is cut, and texts above half a
 * million characters are estimated from evenly spread pieces. The first call loads 73 MiB of tables, so only the background process may
 * count.
 */
export function countTokens(text: string): number {
  const ends = cut(text);
  const step = Math.ceil(ends.length / MAX_PIECES);
  let tokens = 0;
  let counted = 0;
  for (let index = 0; index < ends.length; index += step) {
    const piece = text.slice(index === 0 ? 0 : ends[index - 1], ends[index]);
    tokens += encoded(piece);
    counted += piece.length;
  }
  return counted === text.length ? tokens : Math.round((tokens / counted) * text.length);
}

/** Text that looks like a control token (`<|endoftext|>`) is text here, not an error. */
function encoded(piece: string): number {
  tokenizer ??= createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as Tokenizer;
  return tokenizer.countTokens(piece, EVERYTHING_IS_TEXT);
}

/** Ends of pieces: before the last space within reach, because a token includes its leading space, or else anywhere. */
function cut(text: string): readonly number[] {
  const ends: number[] = [];
  let start = 0;
  while (text.length - start > PIECE) {
    const space = text.slice(start, start + PIECE).lastIndexOf(' ');
    start = space > 0 ? start + space : wholeCharacter(text, start + PIECE);
    ends.push(start);
  }
  if (start < text.length) ends.push(text.length);
  return ends;
}

/** A position that does not split a surrogate pair. */
function wholeCharacter(text: string, position: number): number {
  const before = text.charCodeAt(position - 1);
  return before >= 0xd800 && before <= 0xdbff ? position - 1 : position;
}
