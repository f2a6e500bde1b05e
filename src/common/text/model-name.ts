/**
 * A model's name, whatever its spelling: providers ignore case and white space at the ends, or accept their own id before the name. Rules
 * that forbid, limit or price a model compare these; lists of allowed models compare exact names.
 */
export function canonicalModel(model: string, providerId: string): string {
  const name = model.trim().toLowerCase();
  const prefix = `${providerId}/`;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** Whether two names mean the same model at a provider. */
export const isSameModel = (one: string, other: string, providerId: string): boolean =>
  one === other || canonicalModel(one, providerId) === canonicalModel(other, providerId);

/** Names by their canonical form. A virtual key has one provider, and lists live long: each is read once. */
const canonical = new WeakMap<object, ReadonlyMap<string, string>>();

/** The name in a list of one provider that means the same model; null for none. */
export function sameModelIn(
  names: ReadonlySet<string> | ReadonlyMap<string, unknown>,
  model: string,
  providerId: string,
): string | null {
  let known = canonical.get(names);
  if (!known) {
    known = new Map([...names.keys()].map((name) => [canonicalModel(name, providerId), name]));
    canonical.set(names, known);
  }
  return known.get(canonicalModel(model, providerId)) ?? null;
}
