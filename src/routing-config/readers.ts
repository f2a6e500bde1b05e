import type { JsonObject } from './document.js';
import type { DocumentPath } from './document-path.js';
import { didYouMean } from '../common/text/nearest-names.js';

/** Reads a value as a T, or notes a mistake at its path and returns undefined. */
export type Reader<T> = (value: unknown, at: DocumentPath) => T | undefined;

export type Readers<T> = { readonly [Name in keyof T]-?: Reader<NonNullable<T[Name]>> };

interface TextRules {
  readonly max: number;
  readonly pattern?: RegExp;
  /** Description of the pattern, following "must be". */
  readonly expected?: string;
}

export function text({ max, pattern, expected = 'a string' }: TextRules): Reader<string> {
  return (value, at) => {
    if (typeof value !== 'string' || value === '') return at.refuse(`must be ${expected}, and not empty`);
    if (value.length > max) return at.refuse(`must not be longer than ${max} characters`);
    return pattern && !pattern.test(value) ? at.refuse(`must be ${expected}`) : value;
  };
}

interface ReaderBounds {
  readonly min: number;
  readonly max: number;
}

export function number({ min, max }: ReaderBounds): Reader<number> {
  return (value, at) =>
    typeof value === 'number' && value >= min && value <= max
      ? value
      : at.refuse(`must be a number from ${min} to ${max}`);
}

export function wholeNumber({ min, max }: ReaderBounds): Reader<number> {
  return (value, at) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : at.refuse(`must be a whole number from ${min} to ${max}`);
}

export const flag: Reader<boolean> = (value, at) =>
  typeof value === 'boolean' ? value : at.refuse('must be true or false');

export function oneOf<const T extends string>(...allowed: readonly T[]): Reader<T> {
  return (value, at) =>
    allowed.find((one) => one === value) ?? at.refuse(`must be one of ${allowed.join(', ')}`);
}

export function listReader<T>(item: Reader<T>, { min, max }: ReaderBounds): Reader<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) return at.refuse('must be a list');
    if (value.length < min || value.length > max)
      return at.refuse(`must have from ${min} to ${max} items, and has ${value.length}`);
    // Invalid items leave a gap, so that the others keep their index. A document with mistakes is never returned.
    return value.map((one, index) => item(one, at.at(index))) as T[];
  };
}

/** An object whose content is not validated here. */
export const objectReader: Reader<JsonObject> = (value, at) =>
  isJsonObject(value) ? value : at.refuse('must be an object');

/** An object of exactly these fields. Names may be in camelCase too, as clients of the compatible API send them; null means "omitted". */
export function object<T>(fields: Readers<T>, required: readonly (keyof T & string)[] = []): Reader<T> {
  const known = fields as Readonly<Record<string, Reader<unknown>>>;
  return (value, at) => {
    if (!isJsonObject(value)) return at.refuse('must be an object');
    const read: Record<string, unknown> = {};
    const seen = new Set<string>();
    for (const [key, item] of Object.entries(value)) {
      const name = nameIn(known, key);
      if (name === null) at.at(key).refuse(`is not a known field${didYouMean(key, Object.keys(known))}`);
      else if (seen.has(name)) at.at(key).refuse('is given in two spellings');
      else if (item != null) {
        seen.add(name);
        read[name] = known[name]?.(item, at.at(key));
      }
    }
    for (const name of required) if (!seen.has(name)) at.at(name).refuse('is missing');
    return read as T;
  };
}

function nameIn(known: object, key: string): string | null {
  if (Object.hasOwn(known, key)) return key;
  const snake = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.hasOwn(known, snake) ? snake : null;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
