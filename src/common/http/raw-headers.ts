/* Headers as Node gives them: names and values in turn. */

const lowerCased = new Map<string, string>();
const LOWER_CASED_MAX = 2_000;

/** A header's name in lower case; cached, because providers send few different ones. */
export function lower(name: string): string {
  let known = lowerCased.get(name);
  if (known === undefined) {
    known = name.toLowerCase();
    if (lowerCased.size < LOWER_CASED_MAX) lowerCased.set(name, known);
  }
  return known;
}

/** The first header of a name, which is given in lower case; null without one. */
export function headerOf(rawHeaders: readonly string[], name: string): string | null {
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (lower(rawHeaders[index] as string) === name) return rawHeaders[index + 1] ?? null;
  return null;
}
