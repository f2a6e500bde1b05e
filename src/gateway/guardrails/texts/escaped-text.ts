/** A text whose first character is one of these may be JSON. */
const JSON_BEGINS = /["[{]/;
const BLANK = /^\s*$/;
/** https://www.rfc-editor.org/rfc/rfc8259#section-7 */
const ESCAPE = /^\\(?:u([0-9a-f]{4})|(["\\/bfnrt]))/i;
const BEGUN_ESCAPE = /^\\(?:u[0-9a-f]{0,3})?$/i;
const ESCAPE_CHARS_MAX = 6;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const SIMPLE: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** A redacted number: its placeholder is not valid JSON without quotation marks. */
const NUMBER = /([:[,]\s*)(\{\{(?:CREDIT_CARD|PHONE_NUMBER|NATIONAL_ID|SSN)_\d{1,8}\}\})/g;
const BEGUN_NUMBER = /[:[,]\s*(?:\{(?:\{[A-Z_]{0,24}\d{0,8}\}?)?)?$/;

interface Special {
  readonly char: string;
  /** As it was written. */
  readonly raw: string;
  /** It begins or ends a string. */
  readonly isEdge: boolean;
  /** It must be escaped in a JSON string. */
  readonly mustBeEscaped: boolean;
}

/**
 * A text that is JSON, such as the arguments of a call, as checks read it: `M\u00fcller` is `Müller` and `\n` is a line break. The result
 * of a check is escaped again. Texts that do not begin like JSON are left as they are. The pieces may be cut anywhere, also within an
 * escape.
 *
 * A check copies the text that it does not replace, in order. The special characters of its result are therefore those of its input, except
 * for replaced ones: a queue of them determines which quotation marks belong to the syntax and which to a text.
 */
export class EscapedText {
  private isJson: boolean | null = null;
  private isInString = false;
  private begun = '';
  private specials: Special[] = [];
  /** How many of each character are still to be written. */
  private readonly counts = new Map<string, number>();
  /** Index of the next character to write. */
  private next = 0;
  private isWritingString = false;
  private held = '';

  /** Returns the next piece, unescaped. */
  read(piece: string): string {
    if (this.isJson === null && !BLANK.test(piece))
      this.isJson = JSON_BEGINS.test(piece.trimStart().charAt(0));
    return this.isJson ? this.unescaped(this.begun + piece) : piece;
  }

  /** Returns an incomplete escape at the end. */
  readEnd(): string {
    const { begun } = this;
    this.begun = '';
    return begun === '' ? '' : this.noted('\\') + begun.slice(1);
  }

  /** Returns a check's output, escaped again. */
  write(text: string): string {
    return this.isJson ? this.escaped(text) : text;
  }

  writeEnd(): string {
    const { held } = this;
    this.held = '';
    return held;
  }

  private unescaped(text: string): string {
    this.begun = '';
    let out = '';
    let from = 0;
    for (let at = next(text, 0, this.isInString); at >= 0; at = next(text, from, this.isInString)) {
      out += text.slice(from, at);
      const raw = text.charCodeAt(at) === BACKSLASH ? escapeAt(text, at) : text.charAt(at);
      if (raw === null) {
        this.begun = text.slice(at);
        return out;
      }
      out += this.noted(raw);
      from = at + raw.length;
    }
    return out + text.slice(from);
  }

  /** Notes how a character was written, and returns it. */
  private noted(raw: string): string {
    const special = specialOf(raw);
    if (special.isEdge) this.isInString = !this.isInString;
    if (special.mustBeEscaped) {
      this.specials.push(special);
      this.counts.set(special.char, (this.counts.get(special.char) ?? 0) + 1);
    }
    return special.char;
  }

  private escaped(text: string): string {
    let out = '';
    let from = 0;
    for (let at = next(text, 0, this.isWritingString); at >= 0; at = next(text, from, this.isWritingString)) {
      out += this.plain(text.slice(from, at), false);
      const char = text.charAt(at);
      const { raw, isEdge } = this.taken(char) ?? { raw: JSON.stringify(char).slice(1, -1), isEdge: false };
      if (isEdge) this.isWritingString = !this.isWritingString;
      out += raw;
      from = at + 1;
    }
    return out + this.plain(text.slice(from), true);
  }

  /** A run without special characters. `goesOn`: more may follow. */
  private plain(text: string, goesOn: boolean): string {
    if (this.isWritingString) return text;
    const bare = (this.held + text).replace(NUMBER, '$1"$2"');
    const begun = goesOn ? (BEGUN_NUMBER.exec(bare)?.index ?? bare.length) : bare.length;
    this.held = bare.slice(begun);
    return bare.slice(0, begun);
  }

  private taken(char: string): Special | null {
    if (!this.counts.get(char)) return null;
    for (;;) {
      const special = this.specials[this.next++] as Special;
      this.counts.set(special.char, (this.counts.get(special.char) ?? 0) - 1);
      if (this.next === this.specials.length) {
        this.specials = [];
        this.next = 0;
      }
      if (special.char === char) return special;
    }
  }
}

/** Position of the next character with a special meaning; below 0 for none. */
function next(text: string, from: number, isInString: boolean): number {
  if (!isInString) return text.indexOf('"', from);
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === BACKSLASH || code < FIRST_PRINTABLE) return at;
  }
  return -1;
}

/** The escape that begins here; only the backslash if it begins none, and null if the rest has not arrived yet. */
function escapeAt(text: string, at: number): string | null {
  const rest = text.slice(at, at + ESCAPE_CHARS_MAX);
  if (at + rest.length === text.length && BEGUN_ESCAPE.test(rest)) return null;
  return ESCAPE.exec(rest)?.[0] ?? '\\';
}

/** A text contains few different ones. */
const known = new Map<string, Special>();
const KNOWN_MAX = 1_000;

function specialOf(raw: string): Special {
  const same = known.get(raw);
  if (same) return same;
  const [, code, simple] = ESCAPE.exec(raw) ?? [];
  const char = code
    ? String.fromCharCode(Number.parseInt(code, 16))
    : simple
      ? (SIMPLE[simple] ?? simple)
      : raw;
  const special = { char, raw, isEdge: raw === '"', mustBeEscaped: next(char, 0, true) === 0 };
  if (known.size < KNOWN_MAX) known.set(raw, special);
  return special;
}

/** A whole text as checks read it. */
export function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  const escaped = new EscapedText();
  return escaped.read(text) + escaped.readEnd();
}

/** A whole text after a check, escaped again. */
export function reescaped(text: string, changed: string): string {
  const escaped = new EscapedText();
  escaped.read(text);
  escaped.readEnd();
  return escaped.write(changed) + escaped.writeEnd();
}
