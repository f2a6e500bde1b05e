/** Fields in reading order. The database does not preserve their order. */
const FIRST = ['name', 'strategy', 'mode', 'query', 'virtual_key', 'provider'];
const LAST = ['targets'];

const rankOf = (field: string): number => {
  if (LAST.includes(field)) return FIRST.length + 1;
  const at = FIRST.indexOf(field);
  return at < 0 ? FIRST.length : at;
};

/** The same value with the fields of every object in reading order, so that equal documents have equal texts. */
export function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(
    ([one], [other]) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1),
  );
  return Object.fromEntries(entries.map(([field, inner]) => [field, ordered(inner)]));
}
