import { jsonText } from '../../common/json/deep-json.js';
import type { Json } from '../endpoint.js';

/** Reads untrusted JSON: each function accepts any value and never throws. */

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NOTHING: Json = {};

/** The object, or an empty one for everything else. */
export const objectOf = (value: unknown): Json => (isObject(value) ? value : NOTHING);

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A count that can be added and charged: a whole number of zero or more; null for everything else. */
export function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

/** The sum of tokens of one kind in Google's lists, `[{ modality: "AUDIO", tokenCount: 12 }]`; zero if none is reported. */
export function countOfModality(details: unknown, modality: string): number {
  let sum = 0;
  for (const detail of list(details)) {
    if (isObject(detail) && detail.modality === modality) sum += count(detail.tokenCount) ?? 0;
  }
  return sum;
}

/** A non-empty string, or null. */
export const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** Maximum nesting of text: a part of a message, and the parts of Mistral's reasoning in it. */
const DEPTH = 2;

/** The text of a string or of a list of parts (`{ text }`, or Mistral's `{ thinking: [...] }`). */
export function textOf(value: unknown, depth = DEPTH): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value) || depth === 0) return '';
  let text = '';
  for (const part of value as readonly unknown[]) {
    if (typeof part === 'string') text += part;
    else if (isObject(part)) text += textOf(part.text ?? part.refusal ?? part.thinking, depth - 1);
  }
  return text;
}

/**
 * The only string in a JSON text between `before` and `behind`, which contain the JSON around it; null if there is none, or several, or one
 * with escapes.
 */
export function plainTextIn(json: string, before: string, behind: string): string | null {
  const at = json.indexOf(before);
  const from = at + before.length;
  const end = json.indexOf('"', from);
  if (at < 0 || end < 0 || !json.startsWith(behind, end) || json.includes(before, end)) return null;
  const text = json.slice(from, end);
  return text.includes('\\') ? null : apart(text);
}

/**
 * The same text in memory of its own. A slice in V8 keeps the whole source string alive: here an event of 300 bytes for its one word, as
 * long as its stream lasts. Joining and slicing again makes V8 copy only the part.
 */
const apart = (text: string): string => ` ${text}`.slice(1);

/** The JSON of a value; empty for undefined. */
export const stringify = (value: unknown): string => (value === undefined ? '' : jsonText(value));

/** A JSON value as text: a string as it is, anything else as JSON. `String` throws for an object with a field `toString`. */
export const wordOf = (value: unknown): string => (typeof value === 'string' ? value : stringify(value));
