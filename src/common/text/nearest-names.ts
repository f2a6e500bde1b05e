const MOST_SHOWN = 3;
const MOST_ERRORS = 3;
/** A name that is whole words of another counts as one typing error away: `azure` of `azure-openai`. */
const CONTAINED = 1;
const SHORTEST_PART = 3;

/**
 * The known names nearest to `unknown`, all at the same distance, those of similar length first; none if nothing is near. Compares every
 * name, so use it for errors only.
 */
export function nearestNames(unknown: string, known: Iterable<string>): readonly string[] {
  const sought = plain(unknown);
  const allowed = Math.min(MOST_ERRORS, Math.floor(sought.length / 3));
  const near: { name: string; distance: number }[] = [];
  for (const name of known) {
    const distance = distanceOf(sought, plain(name));
    if (distance <= allowed) near.push({ name, distance });
  }
  const least = Math.min(...near.map(({ distance }) => distance));
  return near
    .filter(({ distance }) => distance === least)
    .map(({ name }) => name)
    .sort((a, b) => lengthApart(a, unknown) - lengthApart(b, unknown) || a.localeCompare(b, 'en'))
    .slice(0, MOST_SHOWN);
}

const lengthApart = (one: string, other: string): number => Math.abs(one.length - other.length);

/** ` (did you mean "strategy"?)`, to follow an unknown name in an error; empty without a near name. */
export const didYouMean = (unknown: string, known: Iterable<string>): string =>
  suggestion(nearestNames(unknown, known).map((name) => `"${name}"`));

/** ` (did you mean /v1/logs or /v1/configs?)`; empty without candidates. */
export function suggestion(candidates: readonly string[]): string {
  if (candidates.length === 0) return '';
  const [last, ...others] = [...candidates].reverse();
  const first = others.length === 0 ? '' : `${others.reverse().join(', ')} or `;
  return ` (did you mean ${first}${last}?)`;
}

/** A variable segment of a path: `{slug}` or `:slug`. */
const VARIABLE = /^(?:\{.+\}|:.+)$/;

/**
 * The known paths nearest to `path`, which has as many segments. A variable segment is filled with what `path` has there.
 */
export function nearestPaths(path: string, known: Iterable<string>): readonly string[] {
  const segments = path.split('/');
  const filled = [...known]
    .map((each) => each.split('/'))
    .filter(({ length }) => length === segments.length)
    .map((parts) => parts.map((part, at) => (VARIABLE.test(part) ? segments[at] : part)).join('/'));
  return nearestNames(path, new Set(filled));
}

/** Names of fields, providers and scopes in normalized form: lower case, words with dashes. */
const plain = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s_.]+/g, '-');

/** Whether `words` are whole words of a name. */
const hasWords = (name: string, words: string): boolean => `-${name}-`.includes(`-${words}-`);

function distanceOf(sought: string, name: string): number {
  if (sought === name) return 0;
  const part = sought.length < name.length ? sought : name;
  if (part.length >= SHORTEST_PART && (hasWords(sought, name) || hasWords(name, sought))) return CONTAINED;
  // The difference in length alone is too large, and long names would cost the most.
  if (Math.abs(sought.length - name.length) > MOST_ERRORS) return Infinity;
  return editDistance(sought, name);
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one name into the other (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let [before, previous]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = numberAt(previous, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? numberAt(before, column - 2) + 1 : Infinity;
      const added = Math.min(numberAt(previous, column), numberAt(current, column - 1)) + 1;
      current.push(Math.min(replaced, swapped, added));
    }
    [before, previous] = [previous, current];
  }
  return numberAt(previous, b.length);
}

const numberAt = (row: readonly number[] | undefined, at: number): number => row?.[at] ?? Infinity;
