import type { Endpoint } from '../endpoint.js';

/** Finds the endpoint of a method and a path. */
export type Lookup = (method: string, path: string) => Endpoint | null;

/** One segment on the way to an operation. */
interface Node {
  readonly named: Map<string, Node>;
  /** Where any id may stand. */
  any: Node | null;
  /** What may follow an id within its segment, `:generateContent`. */
  readonly verbs: Map<string, Endpoint>;
  endpoint: Endpoint | null;
}

/** Paths of one method: those without an id as they are, the others segment by segment. */
interface Paths {
  readonly exact: Map<string, Endpoint>;
  readonly patterns: Node;
}

/** No operation has a longer path: ids and names of models have at most 256 characters. */
const PATH_CHARS_MAX = 512;

const ID = /^\{\w+\}$/;
const ID_WITH_VERB = /^\{\w+\}(:\w+)$/;

/**
 * What may stand for an id: a segment that no reader takes for more, or for less, than one name. Encoded dots, slashes,
 * backslashes and percent signs could be read as something else further on.
 */
const NAME = /^(?!\.{1,2}$)(?!.*%(?:2e|2f|5c|25))[\w\-.~:@!$&'()*+,={}%]+$/i;

/**
 * Compiles the operations of endpoints. One look-up is exact; only when that misses, the path is walked from its
 * first segment on, which ends at once for a path that no operation begins with.
 */
export function compiled(endpoints: readonly Endpoint[]): Lookup {
  const methods = new Map<string, Paths>();
  for (const endpoint of endpoints) {
    for (const { method, path } of endpoint.operations) {
      const paths = methods.get(method) ?? { exact: new Map<string, Endpoint>(), patterns: node() };
      methods.set(method, paths);
      if (path.includes('{')) insert(paths.patterns, path.slice(1).split('/'), endpoint);
      else paths.exact.set(path, endpoint);
    }
  }
  return (method, path) => {
    const paths = methods.get(method);
    if (!paths || path.length > PATH_CHARS_MAX) return null;
    return paths.exact.get(path) ?? walk(paths.patterns, path);
  };
}

const node = (): Node => ({ named: new Map(), any: null, verbs: new Map(), endpoint: null });

function insert(root: Node, segments: readonly string[], endpoint: Endpoint): void {
  let at = root;
  for (const segment of segments) {
    const verb = ID_WITH_VERB.exec(segment)?.[1];
    if (verb !== undefined) {
      at.verbs.set(verb, endpoint);
      return;
    }
    at = ID.test(segment) ? (at.any ??= node()) : namedIn(at, segment);
  }
  at.endpoint = endpoint;
}

function namedIn(parent: Node, name: string): Node {
  const known = parent.named.get(name) ?? node();
  parent.named.set(name, known);
  return known;
}

function walk(root: Node, path: string): Endpoint | null {
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
  return step(at, last)?.endpoint ?? verbOf(at, last);
}

function step(at: Node, segment: string): Node | null {
  const named = at.named.get(segment);
  if (named) return named;
  return at.any && NAME.test(segment) ? at.any : null;
}

function verbOf({ verbs }: Node, segment: string): Endpoint | null {
  if (verbs.size === 0) return null;
  const colon = segment.lastIndexOf(':');
  const found = colon > 0 ? verbs.get(segment.slice(colon)) : undefined;
  return found && NAME.test(segment.slice(0, colon)) ? found : null;
}
