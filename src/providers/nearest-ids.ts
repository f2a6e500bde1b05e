const MOST_SHOWN = 3;
const MOST_ERRORS = 3;
/** A name that is part of another one is as near as one with a single typing error. */
const CONTAINED = 1;
const SHORTEST_PART = 3;

/**
 * The ids that were probably meant by `asked`, nearest first; none when nothing is near. Looks at every id, so it
 * is for refusals.
 */
export function nearestIds(asked: string, ids: Iterable<string>): readonly string[] {
  const wanted = plain(asked);
  const allowed = Math.min(MOST_ERRORS, Math.floor(wanted.length / 3));
  const near: { id: string; distance: number }[] = [];
  for (const id of ids) {
    const distance = distanceOf(wanted, id);
    if (distance <= allowed) near.push({ id, distance });
  }
  near.sort((a, b) => a.distance - b.distance || a.id.localeCompare(b.id, 'en'));
  return near.slice(0, MOST_SHOWN).map(({ id }) => id);
}

/** As ids are written: lower case, words with dashes. */
const plain = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s_.]+/g, '-');

function distanceOf(wanted: string, id: string): number {
  if (wanted === id) return 0;
  const part = wanted.length < id.length ? wanted : id;
  if (part.length >= SHORTEST_PART && (wanted.includes(id) || id.includes(wanted))) return CONTAINED;
  // Their difference in length alone is too far, and a long name would cost the most.
  if (Math.abs(wanted.length - id.length) > MOST_ERRORS) return Infinity;
  return editDistance(wanted, id);
}

/** Insertions, deletions and replacements that turn one name into the other (Levenshtein). */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
