import type { RE2JS } from 're2js';

/** What stands in the place of what is not kept. */
export const MASK = '***';

/** A stretch of a text: from, to. */
type Stretch = readonly [from: number, to: number];

/** Stretches that one of the patterns fits, in order; those that touch are one. */
export function stretchesIn(text: string, patterns: readonly RE2JS[]): readonly Stretch[] {
  const found: Stretch[] = [];
  for (const pattern of patterns) {
    const matcher = pattern.matcher(text);
    while (matcher.find()) if (matcher.end() > matcher.start()) found.push([matcher.start(), matcher.end()]);
  }
  return inOrder(found, true);
}

/** Those that overlap are one; and where it is said, those that touch. */
function inOrder(found: Stretch[], joinsTouching: boolean): readonly Stretch[] {
  if (found.length < 2) return found;
  found.sort(([one], [other]) => one - other);
  const merged: [number, number][] = [];
  for (const [from, to] of found) {
    const last = merged.at(-1);
    if (last && (from < last[1] || (joinsTouching && from === last[1]))) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** The same text where nothing is found. */
export function clearText(text: string, patterns: readonly RE2JS[]): string {
  return without(text, stretchesIn(text, patterns));
}

function without(text: string, stretches: readonly Stretch[], mask = MASK): string {
  if (stretches.length === 0) return text;
  let clear = '';
  let at = 0;
  for (const [from, to] of stretches) {
    clear += text.slice(at, from) + mask;
    at = to;
  }
  return clear + text.slice(at);
}

/**
 * The pieces of a text that came in pieces, without what is found in the whole, nor in a piece by itself: what stands at one
 * place may be one text or many, and next to another text a word has other ends. What spans several pieces leaves its mask
 * in the piece in which it begins.
 */
export function clearPieces(pieces: readonly string[], patterns: readonly RE2JS[]): readonly string[] {
  const found = [...stretchesIn(pieces.join(''), patterns), ...stretchesInEach(pieces, patterns)];
  if (found.length === 0) return pieces;
  const stretches = inOrder(found, false);
  let start = 0;
  return pieces.map((piece) => {
    const clear = pieceWithout(piece, start, stretches);
    start += piece.length;
    return clear;
  });
}

/** Of the whole. Ids and types are the same in every event, so equal pieces are looked through once. */
function stretchesInEach(pieces: readonly string[], patterns: readonly RE2JS[]): readonly Stretch[] {
  if (pieces.length < 2) return [];
  const known = new Map<string, readonly Stretch[]>();
  const found: Stretch[] = [];
  let start = 0;
  for (const piece of pieces) {
    const own = known.get(piece) ?? stretchesIn(piece, patterns);
    known.set(piece, own);
    for (const [from, to] of own) found.push([start + from, start + to]);
    start += piece.length;
  }
  return found;
}

function pieceWithout(piece: string, start: number, stretches: readonly Stretch[]): string {
  const end = start + piece.length;
  let clear = '';
  let at = start;
  for (const [from, to] of stretches) {
    if (to <= at || from >= end) continue;
    if (from >= at) clear += piece.slice(at - start, from - start) + MASK;
    at = Math.min(to, end);
  }
  return clear + piece.slice(at - start);
}

const BACKSLASH = '\\';

/**
 * JSON in which nothing of any string, names included, is what a pattern fits, nor anything between two strings, such as a number. All other
 * characters stay as they are. Text that is cut off, or no JSON, is worked on as far as it goes.
 */
export function clearJson(text: string, patterns: readonly RE2JS[]): string {
  const parts: string[] = [];
  let done = 0;
  for (let quote = text.indexOf('"'); quote >= 0; quote = text.indexOf('"', done)) {
    const end = endOfString(text, quote);
    const literal = text.slice(quote + 1, end);
    const value = valueOf(literal);
    const clear = clearText(value, patterns);
    parts.push(clearBetween(text.slice(done, quote), patterns), '"');
    parts.push(clear === value ? literal : JSON.stringify(clear).slice(1, -1), text.slice(end, end + 1));
    done = end + 1;
  }
  parts.push(clearBetween(text.slice(done), patterns));
  return parts.join('');
}

const HAS_WORDS = /\w/;

/** Where a value of JSON stood, a value of JSON stands. */
function clearBetween(text: string, patterns: readonly RE2JS[]): string {
  return HAS_WORDS.test(text) ? without(text, stretchesIn(text, patterns), `"${MASK}"`) : text;
}

/** Where the string that begins with this quote ends: at its closing quote, or with the text. */
function endOfString(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote;
  }
  return text.length;
}

function valueOf(literal: string): string {
  if (!literal.includes(BACKSLASH)) return literal;
  try {
    return JSON.parse(`"${literal}"`) as string;
  } catch {
    return literal;
  }
}
