import type { Json } from '../../providers/endpoint.js';

/** Of a long string, quotation marks included. */
export const LONG_BYTES = 1024;
/** So many long ones are told of a text. */
export const LONG_MAX = 256;
/** Deeper values are not looked into. */
export const DEPTH_MAX = 64;

const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;

/** Where a string stands in a text, quotation marks included, and how many strings stand before it. */
export interface Span {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** The strings of a JSON text, names of fields among them. */
interface Literals {
  readonly count: number;
  readonly long: readonly Span[];
  readonly longBytes: number;
}

/** Of a sound text in which each character is a byte. */
export function literalsOf(text: string): Literals {
  const long: Span[] = [];
  let count = 0;
  let longBytes = 0;
  for (let start = text.indexOf('"'); start >= 0; count++) {
    const end = endOf(text, start);
    if (end - start >= LONG_BYTES && long.length < LONG_MAX) {
      long.push({ number: count, start, end });
      longBytes += end - start;
    }
    start = text.indexOf('"', end);
  }
  return { count, long, longBytes };
}

/** Behind the closing quotation mark of the string that begins at `start`. */
function endOf(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at + 1;
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (quote - before) % 2 === 0;
}

/**
 * Tells `take` each long string value of `json` with its place in the text that it was parsed from. Answers false, perhaps after
 * some, where places cannot be known by counting: then none of them counts.
 *
 * A parsed object has its fields in the order of the text, but for those named by a whole number, and but for a field
 * that is there twice, of which the later one stays: then there are fewer strings than in the text.
 * https://tc39.es/ecma262/#sec-ordinaryownpropertykeys
 */
export function eachLong(
  json: Json,
  { count, long }: Literals,
  take: (value: string, span: Span) => void,
): boolean {
  let met = 0;
  let next = 0;
  const meet = (value: string | null): void => {
    const span = long[next];
    if (span?.number === met++) {
      next++;
      if (value !== null) take(value, span);
    }
  };
  const walk = (value: unknown, depth: number): boolean => {
    if (typeof value === 'string') meet(value);
    if (typeof value !== 'object' || value === null) return true;
    if (depth > DEPTH_MAX) return false;
    return Array.isArray(value) ? value.every((one) => walk(one, depth + 1)) : walkFields(value, depth);
  };
  const walkFields = (fields: object, depth: number): boolean => {
    const before = next;
    let isInOrder = true;
    for (const [name, value] of Object.entries(fields)) {
      isInOrder &&= !isNumber(name);
      meet(null);
      if (!walk(value, depth + 1)) return false;
    }
    return isInOrder || next === before;
  };
  return walk(json, 0) && met === count;
}

function isNumber(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= ZERO && first <= NINE;
}
