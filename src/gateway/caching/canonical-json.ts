import { duplicateMember } from '../../common/json/duplicate-members.js';

/**
 * The canonical text of a JSON body; null if it has none, as with a member that occurs twice: parsers differ in which one they read, so two
 * different bodies would be equal.
 */
export function canonicalBody(body: Buffer): string | null {
  try {
    const text = body.toString('utf8');
    const value: unknown = JSON.parse(text);
    return duplicateMember(text) === null ? canonicalText(value) : null;
  } catch {
    return null;
  }
}

/**
 * The same text for equal values: members of objects sorted by name, no whitespace. Null for a value without such a text: it is nested too
 * deeply, or has a number that a double cannot hold, which would make two different bodies equal.
 */
export function canonicalText(value: unknown): string | null {
  try {
    return JSON.stringify(value, inOrder);
  } catch {
    return null;
  }
}

const isExact = (value: number): boolean =>
  Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);

function inOrder(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !isExact(value)) throw new RangeError('the number is not exact');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
