import type { Json } from '../endpoint.js';

/** Reading of JSON whose author is not trusted: each function takes anything and never throws. */

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NOTHING: Json = {};

/** The object, or an empty one for everything else. */
export const objectOf = (value: unknown): Json => (isObject(value) ? value : NOTHING);

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A count that can be added and charged: a whole number of zero or more, or null for everything else. */
export function count(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

/** The sum of tokens of one kind in Google's lists, `[{ modality: "AUDIO", tokenCount: 12 }]`; zero where none is reported. */
export function countOfModality(details: unknown, modality: string): number {
  let sum = 0;
  for (const detail of list(details)) {
    if (isObject(detail) && detail.modality === modality) sum += count(detail.tokenCount) ?? 0;
  }
  return sum;
}

/** A string that says something, or null. */
export const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** How deep text may be nested: a part of a message, and what Mistral's reasoning parts contain. */
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
 * The one string that stands in a JSON text between `before` and `behind`, both of which say how the JSON goes on around it; null where
 * there is none, or several, or one with escapes.
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
 * The same text in memory of its own. What V8 slices from a string keeps the whole of that string alive: here an event of 300 bytes for
 * its one word, as long as its stream lasts. Joining and slicing once more makes V8 copy the part alone.
 */
const apart = (text: string): string => ` ${text}`.slice(1);

/** The JSON of a value; empty where there is none, as for one that is nested too deep to be written. */
export function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

/** A value of JSON where a word is looked for: a text as it is, and anything else as JSON. `String` throws for an object that has a field `toString`. */
export const wordOf = (value: unknown): string => (typeof value === 'string' ? value : stringify(value));
