import { leadsRun, ListRuns, MessageRuns, NO_RUN, runBelow } from './message-runs.js';
import { isFreeForm, isTokenList, isTokenType, namesMembers, readString } from './non-texts.js';
import type { TextKind, TextTree } from './text-tree.js';
import { unread, type UnreadContent, type UnreadReason } from './unread.js';

type WalkedMembers = Readonly<Record<string, unknown>>;

/** A text of a body. */
export interface FoundText {
  readonly text: string;
  /** `beside`: a text outside of the endpoint's known places. Only checks that look everywhere read it. */
  readonly kind: TextKind | 'beside';
  /**
   * `.choices[0].delta.content`, for a piece of a stream, or where places are asked for; otherwise empty. An item of a list with an
   * `index` of its own is at that index.
   */
  readonly place: string;
  /** Equal for texts that a model reads as one; `NO_RUN` for a text that stands alone. */
  readonly run: number;
  /** It comes before the others of its run, wherever it is written. */
  readonly leads: boolean;
}

/** Receives each text and returns its replacement. */
export type TextVisitor = (found: FoundText) => string;

/** Deeper bodies are not read: `JSON.stringify`, which writes them again, is recursive. */
export const DEEPEST = 2_000;

/** The texts of a body in order, or the first reason for which not all of them can be read. */
export type FoundTexts =
  { readonly found: readonly FoundText[]; readonly unread?: undefined } | UnreadContent;

/**
 * The same body with each text replaced by the visitor's result; the same object if nothing changes. Every string is a text except those
 * that `non-texts.ts` excludes; the tree distinguishes messages from texts beside them. What cannot be read stays as it is: `findTexts` says
 * whether there is any.
 */
export function rewriteTexts<Body>(body: Body, tree: TextTree, visit: TextVisitor): Body {
  return new Walk(visit, false).through(body, tree) as Body;
}

/** `hasPlaces`: every text has its place, as in the events of a stream. */
export function findTexts(body: unknown, tree: TextTree, hasPlaces = false): FoundTexts {
  const found: FoundText[] = [];
  const walk = new Walk((one) => noted(found, one), hasPlaces);
  walk.through(body, tree);
  return walk.unread ?? { found };
}

function noted(found: FoundText[], one: FoundText): string {
  found.push(one);
  return one.text;
}

/** The position of the walk. */
interface WalkPosition {
  readonly tree: TextTree | null;
  /** The kind of every string here, whatever its name; null if names decide. */
  readonly free: FoundText['kind'] | null;
  /** Name of the member, or of the member whose list contains this item. */
  readonly name: string;
  readonly holder: WalkedMembers;
  /** The run of text parts here. */
  readonly run: number;
  /** The texts here come first in their run. */
  readonly leads: boolean;
  /** A text belongs here, so that a list of numbers stands for one. */
  readonly isSaid: boolean;
  /** Everything here is a text as tokens. */
  readonly isTokens: boolean;
}

const AT_ROOT: Omit<WalkPosition, 'tree'> = {
  ...{ free: null, name: '', holder: {}, run: NO_RUN, leads: false, isSaid: false, isTokens: false },
};

type InRun = Pick<FoundText, 'run' | 'leads'>;
const ALONE: InRun = { run: NO_RUN, leads: false };

interface TextHolder {
  /** Takes the value that is being walked after the visit. */
  put(after: unknown): void;
}

/** A list or an object that is being walked. */
interface Level extends TextHolder {
  /** Name or index of the member or item that is being walked. */
  step: string | number;
  /** Walks one further member or item; false after the last one. */
  advance(): boolean;
  result(): unknown;
}

/** Iterative, because the depth of a body is its sender's choice. */
class Walk {
  private readonly levels: Level[] = [];
  readonly runs = new MessageRuns();
  unread: UnreadContent | null = null;

  constructor(
    private readonly visit: TextVisitor,
    private readonly hasPlaces: boolean,
  ) {}

  through(body: unknown, tree: TextTree): unknown {
    const root: TextHolder = { put: (after) => void (result = after) };
    let result: unknown = body;
    this.enter(body, { ...AT_ROOT, tree }, root);
    for (let level = this.levels.at(-1); level; level = this.levels.at(-1)) {
      if (level.advance()) continue;
      this.levels.pop();
      (this.levels.at(-1) ?? root).put(level.result());
    }
    return result;
  }

  /** Gives `above` the value after the visit, unless the value has an inside, which is walked next. */
  enter(value: unknown, at: WalkPosition, above: TextHolder): void {
    if (typeof value === 'string') above.put(this.text(value, at));
    else if (typeof value === 'number') above.put(this.number(value, at));
    else if (typeof value !== 'object' || value === null) above.put(value);
    else if (this.levels.length >= DEEPEST) above.put(this.cannotRead('depth', value));
    else if (Array.isArray(value)) this.levels.push(new ListLevel(this, value, at));
    else this.levels.push(new MembersLevel(this, value as WalkedMembers, at));
  }

  cannotRead<Value>(reason: UnreadReason, value: Value): Value {
    this.unread ??= unread(reason, this.place());
    return value;
  }

  visited(text: string, kind: FoundText['kind'], { run, leads }: InRun = ALONE): string {
    const place = this.hasPlaces || kind === 'delta' ? this.place() : '';
    return this.visit({ text, kind, place, run, leads });
  }

  private text(value: string, at: WalkPosition): string {
    if (value === '') return value;
    const kind = at.tree?.here ?? at.free ?? 'beside';
    if (at.free !== null) return this.visited(value, kind, at);
    return this.reading(value, kind, at);
  }

  private reading(value: string, kind: FoundText['kind'], at: WalkPosition): string {
    const { isText, inside, unread: reason } = readString(at.name, value, at.holder);
    if (reason) return this.cannotRead(reason, value);
    const after = isText ? this.visited(value, kind, at) : value;
    if (!inside) return after;
    const insideAfter = this.visited(inside.text, kind, at);
    return after !== value || insideAfter === inside.text ? after : inside.rewrite(insideAfter);
  }

  /** A card number can also be written as a number. */
  private number(value: number, at: WalkPosition): unknown {
    if ((at.isSaid || at.isTokens) && Array.isArray(at.holder[at.name]))
      return this.cannotRead('tokens', value);
    if (at.free === null && at.tree?.here == null) return value;
    const text = String(value);
    const after = this.visited(text, 'beside');
    return after === text ? value : after;
  }

  private place(): string {
    return this.levels.map(({ step }) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  }
}

class ListLevel implements Level {
  step: number = 0;
  private index = -1;
  private copy: unknown[] | null = null;
  private readonly each: TextTree | null;
  private readonly isSaid: boolean;
  private readonly runs: ListRuns;

  constructor(
    private readonly walk: Walk,
    private readonly items: readonly unknown[],
    private readonly at: WalkPosition,
  ) {
    this.each = at.tree?.each ?? null;
    this.isSaid = at.isSaid || at.tree?.here === 'said' || this.each?.here === 'said';
    this.runs = new ListRuns(walk.runs, at.run === NO_RUN ? walk.runs.next() : at.run);
  }

  advance(): boolean {
    this.index += 1;
    if (this.index >= this.items.length) return false;
    const item = this.items[this.index];
    this.step = indexOf(item) ?? this.index;
    const run = typeof item === 'string' ? this.at.run : this.runs.of(item);
    const { free, name, holder, leads, isTokens } = this.at;
    const { each: tree, isSaid } = this;
    this.walk.enter(item, { tree, free, name, holder, run, leads, isSaid, isTokens }, this);
    return true;
  }

  put(after: unknown): void {
    if (after !== this.items[this.index]) (this.copy ??= [...this.items])[this.index] = after;
  }

  result(): unknown {
    return this.copy ?? this.items;
  }
}

class MembersLevel implements Level {
  step = '';
  private index = -1;
  private readonly names: readonly string[];
  private readonly areNamed: boolean;
  private readonly isTokens: boolean;
  private ownText = '';
  /** The members so far, once something has changed. */
  private changed: [string, unknown][] | null = null;

  constructor(
    private readonly walk: Walk,
    private readonly members: WalkedMembers,
    private readonly at: WalkPosition,
  ) {
    this.names = Object.keys(members);
    this.isTokens = at.isTokens || (at.free === null && isTokenType(members.type));
    // An object whose members the interface leaves open, unlike those of lists beside it.
    const isOpen = at.tree?.any?.below != null;
    this.areNamed = at.free !== null || isOpen || namesMembers(at.name);
  }

  advance(): boolean {
    this.index += 1;
    const name = this.names[this.index];
    if (name === undefined) return false;
    // The name is a text of its object, its value one below.
    this.step = '';
    this.ownText = this.areNamed ? this.walk.visited(name, 'beside') : name;
    this.step = name;
    this.walk.enter(this.members[name], this.below(name), this);
    return true;
  }

  put(after: unknown): void {
    const { step: name, ownText, members } = this;
    if (ownText !== name || after !== members[name])
      this.changed ??= this.names.slice(0, this.index).map((earlier) => [earlier, members[earlier]]);
    this.changed?.push([ownText, after]);
  }

  result(): unknown {
    return this.changed ? Object.fromEntries(this.changed) : this.members;
  }

  private below(name: string): WalkPosition {
    const { tree, free } = this.at;
    const holder = this.members;
    const below = tree && (tree.fields.get(name) ?? tree.any);
    const freely = below?.below ?? free ?? (isFreeForm(name) ? 'beside' : null);
    const isSaid = below?.here ? below.here === 'said' : freely === null && isTokenList(name);
    const { isTokens } = this;
    const run = this.runBelow(name);
    return { tree: below, free: freely, name, holder, run, leads: this.leadsBelow(name), isSaid, isTokens };
  }

  private runBelow(name: string): number {
    const { name: ownName, run } = this.at;
    return ownName === ''
      ? this.walk.runs.ofBody(name, this.members)
      : runBelow(name, this.members, { name: ownName, run });
  }

  private leadsBelow(name: string): boolean {
    const { name: ownName, leads } = this.at;
    return ownName === '' ? leadsRun(name) : leads;
  }
}

/** Items of streams name the item that they continue: `choices[0].index`. */
function indexOf(item: unknown): number | null {
  const index = typeof item === 'object' && item !== null ? (item as WalkedMembers).index : undefined;
  return typeof index === 'number' ? index : null;
}
