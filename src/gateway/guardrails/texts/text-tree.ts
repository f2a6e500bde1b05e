import type { Json } from '../../../providers/endpoint.js';

/**
 * Where texts stand in the bodies of an endpoint, as a tree, so that one walk meets them in the order of the document.
 * A place is written `messages[].content[].text`; `[]` stands for each item of a list, and `**` at the end for every
 * text below.
 */
export interface TextTree {
  readonly fields: ReadonlyMap<string, TextTree>;
  readonly each: TextTree | null;
  /** A text that stands here counts. */
  readonly isText: boolean;
  readonly isDeep: boolean;
}

/** Hears each text with its place, `choices[0].message.content`, and gives what shall stand there. */
export type TextVisitor = (text: string, place: string) => string;

/** Deeper texts are not looked for: a body that hides them there is refused instead of walked. */
const DEEPEST = 200;

/** The body is nested deeper than texts are looked for. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

export function textTree(...places: readonly string[]): TextTree {
  return treeOf(places.map((place) => place.replaceAll('[]', '.[]').split('.')));
}

function treeOf(paths: readonly (readonly string[])[]): TextTree {
  const heads = [...new Set(paths.flatMap(([head]) => (head === undefined ? [] : [head])))];
  const below = (head: string): TextTree =>
    treeOf(paths.filter(([first]) => first === head).map(([, ...rest]) => rest));
  return {
    fields: new Map(
      heads.filter((head) => head !== '[]' && head !== '**').map((head) => [head, below(head)]),
    ),
    each: heads.includes('[]') ? below('[]') : null,
    isText: paths.some((path) => path.length === 0),
    isDeep: heads.includes('**'),
  };
}

/** The same body with every text as the visitor gives it; the very same object where it changes nothing. Throws `TooDeep`. */
export function rewriteTexts(body: Json, tree: TextTree, visit: TextVisitor): Json {
  return rewritten(body, tree, { place: '', depth: 0, visit }) as Json;
}

/** Every text of the body, in order. Throws `TooDeep`. */
export function textsOf(body: Json, tree: TextTree): string[] {
  const texts: string[] = [];
  gather(body, tree, { depth: 0, texts });
  return texts;
}

interface Gathering {
  depth: number;
  readonly texts: string[];
}

/** The walk of `rewritten` without what only a change needs: each request and answer goes this way. */
function gather(value: unknown, tree: TextTree, into: Gathering): void {
  if (typeof value === 'string') {
    if (tree.isText || tree.isDeep) into.texts.push(value);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (into.depth > DEEPEST) throw new TooDeep();
  into.depth += 1;
  if (Array.isArray(value)) gatherItems(value, tree, into);
  else gatherFields(value as Json, tree, into);
  into.depth -= 1;
}

function gatherFields(fields: Json, tree: TextTree, into: Gathering): void {
  if (tree.isDeep) for (const inner of Object.values(fields)) gather(inner, tree, into);
  else for (const [name, below] of tree.fields) gather(fields[name], below, into);
}

function gatherItems(items: readonly unknown[], tree: TextTree, into: Gathering): void {
  const below = tree.isDeep ? tree : tree.each;
  if (below) for (const item of items) gather(item, below, into);
}

interface Walk {
  readonly place: string;
  readonly depth: number;
  readonly visit: TextVisitor;
}

function rewritten(value: unknown, tree: TextTree, walk: Walk): unknown {
  if (typeof value === 'string') return tree.isText || tree.isDeep ? walk.visit(value, walk.place) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (walk.depth > DEEPEST) throw new TooDeep();
  return Array.isArray(value)
    ? rewrittenItems(value, tree, walk)
    : rewrittenFields(value as Json, tree, walk);
}

function rewrittenItems(items: readonly unknown[], tree: TextTree, walk: Walk): unknown {
  const below = tree.isDeep ? tree : tree.each;
  if (!below) return items;
  let copy: unknown[] | null = null;
  for (const [position, item] of items.entries()) {
    const place = `${walk.place}[${indexOf(item) ?? position}]`;
    const after = rewritten(item, below, { ...walk, place, depth: walk.depth + 1 });
    if (after !== item) (copy ??= [...items])[position] = after;
  }
  return copy ?? items;
}

function rewrittenFields(fields: Json, tree: TextTree, walk: Walk): unknown {
  let copy: Record<string, unknown> | null = null;
  for (const name of tree.isDeep ? Object.keys(fields) : tree.fields.keys()) {
    const inner = fields[name];
    const below = tree.isDeep ? tree : tree.fields.get(name);
    if (inner === undefined || !below) continue;
    const after = rewritten(inner, below, { ...walk, place: `${walk.place}.${name}`, depth: walk.depth + 1 });
    if (after !== inner) (copy ??= { ...fields })[name] = after;
  }
  return copy ?? fields;
}

/** Items of streams say themselves which one they continue: `choices[0].index`. */
function indexOf(item: unknown): number | null {
  const index = typeof item === 'object' && item !== null ? (item as Json).index : undefined;
  return typeof index === 'number' ? index : null;
}
