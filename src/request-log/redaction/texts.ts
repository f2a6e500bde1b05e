import type { RE2JS } from 're2js';

/** The replacement for redacted text. */
export const REDACTED_TEXT = '***';

/** A range of a text: from, to. */
type Stretch = readonly [from: number, to: number];

/** Ranges that match one of the patterns, in order; touching ranges are merged. */
export function stretchesIn(text: string, patterns: readonly RE2JS[]): readonly Stretch[] {
  const found: Stretch[] = [];
  for (const pattern of patterns) {
    const matcher = pattern.matcher(text);
    while (matcher.find()) if (matcher.end() > matcher.start()) found.push([matcher.start(), matcher.end()]);
  }
  return inOrder(found, true);
}

/** Merges overlapping ranges, and touching ones if requested. */
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

/** Returns the same text if nothing matches. */
export function clearText(text: string, patterns: readonly RE2JS[]): string {
  return without(text, stretchesIn(text, patterns));
}

function without(text: string, stretches: readonly Stretch[], mask = REDACTED_TEXT): string {
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
 * Redacts the pieces of a split text: what matches in the joined text or in a single piece. The strings at one path may be one text or
 * many, and a word has different boundaries when joined to its neighbour. A match across several pieces leaves its mask in the piece where
 * it begins.
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

/** Ranges in each piece. Ids and types repeat in every event, so equal pieces are searched once. */
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
    if (from >= at) clear += piece.slice(at - start, from - start) + REDACTED_TEXT;
    at = Math.min(to, end);
  }
  return clear + piece.slice(at - start);
}

const BACKSLASH = '\\';

/**
 * Redacts JSON without parsing it: strings, names included, and the text between strings, such as numbers. All other characters stay
 * unchanged. Truncated or invalid JSON is processed as far as possible.
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

/** A JSON value is replaced by a JSON value. */
function clearBetween(text: string, patterns: readonly RE2JS[]): string {
  return HAS_WORDS.test(text) ? without(text, stretchesIn(text, patterns), `"${REDACTED_TEXT}"`) : text;
}

/** The end of the string that starts at this quote: its closing quote, or the end of the text. */
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
