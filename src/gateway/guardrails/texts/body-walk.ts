import { decodedBase64, encodedBase64, formOf, isFree, namesMembers } from './non-texts.js';
import type { TextKind, TextTree } from './text-tree.js';

type Members = Readonly<Record<string, unknown>>;

/** A text of a body. */
export interface FoundText {
  readonly text: string;
  /** `beside`: a text outside of the endpoint's known places. Only checks that look everywhere read it. */
  readonly kind: TextKind | 'beside';
  /**
   * `.choices[0].delta.content`, for a piece of a stream, or where places are asked for; otherwise empty. An item of a list with an `index` of its own is at that index.
   */
  readonly place: string;
}

/** Receives each text and returns its replacement. */
export type TextVisitor = (found: FoundText) => string;

/** Maximum depth of a body: a deeper one is refused. */
const DEEPEST = 200;

/** The body is nested too deeply to search it for texts. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

/**
 * The same body with each text replaced by the visitor's result; the same object if nothing changes. Every string is a text except those
 * that `non-texts.ts` excludes; the tree distinguishes messages from texts beside them. Throws `TooDeep`.
 */
export function rewriteTexts<Body>(body: Body, tree: TextTree, visit: TextVisitor): Body {
  return new Walk(visit, false).value(body, { tree, free: null, name: '', holder: NOBODY }) as Body;
}

/** Every text of the body, in order. Throws `TooDeep`. `hasPlaces`: the place of each is told, as in the events of a stream. */
export function textsIn(body: unknown, tree: TextTree, hasPlaces = false): FoundText[] {
  const found: FoundText[] = [];
  const visit: TextVisitor = (one) => {
    found.push(one);
    return one.text;
  };
  new Walk(visit, hasPlaces).value(body, { tree, free: null, name: '', holder: NOBODY });
  return found;
}

const NOBODY: Members = {};

/** The position of the walk. */
interface Position {
  readonly tree: TextTree | null;
  /** The kind of every string here, whatever its name; null if names decide. */
  readonly free: FoundText['kind'] | null;
  /** Name of the member, or of the member whose list contains this item. */
  readonly name: string;
  readonly holder: Members;
}

class Walk {
  /** Names of members and positions of items. */
  private readonly path: (string | number)[] = [];

  constructor(
    private readonly visit: TextVisitor,
    private readonly hasPlaces: boolean,
  ) {}

  value(value: unknown, at: Position): unknown {
    if (typeof value === 'string') return this.text(value, at);
    if (typeof value === 'number') return at.free === null ? value : this.number(value);
    if (typeof value !== 'object' || value === null) return value;
    if (this.path.length > DEEPEST) throw new TooDeep();
    return Array.isArray(value) ? this.list(value, at) : this.members(value as Members, at);
  }

  private text(value: string, at: Position): string {
    const form = at.free === null ? formOf(at.name, value, at.holder) : 'text';
    if (form === null || value === '') return value;
    const kind = at.tree?.here ?? at.free ?? 'beside';
    if (form === 'text') return this.visited(value, kind);
    const text = decodedBase64(value);
    const after = this.visited(text, kind);
    return after === text ? value : encodedBase64(value, after);
  }

  /** A card number can also be written as a number. */
  private number(value: number): unknown {
    const text = String(value);
    const after = this.visited(text, 'beside');
    return after === text ? value : after;
  }

  private visited(text: string, kind: FoundText['kind']): string {
    return this.visit({ text, kind, place: this.hasPlaces || kind === 'delta' ? this.place() : '' });
  }

  private place(): string {
    return this.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  }

  private list(items: readonly unknown[], at: Position): readonly unknown[] {
    const tree = at.tree?.each ?? null;
    let copy: unknown[] | null = null;
    for (let position = 0; position < items.length; position++) {
      const item = items[position];
      const { free, name, holder } = at;
      const after = this.below(indexOf(item) ?? position, item, { tree, free, name, holder });
      if (after !== item) (copy ??= [...items])[position] = after;
    }
    return copy ?? items;
  }

  private members(members: Members, at: Position): Members {
    const areNamed = at.free !== null || namesMembers(at.name);
    /** The members so far, once something has changed. */
    let changed: [string, unknown][] | null = null;
    const names = Object.keys(members);
    for (const [position, name] of names.entries()) {
      const value = members[name];
      const said = areNamed ? this.visited(name, 'beside') : name;
      const after = this.member(name, value, members, at);
      if (said !== name || after !== value)
        changed ??= names.slice(0, position).map((earlier) => [earlier, members[earlier]]);
      changed?.push([said, after]);
    }
    return changed ? Object.fromEntries(changed) : members;
  }

  private member(name: string, value: unknown, holder: Members, { tree, free }: Position): unknown {
    const below = tree && (tree.fields.get(name) ?? tree.any);
    const freely = below?.below ?? free ?? (isFree(name) ? 'beside' : null);
    return this.below(name, value, { tree: below, free: freely, name, holder });
  }

  private below(step: string | number, value: unknown, at: Position): unknown {
    this.path.push(step);
    const after = this.value(value, at);
    this.path.pop();
    return after;
  }
}

/** Items of streams name the item that they continue: `choices[0].index`. */
function indexOf(item: unknown): number | null {
  const index = typeof item === 'object' && item !== null ? (item as Members).index : undefined;
  return typeof index === 'number' ? index : null;
}
