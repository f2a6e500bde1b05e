/** The canonical text of a JSON body; null where it has none. */
export function canonicalJson(body: Buffer): string | null {
  try {
    return canonicalText(JSON.parse(body.toString('utf8')));
  } catch {
    return null;
  }
}

/**
 * The same text for values that say the same: members of objects in the order of their names, no blanks. Null for what has
 * no such text: it is nested too deep, or has a number that a double cannot hold, which would make one of two different
 * bodies.
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
