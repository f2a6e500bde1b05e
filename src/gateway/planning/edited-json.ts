/** A text within a JSON text. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * `after` as JSON, where `before` is what `text` was parsed to: what did not change is copied from the text, so that a number keeps
 * digits that JavaScript cannot hold (https://www.rfc-editor.org/rfc/rfc8259#section-6). What did not change is the same object.
 */
export function editedJson(text: string, before: unknown, after: unknown): string {
  const start = behindBlanks(text, 0);
  return edited({ text, before, span: { start, end: endOfValue(text, start) } }, after);
}

/** A value and where it stands. */
interface Origin {
  readonly text: string;
  readonly before: unknown;
  readonly span: Span;
}

function edited(origin: Origin, after: unknown): string {
  const { text, before, span } = origin;
  if (Object.is(before, after)) return text.slice(span.start, span.end);
  if (isList(before) && isList(after)) return editedList(text, span, before, after);
  if (isObject(before) && isObject(after)) return editedObject(text, span, before, after);
  return JSON.stringify(after);
}

type Fields = Readonly<Record<string, unknown>>;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function editedObject(text: string, { start }: Span, before: Fields, after: Fields): string {
  // Of a name that stands twice, the last one counts, as for `JSON.parse`.
  const spans = new Map(fieldsIn(text, start));
  const fields = Object.entries(after).map(([name, value]) => {
    const span = Object.hasOwn(before, name) ? spans.get(name) : undefined;
    const json = span ? edited({ text, before: before[name], span }, value) : JSON.stringify(value);
    return `${JSON.stringify(name)}:${json}`;
  });
  return `{${fields.join(',')}}`;
}

/** Items are never added or moved, only changed in their place or taken out. */
function editedList(
  text: string,
  { start }: Span,
  before: readonly unknown[],
  after: readonly unknown[],
): string {
  const spans = [...itemsIn(text, start)];
  let at = 0;
  const items = after.map((value, index) => {
    const same = before.indexOf(value, at);
    const from = same < 0 && before.length === after.length ? index : same;
    const span = spans[from];
    if (!span) return JSON.stringify(value);
    at = from + 1;
    return edited({ text, before: before[from], span }, value);
  });
  return `[${items.join(',')}]`;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSING: ReadonlySet<number> = new Set([0x7d, 0x5d]);
const BLANK: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const ENDS_WORD: ReadonlySet<number> = new Set([COMMA, ...CLOSING, ...BLANK]);

/** The fields of the object that begins at `start` of a valid text. */
function* fieldsIn(text: string, start: number): Generator<readonly [string, Span]> {
  for (let at = behindBlanks(text, start + 1); !CLOSING.has(text.charCodeAt(at));) {
    const endOfName = endOfString(text, at);
    const from = behindBlanks(text, behindBlanks(text, endOfName) + 1);
    const end = endOfValue(text, from);
    yield [JSON.parse(text.slice(at, endOfName)) as string, { start: from, end }];
    at = behindComma(text, end);
  }
}

function* itemsIn(text: string, start: number): Generator<Span> {
  for (let at = behindBlanks(text, start + 1); !CLOSING.has(text.charCodeAt(at));) {
    const end = endOfValue(text, at);
    yield { start: at, end };
    at = behindComma(text, end);
  }
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return endOfString(text, start);
  return OPENING.has(first) ? endOfNested(text, start) : endOfWord(text, start);
}

function endOfNested(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (OPENING.has(code)) depth++;
    else if (CLOSING.has(code) && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Of a number, `true`, `false` or `null`. */
function endOfWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !ENDS_WORD.has(text.charCodeAt(at))) at++;
  return at;
}

/** Long strings are most of a body, so they are searched and not walked. */
function endOfString(text: string, start: number): number {
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
