import type { Json } from '../../endpoint.js';

/** The value of the first name that an object has. Google's JSON accepts each field in two spellings. */
export function firstField(object: Json, ...names: readonly string[]): unknown {
  for (const name of names) if (Object.hasOwn(object, name)) return object[name];
  return undefined;
}

/** A string, or an empty one for everything else. */
export const word = (value: unknown): string => (typeof value === 'string' ? value : '');
