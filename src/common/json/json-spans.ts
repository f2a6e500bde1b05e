/** A value within a JSON text, from `start` up to, not including, `end`. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** A field of an object: the span from its name to the end of its value. */
export interface Member extends JsonSpan {
  readonly name: string;
  readonly value: JsonSpan;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const opens = (code: number): boolean => code === 0x7b || code === 0x5b;
const closes = (code: number): boolean => code === 0x7d || code === 0x5d;
const BLANK: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const ENDS_WORD: ReadonlySet<number> = new Set([COMMA, 0x7d, 0x5d, ...BLANK]);

/** The UTF-8 bytes of a byte order mark, as Latin-1 characters. */
const BOM = 'ï»¿';

/** The value of a whole text, without surrounding whitespace. */
export function rootSpan(text: string): JsonSpan {
  const start = behindBlanks(text, text.startsWith(BOM) ? BOM.length : 0);
  return { start, end: endOfValue(text, start) };
}

/**
 * The fields of the object that begins at `start`, in order; a name may occur twice. The text must be valid UTF-8
 * JSON decoded as Latin-1, so that positions are byte offsets.
 */
export function membersOf(text: string, start: number): Member[] {
  const members: Member[] = [];
  for (let at = behindBlanks(text, start + 1); !closes(text.charCodeAt(at));) {
    const endOfName = endOfString(text, at);
    const from = behindBlanks(text, behindBlanks(text, endOfName) + 1);
    const end = endOfValue(text, from);
    members.push({ name: nameIn(text.slice(at, endOfName)), start: at, end, value: { start: from, end } });
    at = behindComma(text, end);
  }
  return members;
}

/** The items of the list that begins at `start`. */
export function itemsOf(text: string, start: number): JsonSpan[] {
  const items: JsonSpan[] = [];
  for (let at = behindBlanks(text, start + 1); !closes(text.charCodeAt(at));) {
    const end = endOfValue(text, at);
    items.push({ start: at, end });
    at = behindComma(text, end);
  }
  return items;
}

/** Names may be spelled with escapes, so they are decoded before they are compared. */
function nameIn(literal: string): string {
  if (PLAIN_NAME.test(literal)) return literal.slice(1, -1);
  return JSON.parse(Buffer.from(literal, 'latin1').toString('utf8')) as string;
}

const PLAIN_NAME = /^"[\w.-]*"$/;

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  return opens(first) ? endOfNested(text, start) : endOfWord(text, start);
}

function endOfNested(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (opens(code)) depth++;
    else if (closes(code) && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The end of a number, `true`, `false` or `null`. */
function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !ENDS_WORD.has(text.charCodeAt(at))) at++;
  return at;
}

/** The end of the string that begins at `start`. Long strings make up most of a body, so `indexOf` skips them. */
export function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at + 1;
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (quote - before) % 2 === 0;
}

function behindBlanks(text: string, from: number): number {
  let at = from;
  while (BLANK.has(text.charCodeAt(at))) at++;
  return at;
}

function behindComma(text: string, from: number): number {
  const at = behindBlanks(text, from);
  return text.charCodeAt(at) === COMMA ? behindBlanks(text, at + 1) : at;
}
