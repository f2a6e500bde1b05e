import { itemsOf, type Member, membersOf, rootOf, type Span } from './json-spans.js';

/** What stands in place of a span of the text. */
interface Edit extends Span {
  readonly text: string;
}

/**
 * The bytes of a JSON text that was parsed to `before`, changed so that they are parsed to `after`. Only the bytes of what
 * changed are replaced: numbers keep digits that JavaScript cannot hold (https://www.rfc-editor.org/rfc/rfc8259#section-6),
 * and blanks, escapes, the order of fields and fields that stand twice stay. What did not change must be the same object in
 * both. A changed field that stands twice is changed in both places, so that no reader sees the old value.
 */
export function editedJson(json: Buffer, before: unknown, after: unknown): Buffer {
  if (Object.is(before, after)) return json;
  const text = json.toString('latin1');
  return spliced(json, editsOf({ text, before, span: rootOf(text) }, after));
}

/** The same JSON object with another text for each of its own fields of that name. `value` is JSON. */
export function withField(json: Buffer, name: string, value: string): Buffer {
  const text = json.toString('latin1');
  const edits = membersOf(text, rootOf(text).start)
    .filter((member) => member.name === name)
    .map((member) => ({ ...member.value, text: value }));
  return spliced(json, edits);
}

/** Edits are in the order of the text and do not overlap. */
function spliced(json: Buffer, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return json;
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const { start, end, text } of edits) {
    pieces.push(json.subarray(copied, start), Buffer.from(text));
    copied = end;
  }
  return Buffer.concat([...pieces, json.subarray(copied)]);
}

/** A value and where it stands. */
interface Origin {
  readonly text: string;
  readonly before: unknown;
  readonly span: Span;
}

function editsOf(origin: Origin, after: unknown): readonly Edit[] {
  const { before, span } = origin;
  if (Object.is(before, after)) return [];
  if (isObject(before) && isObject(after)) return editsOfObject(origin, before, after);
  const edits = isList(before) && isList(after) ? editsOfList(origin, before, after) : null;
  return edits ?? [{ ...span, text: JSON.stringify(after) }];
}

type Fields = Readonly<Record<string, unknown>>;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function editsOfObject({ text, span }: Origin, before: Fields, after: Fields): readonly Edit[] {
  const members = membersOf(text, span.start);
  const last = new Map(members.map((member) => [member.name, member]));
  const isKept = ({ name }: Member): boolean => Object.hasOwn(after, name);
  const changed = members.filter(isKept).flatMap((member) => {
    const [was, is] = [before[member.name], after[member.name]];
    if (Object.is(was, is)) return [];
    if (last.get(member.name) !== member) return [{ ...member.value, text: JSON.stringify(is) }];
    return editsOf({ text, before: was, span: member.value }, is);
  });
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  const texts = added.map((name) => `${JSON.stringify(name)}:${JSON.stringify(after[name])}`);
  return [...changed, ...removals(members, isKept), ...additions(members, isKept, span, texts)].sort(
    (one, other) => one.start - other.start || one.end - other.end,
  );
}

/** Further fields stand behind the last one. */
function additions(
  members: readonly Member[],
  isKept: (member: Member) => boolean,
  { start }: Span,
  texts: readonly string[],
): readonly Edit[] {
  if (texts.length === 0) return [];
  const at = members.at(-1)?.end ?? start + 1;
  return [{ start: at, end: at, text: (members.some(isKept) ? ',' : '') + texts.join(',') }];
}

/** Takes out each part that is not kept, with the comma behind it, or before it where another part stays before it. */
function removals<T extends Span>(parts: readonly T[], isKept: (part: T) => boolean): readonly Edit[] {
  const edits: Edit[] = [];
  let hasKept = false;
  for (const [at, part] of parts.entries()) {
    if (isKept(part)) hasKept = true;
    else if (hasKept) edits.push({ start: (parts[at - 1] as T).end, end: part.end, text: '' });
    else edits.push({ start: part.start, end: parts[at + 1]?.start ?? part.end, text: '' });
  }
  return edits;
}

/** Items are changed in their place, or some are taken out; null for anything else. */
function editsOfList(
  { text, span }: Origin,
  before: readonly unknown[],
  after: readonly unknown[],
): readonly Edit[] | null {
  const items = itemsOf(text, span.start);
  if (before.length === after.length)
    return items.flatMap((item, at) => editsOf({ text, before: before[at], span: item }, after[at]));
  const kept = new Set<Span>();
  let at = 0;
  for (const value of after) {
    while (at < before.length && !Object.is(before[at], value)) at++;
    const item = items[at++];
    if (!item) return null;
    kept.add(item);
  }
  return removals(items, (item) => kept.has(item));
}
