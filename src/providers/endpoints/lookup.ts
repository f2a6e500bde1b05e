import type { EndpointOperation } from '../endpoint.js';

/** A row that is found by its requests: an endpoint, or a charge. */
interface OperationRow {
  readonly operations: readonly EndpointOperation[];
}

/** Finds the row of a method and a path. */
export type Lookup<T> = (method: string, path: string) => T | null;

/** One segment on the way to an operation. */
interface PathTreeNode<T> {
  readonly named: Map<string, PathTreeNode<T>>;
  /** Matches any id. */
  any: PathTreeNode<T> | null;
  /** Suffixes of an id within its segment, `:generateContent`. */
  readonly verbs: Map<string, T>;
  row: T | null;
}

/** Paths of one method: those without an id exactly, the others segment by segment. */
interface Paths<T> {
  readonly exact: Map<string, T>;
  readonly patterns: PathTreeNode<T>;
}

/** No operation has a longer path: ids and names of models have at most 256 characters. */
const PATH_CHARS_MAX = 512;

const ID = /^\{\w+\}$/;
const ID_WITH_VERB = /^\{\w+\}(:\w+)$/;

/**
 * A valid id: a segment that every parser reads as exactly one name. Encoded dots, slashes, backslashes and percent signs could be read
 * differently further on.
 */
const NAME = /^(?!\.{1,2}$)(?!.*%(?:2e|2f|5c|25))[\w\-.~:@!$&'()*+,={}%]+$/i;

/**
 * Compiles the operations of rows. The first look-up is exact; only if it misses, the path is walked from its first segment on, which ends
 * at once for a path that no operation begins with.
 */
export function compiled<T extends OperationRow>(rows: readonly T[]): Lookup<T> {
  const methods = new Map<string, Paths<T>>();
  for (const row of rows) {
    for (const { method, path } of row.operations) {
      const paths = methods.get(method) ?? { exact: new Map<string, T>(), patterns: node<T>() };
      methods.set(method, paths);
      if (path.includes('{')) insert(paths.patterns, path.slice(1).split('/'), row);
      else paths.exact.set(path, row);
    }
  }
  return (method, path) => {
    const paths = methods.get(method);
    if (!paths || path.length > PATH_CHARS_MAX) return null;
    return paths.exact.get(path) ?? walk(paths.patterns, path);
  };
}

const node = <T>(): PathTreeNode<T> => ({ named: new Map(), any: null, verbs: new Map(), row: null });

function insert<T>(root: PathTreeNode<T>, segments: readonly string[], row: T): void {
  let at = root;
  for (const segment of segments) {
    const verb = ID_WITH_VERB.exec(segment)?.[1];
    if (verb !== undefined) {
      at.verbs.set(verb, row);
      return;
    }
    at = ID.test(segment) ? (at.any ??= node<T>()) : namedIn(at, segment);
  }
  at.row = row;
}

function namedIn<T>(parent: PathTreeNode<T>, name: string): PathTreeNode<T> {
  const known = parent.named.get(name) ?? node<T>();
  parent.named.set(name, known);
  return known;
}

function walk<T>(root: PathTreeNode<T>, path: string): T | null {
  if (!path.startsWith('/')) return null;
  let at = root;
  let start = 1;
  for (let slash = path.indexOf('/', start); slash >= 0; slash = path.indexOf('/', start)) {
    const next = step(at, path.slice(start, slash));
    if (!next) return null;
    at = next;
    start = slash + 1;
  }
  const last = path.slice(start);
  return step(at, last)?.row ?? verbOf(at, last);
}

function step<T>(at: PathTreeNode<T>, segment: string): PathTreeNode<T> | null {
  const named = at.named.get(segment);
  if (named) return named;
  return at.any && NAME.test(segment) ? at.any : null;
}

function verbOf<T>({ verbs }: PathTreeNode<T>, segment: string): T | null {
  if (verbs.size === 0) return null;
  const colon = segment.lastIndexOf(':');
  const found = colon > 0 ? verbs.get(segment.slice(colon)) : undefined;
  return found && NAME.test(segment.slice(0, colon)) ? found : null;
}
