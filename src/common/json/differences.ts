/** One difference between two JSON values: an operation of https://www.rfc-editor.org/rfc/rfc6902, with the previous value. */
export interface Difference {
  readonly op: 'add' | 'remove' | 'replace';
  /** https://www.rfc-editor.org/rfc/rfc6901 */
  readonly path: string;
  readonly value?: unknown;
  readonly old_value?: unknown;
}

/**
 * The operations that turn the first value into the second. Members of objects are compared by name and items of lists by position; the
 * operations can be applied in order.
 */
export function differences(from: unknown, to: unknown, path = ''): Difference[] {
  if (Array.isArray(from) && Array.isArray(to)) return ofLists(from, to, path);
  if (isObject(from) && isObject(to)) return ofObjects(from, to, path);
  return Object.is(from, to) ? [] : [{ op: 'replace', path, value: to, old_value: from }];
}

function ofObjects(from: JsonMembers, to: JsonMembers, path: string): Difference[] {
  const removed = Object.keys(from).filter((name) => !Object.hasOwn(to, name));
  return [
    ...removed.map((name) => ({ op: 'remove' as const, path: below(path, name), old_value: from[name] })),
    ...Object.entries(to).flatMap(([name, value]) =>
      Object.hasOwn(from, name)
        ? differences(from[name], value, below(path, name))
        : [{ op: 'add' as const, path: below(path, name), value }],
    ),
  ];
}

/** Surplus items are removed from the end, so that earlier positions stay valid. */
function ofLists(from: readonly unknown[], to: readonly unknown[], path: string): Difference[] {
  const shared = Math.min(from.length, to.length);
  const removed = from.slice(shared).map((old_value, index) => ({
    op: 'remove' as const,
    path: below(path, shared + index),
    old_value,
  }));
  return [
    ...from.slice(0, shared).flatMap((value, index) => differences(value, to[index], below(path, index))),
    ...removed.reverse(),
    ...to
      .slice(shared)
      .map((value, index) => ({ op: 'add' as const, path: below(path, shared + index), value })),
  ];
}

type JsonMembers = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const below = (path: string, step: string | number): string =>
  `${path}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
