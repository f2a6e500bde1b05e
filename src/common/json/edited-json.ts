import { jsonText } from './deep-json.js';
import { itemsOf, type Member, membersOf, rootSpan, type JsonSpan } from './json-spans.js';

/** A replacement for a span of the text. */
interface Edit extends JsonSpan {
  readonly text: string;
}

/**
 * Edits JSON bytes that parse to `before` so that they parse to `after`. Only changed values are replaced. Numbers
 * keep digits that JavaScript cannot represent (https://www.rfc-editor.org/rfc/rfc8259#section-6), and whitespace,
 * escapes, field order and duplicate fields stay. Unchanged values must be identical in both. A changed field that
 * occurs twice is replaced twice, so that no parser reads the old value. A value with changes `LEVELS_MAX` levels down
 * is written anew, because each level reads the text below it again.
 */
export function editedJson(json: Buffer, before: unknown, after: unknown): Buffer {
  if (Object.is(before, after)) return json;
  const text = json.toString('latin1');
  return spliced(json, editsOf({ text, before, span: rootSpan(text), levels: LEVELS_MAX }, after));
}

const LEVELS_MAX = 64;

/** Replaces the value of every top-level field of that name. `value` is a JSON text. */
export function withField(json: Buffer, name: string, value: string): Buffer {
  const text = json.toString('latin1');
  const edits = membersOf(text, rootSpan(text).start)
    .filter((member) => member.name === name)
    .map((member) => ({ ...member.value, text: value }));
  return spliced(json, edits);
}

/** Edits must be in order and must not overlap. */
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

/** A parsed value and its position in the text. */
interface SourceSpan {
  readonly text: string;
  readonly before: unknown;
  readonly span: JsonSpan;
  /** How many levels below this value are edited in place. */
  readonly levels: number;
}

function editsOf(origin: SourceSpan, after: unknown): readonly Edit[] {
  const { before, span, levels } = origin;
  if (Object.is(before, after)) return [];
  if (levels === 0) return [{ ...span, text: jsonText(after) }];
  if (isObject(before) && isObject(after)) return editsOfObject(origin, before, after);
  const edits = isList(before) && isList(after) ? editsOfList(origin, before, after) : null;
  return edits ?? [{ ...span, text: jsonText(after) }];
}

type ReplacedMembers = Readonly<Record<string, unknown>>;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isObject = (value: unknown): value is ReplacedMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function editsOfObject(
  { text, span, levels }: SourceSpan,
  before: ReplacedMembers,
  after: ReplacedMembers,
): readonly Edit[] {
  const members = membersOf(text, span.start);
  const last = new Map(members.map((member) => [member.name, member]));
  const isKept = ({ name }: Member): boolean => Object.hasOwn(after, name);
  const changed = members.filter(isKept).flatMap((member) => {
    const [was, is] = [before[member.name], after[member.name]];
    if (Object.is(was, is)) return [];
    if (last.get(member.name) !== member) return [{ ...member.value, text: jsonText(is) }];
    return editsOf({ text, before: was, span: member.value, levels: levels - 1 }, is);
  });
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  const texts = added.map((name) => `${JSON.stringify(name)}:${jsonText(after[name])}`);
  return [...changed, ...removals(members, isKept), ...additions(members, isKept, span, texts)].sort(
    (one, other) => one.start - other.start || one.end - other.end,
  );
}

/** New fields come after the last one. */
function additions(
  members: readonly Member[],
  isKept: (member: Member) => boolean,
  { start }: JsonSpan,
  texts: readonly string[],
): readonly Edit[] {
  if (texts.length === 0) return [];
  const at = members.at(-1)?.end ?? start + 1;
  return [{ start: at, end: at, text: (members.some(isKept) ? ',' : '') + texts.join(',') }];
}

/** Removes each part that is not kept, with the comma after it, or before it if an earlier part is kept. */
function removals<T extends JsonSpan>(parts: readonly T[], isKept: (part: T) => boolean): readonly Edit[] {
  const edits: Edit[] = [];
  let hasKept = false;
  for (const [at, part] of parts.entries()) {
    if (isKept(part)) hasKept = true;
    else if (hasKept) edits.push({ start: (parts[at - 1] as T).end, end: part.end, text: '' });
    else edits.push({ start: part.start, end: parts[at + 1]?.start ?? part.end, text: '' });
  }
  return edits;
}

/** Items are changed in place or removed; null for any other change. */
function editsOfList(
  { text, span, levels }: SourceSpan,
  before: readonly unknown[],
  after: readonly unknown[],
): readonly Edit[] | null {
  const items = itemsOf(text, span.start);
  if (before.length === after.length)
    return items.flatMap((item, at) =>
      editsOf({ text, before: before[at], span: item, levels: levels - 1 }, after[at]),
    );
  const kept = new Set<JsonSpan>();
  let at = 0;
  for (const value of after) {
    while (at < before.length && !Object.is(before[at], value)) at++;
    const item = items[at++];
    if (!item) return null;
    kept.add(item);
  }
  return removals(items, (item) => kept.has(item));
}
