/** Larger chunks contain many frames, and are worth parsing. */
const BYTES_MAX = 64 * 1024;
/** Streams whose frames differ in more than a text are given up after this: ids, numbers and padding change with each. */
const LESSONS_MAX = 8;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** A frame with one text and its translation, both split around the text. */
interface Lesson {
  readonly text: string;
  readonly frame: readonly string[];
  readonly out: readonly string[];
}

/** Frames with one text each. */
export interface RepeatedTexts {
  /** In order, none of them empty. */
  readonly texts: readonly string[];
  /** Their translation. */
  readonly out: string;
}

/**
 * Most frames of a stream, and their translations, differ only in a text. For these, the text is inserted into the surroundings of the
 * previous one, and nothing is parsed.
 *
 * The surroundings are learned from two consecutive frames. If they are equal except for one JSON string, and their parsed texts differ,
 * then that string is the text. The same applies to their translations. Nothing is learned from a text that also occurs elsewhere in its
 * frame, or is not written as `JSON.stringify` writes it.
 */
export class RepeatedFrames {
  private last: Lesson | null = null;
  private isLearned = false;
  private lessons = 0;

  /** The translation of these bytes, which begin with a frame; null unless all are frames like the last ones. */
  translated(bytes: Buffer): RepeatedTexts | null {
    if (!this.isLearned || bytes.length > BYTES_MAX) return null;
    const { frame, out: pieces } = this.last as Lesson;
    const [before = '', after = ''] = frame;
    const whole = bytes.toString('utf8');
    const texts: string[] = [];
    let out = '';
    for (let at = 0; at < whole.length;) {
      const start = at + before.length;
      const string = whole.startsWith(before, at) ? stringAt(whole, start) : null;
      if (!string || !whole.startsWith(after, string.end)) return null;
      texts.push(string.text);
      out += pieces.join(string.literal);
      at = string.end + after.length;
    }
    return { texts, out };
  }

  /** Learns that a frame with `text` became `out`. */
  learn(bytes: Buffer, text: string, out: string): void {
    this.isLearned = false;
    if (this.lessons >= LESSONS_MAX) return;
    this.lessons += 1;
    const literal = JSON.stringify(text);
    const lesson = { text, frame: bytes.toString('utf8').split(literal), out: out.split(literal) };
    this.isLearned = this.last !== null && isOneMore(lesson, this.last);
    if (this.isLearned) this.lessons = 0;
    this.last = lesson;
  }

  /** A frame of another kind has arrived. */
  forget(): void {
    this.last = null;
    this.isLearned = false;
  }
}

const isOneMore = ({ text, frame, out }: Lesson, last: Lesson): boolean =>
  text !== last.text &&
  frame.length === 2 &&
  out.length > 1 &&
  areEqual(frame, last.frame) &&
  areEqual(out, last.out) &&
  isBetweenStrings(frame[0] as string);

/** The next character begins a string, and does not end one. */
const isBetweenStrings = (before: string): boolean =>
  (before.match(QUOTES)?.filter((found) => found === '"').length ?? 0) % 2 === 0;

const QUOTES = /\\.|"/g;

const areEqual = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one, at) => one === others[at]);

/** A JSON string with its quotation marks. */
interface JsonString {
  readonly text: string;
  /** As `JSON.stringify` writes it. */
  readonly literal: string;
  /** Position after the closing quotation mark. */
  readonly end: number;
}

/** The string that begins at `start`; null without one, and for an empty one. */
function stringAt(whole: string, start: number): JsonString | null {
  if (whole.charCodeAt(start) !== QUOTE) return null;
  let isEscaped = false;
  for (let at = start + 1; at < whole.length; at++) {
    const code = whole.charCodeAt(at);
    if (code === QUOTE) return jsonString(whole.slice(start, at + 1), at + 1, isEscaped);
    if (code < SPACE) return null;
    if (code === BACKSLASH) {
      isEscaped = true;
      at++;
    }
  }
  return null;
}

function jsonString(literal: string, end: number, isEscaped: boolean): JsonString | null {
  const text = isEscaped ? parsed(literal) : literal.slice(1, -1);
  return text === '' || text === null
    ? null
    : { text, literal: isEscaped ? JSON.stringify(text) : literal, end };
}

function parsed(literal: string): string | null {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return null;
  }
}
