/** What comes before it decides: a text that begins so may be JSON. */
const JSON_BEGINS = /["[{]/;
const BLANK = /^\s*$/;
/** What must be escaped within a string of JSON: https://www.rfc-editor.org/rfc/rfc8259#section-7 */

const SPECIAL = /["\\\u0000-\u001f]/g;

const ESCAPE = /^\\(?:u([0-9a-f]{4})|(["\\/bfnrt]))/i;
const BEGUN_ESCAPE = /^\\(?:u[0-9a-f]{0,3})?$/i;
const SIMPLE: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** A number that was redacted: its placeholder is no JSON without quotation marks. */
const NUMBER = /([:[,]\s*)(\{\{(?:CREDIT_CARD|PHONE_NUMBER|NATIONAL_ID|SSN)_\d{1,8}\}\})/g;
const BEGUN_NUMBER = /[:[,]\s*(?:\{(?:\{[A-Z_]{0,24}\d{0,8}\}?)?)?$/;

interface Special {
  readonly char: string;
  /** As it was written. */
  readonly raw: string;
  /** It begins or ends a string. */
  readonly isEdge: boolean;
}

/**
 * A text that is JSON, such as the arguments of a call, as checks read it: `M\u00fcller` is `Müller` and `\n` is a line break. What a check
 * returns is escaped again. Texts that do not begin as JSON does are left as they are. Feed it pieces cut anywhere, also within an escape.
 *
 * A check copies what it does not replace, in order, so the special characters of what it returns are those that it was given, except for
 * the ones that were replaced: the queue of them tells which quotation marks belong to the syntax and which to a text.
 */
export class EscapedText {
  private isJson: boolean | null = null;
  private isInString = false;
  private begun = '';
  private specials: Special[] = [];
  /** Position of the next one that was not written yet. */
  private next = 0;
  private isWritingString = false;
  private held = '';

  /** The next piece, unescaped. */
  read(piece: string): string {
    if (this.isJson === null && !BLANK.test(piece))
      this.isJson = JSON_BEGINS.test(piece.trimStart().charAt(0));
    return this.isJson ? this.unescaped(this.begun + piece) : piece;
  }

  /** What was read, but for the rest of an escape that never came. */
  readEnd(): string {
    const { begun } = this;
    this.begun = '';
    if (begun !== '') this.specials.push({ char: '\\', raw: '\\', isEdge: false });
    return begun;
  }

  /** What a check returned, escaped again. */
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
    for (let at = this.nextSpecial(text, 0); at >= 0; at = this.nextSpecial(text, from)) {
      out += text.slice(from, at);
      const rest = text.slice(at, at + 6);
      if (this.isInString && BEGUN_ESCAPE.test(rest) && at + rest.length === text.length) {
        this.begun = rest;
        return out;
      }
      const { char, raw } = this.special(rest);
      out += char;
      from = at + raw.length;
    }
    return out + text.slice(from);
  }

  private nextSpecial(text: string, from: number): number {
    if (!this.isInString) return text.indexOf('"', from);
    SPECIAL.lastIndex = from;
    return SPECIAL.exec(text)?.index ?? -1;
  }

  /** The special character, or the escape, that a text begins with. */
  private special(rest: string): { readonly char: string; readonly raw: string } {
    const first = rest.charAt(0);
    const [raw = first, code, simple] = (first === '\\' && ESCAPE.exec(rest)) || [];
    const isEdge = first === '"';
    if (isEdge) this.isInString = !this.isInString;
    const char = code
      ? String.fromCharCode(Number.parseInt(code, 16))
      : simple
        ? (SIMPLE[simple] ?? simple)
        : first;
    if (isSpecial(char)) this.specials.push({ char, raw, isEdge });
    return { char, raw };
  }

  private escaped(text: string): string {
    let out = '';
    let from = 0;
    for (let at = this.nextWritten(text, 0); at >= 0; at = this.nextWritten(text, from)) {
      out += this.plain(text.slice(from, at), false);
      const char = text.charAt(at);
      const { raw, isEdge } = this.taken(char) ?? { raw: JSON.stringify(char).slice(1, -1), isEdge: false };
      if (isEdge) this.isWritingString = !this.isWritingString;
      out += raw;
      from = at + 1;
    }
    return out + this.plain(text.slice(from), true);
  }

  private nextWritten(text: string, from: number): number {
    if (!this.isWritingString) return text.indexOf('"', from);
    SPECIAL.lastIndex = from;
    return SPECIAL.exec(text)?.index ?? -1;
  }

  /** Characters without special ones. `goesOn`: more of them may come. */
  private plain(text: string, goesOn: boolean): string {
    if (this.isWritingString) return text;
    const bare = (this.held + text).replace(NUMBER, '$1"$2"');
    const begun = goesOn ? (BEGUN_NUMBER.exec(bare)?.index ?? bare.length) : bare.length;
    this.held = bare.slice(begun);
    return bare.slice(0, begun);
  }

  private taken(char: string): Special | null {
    const { specials } = this;
    let at = this.next;
    while (at < specials.length && specials[at]?.char !== char) at++;
    const special = specials[at];
    if (!special) return null;
    this.next = at + 1;
    if (this.next === specials.length) {
      this.specials = [];
      this.next = 0;
    }
    return special;
  }
}

function isSpecial(char: string): boolean {
  SPECIAL.lastIndex = 0;
  return SPECIAL.test(char);
}

/** A whole text as checks read it. */
export function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  const escaped = new EscapedText();
  return escaped.read(text) + escaped.readEnd();
}

/** A whole text with what a check made of it. */
export function reescaped(text: string, changed: string): string {
  const escaped = new EscapedText();
  escaped.read(text);
  escaped.readEnd();
  return escaped.write(changed) + escaped.writeEnd();
}
