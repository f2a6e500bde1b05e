import type { Json } from '../../providers/endpoint.js';
import type { Facts } from './check.js';
import { changingBy, denyingBy, PartFilters } from './part-filters.js';
import type { Hook } from './run-hooks.js';
import { probing, tailOf } from './stream-runs.js';
import type { FoundText } from './texts/body-walk.js';
import { EscapedText } from './texts/escaped-text.js';

const CONSTANTS_MAX = 1_024;
/** A longer value that begins with the one before it is the text so far, sent again. */
const REPEAT_CHARS_MIN = 8;
const PLACES_MAX = 50_000;
const CHARS_MAX = 8 * 1024 * 1024;

/** Numbers of an event that name the item which it continues. */
const ITEM_NUMBERS = ['output_index', 'content_index', 'summary_index', 'index'] as const;
/** Lists whose items are pieces of one text, at a new position in each event. https://ai.google.dev/api/caching#Content */
const UNNUMBERED = /(\.(?:parts|partialArgs|partial_args))\[\d+\]/g;
/**
 * Members that are whole in every event: random padding, which OpenAI adds to the events of a stream.
 * https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options
 */
const WHOLE_NAMES = /\.obfuscation$/;
const DELTA = /delta/i;

/** The strings at one place of a stream's events. */
interface Join {
  readonly escaped: EscapedText;
  last: string;
  /** How often the first string has come, while no other has: a constant, or the beginning of a text in pieces. 0 after another one. */
  constantFor: number;
  tail: string;
  /** The pieces so far; the first alone does not count. */
  readonly pieces: string[];
}

/**
 * Joins what the events of a stream say at places where no table of texts expects pieces: a kind of delta that is not known, or members
 * beside the known ones. Each string has been judged alone; here it is judged together with those before it at the same place.
 *
 * The piece that completes a finding is not sent. It cannot be rewritten either, because the rest of the text has left, so a text that would
 * have to change stops the stream like a denial.
 */
export class StreamJoins {
  private readonly joins = new Map<string, Join>();
  private chars = 0;
  private readonly denier: string | null;
  private readonly changer: string | null;
  private readonly probing: Facts;

  constructor(
    private readonly hooks: readonly Hook[],
    facts: Facts,
  ) {
    this.denier = denyingBy(hooks);
    this.changer = changingBy(hooks);
    this.probing = probing(facts);
  }

  /** Texts in more than one piece. */
  get texts(): readonly string[] {
    return [...this.joins.values()].flatMap(({ pieces }) => (pieces.length > 1 ? [pieces.join('')] : []));
  }

  /** Id of the guardrail that stops the stream at this string; null for none. */
  add(found: FoundText, event: Json): string | null {
    if ((this.denier ?? this.changer) === null || !isJoined(found, event)) return null;
    const key = keyOf(found.place, event);
    const join = this.joins.get(key);
    if (!join) return this.begin(key, found.text);
    const { text, kind } = found;
    if (isRepeated(join, text)) return repeat(join, text);
    if (join.last.length < REPEAT_CHARS_MIN)
      for (let times = 1; times < join.constantFor; times++) extend(join, join.last);
    join.constantFor = 0;
    join.last = text;
    const piece = join.escaped.read(text);
    const stopped = this.judge(join.tail, piece, kind !== 'beside');
    extend(join, piece);
    return stopped ?? this.bounded(text.length);
  }

  private begin(key: string, text: string): string | null {
    const escaped = new EscapedText();
    const piece = escaped.read(text);
    this.joins.set(key, { escaped, last: text, constantFor: 1, tail: tailOf(piece), pieces: [piece] });
    return this.bounded(text.length + key.length);
  }

  /** More than can be kept would pass unread. */
  private bounded(chars: number): string | null {
    this.chars += chars;
    const isTooMuch = this.chars > CHARS_MAX || this.joins.size > PLACES_MAX;
    return isTooMuch ? (this.denier ?? this.changer) : null;
  }

  private judge(before: string, piece: string, isSaid: boolean): string | null {
    const joined = this.passed(before + piece, isSaid);
    if (joined.stoppedBy !== null || this.changer === null) return joined.stoppedBy;
    const apart = this.passed(before, isSaid).text + this.passed(piece, isSaid).text;
    return joined.text === apart ? null : this.changer;
  }

  private passed(
    text: string,
    isSaid: boolean,
  ): { readonly text: string; readonly stoppedBy: string | null } {
    const filters = new PartFilters(this.hooks, this.probing, isSaid ? 'said' : 'beside');
    const passed = filters.feed(text) + filters.end();
    return { text: passed, stoppedBy: filters.stoppedBy };
  }
}

/** A known piece is joined by its own filters, and a text that repeats earlier pieces continues none. */
function isJoined({ kind, place }: FoundText, { type }: Json): boolean {
  if (kind === 'delta' || WHOLE_NAMES.test(place)) return false;
  return kind !== 'repeat' || typeof type !== 'string' || DELTA.test(type);
}

const keyOf = (place: string, event: Json): string =>
  ITEM_NUMBERS.map((name) => (typeof event[name] === 'number' ? event[name] : '')).join('/') +
  place.replaceAll(UNNUMBERED, '$1');

function isRepeated({ last, constantFor }: Join, text: string): boolean {
  if (text === last && constantFor > 0) return true;
  return last.length >= REPEAT_CHARS_MIN && text.startsWith(last);
}

function repeat(join: Join, text: string): null {
  join.last = text;
  if (join.constantFor > 0 && join.constantFor < CONSTANTS_MAX) join.constantFor += 1;
  return null;
}

function extend(join: Join, piece: string): void {
  join.tail = tailOf(join.tail + piece);
  join.pieces.push(piece);
}
