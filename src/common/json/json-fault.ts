const SPACE = /[ \t\n\r]*/y;
const SIMPLE = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const STRING_EVENT = /["\\\u0000-\u001f]/g;
const PRINTABLE = /[!-~]/;

/** Scanning a longer text again would block the other requests of the process. */
const LONGEST_CHARS = 1_048_576;

/**
 * Describes where a text that `JSON.parse` refuses stops being JSON: `unexpected "}" at line 1, column 19`. The parser's own message would
 * quote the text, which may contain a secret; this shows at most one character of it. Linear in the length of the text, and only used for
 * errors.
 * @see https://www.rfc-editor.org/rfc/rfc8259
 */
export function jsonFault(text: string): string {
  if (text.length > LONGEST_CHARS) return 'it cannot be parsed';
  if (text.trim() === '') return 'it is empty';
  const at = new JsonScan(text).fault();
  const place = placeOf(text, at);
  if (at >= text.length) return `it ends too early, at ${place}`;
  const match = text.charAt(at);
  return `unexpected ${PRINTABLE.test(match) ? `"${match}"` : 'character'} at ${place}`;
}

function placeOf(text: string, at: number): string {
  let [line, begin] = [1, 0];
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', begin)) {
    line++;
    begin = end + 1;
  }
  return `line ${line}, column ${at - begin + 1}`;
}

type JsonToken = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end';

/** Scans JSON without building values. Uses a list of open brackets instead of recursion, so that depth costs no stack. */
class JsonScan {
  private at = 0;
  private expected: JsonToken = 'value';
  private readonly closers: string[] = [];

  constructor(private readonly text: string) {}

  /** The index of the first invalid character; the length of the text if it only ends too early. */
  fault(): number {
    do this.skip(SPACE);
    while (this.at < this.text.length && this.step());
    return this.at;
  }

  private step(): boolean {
    const next = this.text.charAt(this.at);
    if (this.expected.endsWith('or end') && next === this.closers.at(-1)) return this.close();
    if (this.expected.startsWith('value')) return this.value(next);
    if (this.expected.startsWith('name')) return this.name(next);
    return this.expected === 'colon' ? this.colon(next) : this.comma(next);
  }

  private name(next: string): boolean {
    return next === '"' && this.string() && this.then('colon');
  }

  private colon(next: string): boolean {
    return next === ':' && this.skipOne() && this.then('value');
  }

  private value(next: string): boolean {
    if (next === '{') return this.open('}', 'name or end');
    if (next === '[') return this.open(']', 'value or end');
    return (next === '"' ? this.string() : this.skip(SIMPLE)) && this.then('comma or end');
  }

  private open(closer: string, expected: JsonToken): boolean {
    this.closers.push(closer);
    return this.skipOne() && this.then(expected);
  }

  private close(): boolean {
    this.closers.pop();
    return this.skipOne() && this.then('comma or end');
  }

  private comma(next: string): boolean {
    const closer = this.closers.at(-1);
    if (next !== ',' || closer === undefined) return false;
    return this.skipOne() && this.then(closer === '}' ? 'name' : 'value');
  }

  /** A quoted string. On failure, `at` is the invalid character. */
  private string(): boolean {
    this.at++;
    for (;;) {
      STRING_EVENT.lastIndex = this.at;
      const event = STRING_EVENT.exec(this.text);
      this.at = event?.index ?? this.text.length;
      if (event?.[0] === '"') return this.skipOne();
      if (event?.[0] !== '\\' || !this.skip(ESCAPE)) return false;
    }
  }

  private then(expected: JsonToken): true {
    this.expected = expected;
    return true;
  }

  private skipOne(): true {
    this.at++;
    return true;
  }

  private skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const [match] = pattern.exec(this.text) ?? [];
    this.at += match?.length ?? 0;
    return match !== undefined;
  }
}
