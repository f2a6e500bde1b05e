import type { Json } from '../../providers/endpoint.js';

/** Minimum size of a long string, including quotation marks. */
export const LONG_BYTES = 1024;
/** Maximum long strings of a text. */
export const LONG_MAX = 256;
/** Deeper values are not searched. */
export const DEPTH_MAX = 64;

const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;

/** The position of a string in a text, including quotation marks, and the number of strings before it. */
export interface LiteralSpan {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** The strings of a JSON text, including names of fields. */
interface Literals {
  readonly count: number;
  readonly long: readonly LiteralSpan[];
  readonly longBytes: number;
}

/** For a valid text in which each character is a byte. */
export function literalsOf(text: string): Literals {
  const long: LiteralSpan[] = [];
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

/** Position after the closing quotation mark of the string that begins at `start`. */
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
 * Passes each long string of `json` to `take`, with its position in the text that `json` was parsed from. Returns false, possibly after
 * some calls, if positions cannot be found by counting: then none of them is valid.
 *
 * A parsed object has its fields in the order of the text, with two exceptions: fields named by a whole number, and duplicate fields, of
 * which the later one stays, so that there are fewer strings than in the text. https://tc39.es/ecma262/#sec-ordinaryownpropertykeys
 */
export function eachLong(
  json: Json,
  { count, long }: Literals,
  take: (value: string, span: LiteralSpan) => void,
): boolean {
  const counting = new StringCounter(long, take);
  return counting.walk(json, 0) && counting.met === count;
}

/** Counts the strings of a value in the order of its text. Its methods are the same for every text, so that they are compiled once. */
class StringCounter {
  met = 0;
  private next = 0;

  constructor(
    private readonly long: readonly LiteralSpan[],
    private readonly take: (value: string, span: LiteralSpan) => void,
  ) {}

  /** False if the order is unknown. */
  walk(value: unknown, depth: number): boolean {
    if (typeof value === 'string') return this.meet(value);
    if (typeof value !== 'object' || value === null) return true;
    if (depth > DEPTH_MAX) return false;
    return Array.isArray(value)
      ? this.walkList(value, depth + 1)
      : this.walkFields(value as Readonly<Record<string, unknown>>, depth + 1);
  }

  private meet(value: string | null): true {
    const span = this.long[this.next];
    if (span?.number === this.met++) {
      this.next++;
      if (value !== null) this.take(value, span);
    }
    return true;
  }

  private walkList(list: readonly unknown[], depth: number): boolean {
    for (const one of list) if (!this.walk(one, depth)) return false;
    return true;
  }

  private walkFields(fields: Readonly<Record<string, unknown>>, depth: number): boolean {
    const before = this.next;
    let isInOrder = true;
    for (const name in fields) {
      isInOrder &&= !isNumber(name);
      this.meet(null);
      if (!this.walk(fields[name], depth)) return false;
    }
    return isInOrder || this.next === before;
  }
}

function isNumber(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= ZERO && first <= NINE;
}
