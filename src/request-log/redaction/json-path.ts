interface PathStep {
  /** A name, an index, or null for any. */
  readonly into: string | number | null;
  /** At any depth below the step before. */
  readonly isDeep: boolean;
}

/** A step and the rest of the path; null after the last. */
export interface JsonPath extends PathStep {
  readonly next: JsonPath | null;
}

const MOST_STEPS = 32;

const NAME = String.raw`[A-Za-z_\u0080-\u{10FFFF}][\w\u0080-\u{10FFFF}-]*`;
const QUOTED = String.raw`'(?:[^'\\]|\\['\\])*'|"(?:[^"\\]|\\["\\])*"`;
/** `.name`, `.*`, `..name`, `..*`, `[3]`, `[*]`, `['a name']`, and brackets after two dots. */
const STEP = new RegExp(String.raw`(?:(\.\.?)(${NAME}|\*)|(\.\.)?\[(?:(\d{1,9})|(\*)|(${QUOTED}))\])`, 'uy');

/**
 * Parses a path: names, indexes, wildcards and descendants of https://www.rfc-editor.org/rfc/rfc9535. Filters, slices and negative indexes
 * are not supported. Throws an Error with the position of the first invalid character.
 */
export function jsonPath(text: string): JsonPath {
  if (!text.startsWith('$')) throw new Error('it does not begin with "$"');
  const steps: PathStep[] = [];
  for (let at = 1; at < text.length; at = STEP.lastIndex) {
    STEP.lastIndex = at;
    const found = STEP.exec(text);
    if (!found) throw new Error(`it is invalid from character ${at + 1} on`);
    steps.push(stepOf(found));
  }
  if (steps.length > MOST_STEPS) throw new Error(`it has more than ${MOST_STEPS} steps`);
  const path = steps.reduceRight<JsonPath | null>((next, step) => ({ ...step, next }), null);
  if (!path) throw new Error('it names the whole body; log_bodies keeps none');
  return path;
}

function stepOf([, dots, name, deep, index, , quoted]: RegExpExecArray): PathStep {
  const isDeep = dots === '..' || deep !== undefined;
  if (name !== undefined) return { into: name === '*' ? null : name, isDeep };
  if (index !== undefined) return { into: Number(index), isDeep };
  return { into: quoted === undefined ? null : quoted.slice(1, -1).replace(/\\(.)/g, '$1'), isDeep };
}

export type JsonValue = null | boolean | number | string | JsonValue[] | { [name: string]: JsonValue };

/**
 * Replaces every value that a path selects with `mask`. Returns true if there was one. The value must not nest deeper than the stack
 * allows.
 */
export function maskPaths(value: JsonValue, paths: Iterable<JsonPath>, mask: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  let isMasked = false;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, item] of entries) {
    const onward = following(paths, key);
    if (onward.size === 0) continue;
    if (onward.has(null)) {
      Object.defineProperty(value, key, {
        value: mask,
        enumerable: true,
        writable: true,
        configurable: true,
      });
      isMasked = true;
    } else if (maskPaths(item, onward as Set<JsonPath>, mask)) isMasked = true;
  }
  return isMasked;
}

/** The rest of the paths below a key, without duplicates; a descendant step also continues unchanged. */
function following(paths: Iterable<JsonPath>, key: string | number): Set<JsonPath | null> {
  const onward = new Set<JsonPath | null>();
  for (const path of paths) {
    if (path.into === null || path.into === key) onward.add(path.next);
    if (path.isDeep) onward.add(path);
  }
  return onward;
}
