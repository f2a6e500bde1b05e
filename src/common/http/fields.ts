/** The role of a field for the connection; most have none. */
export type FieldKind =
  | 'other'
  | 'connection'
  | 'content-length'
  | 'expect'
  | 'host'
  | 'keep-alive'
  | 'transfer-encoding'
  | 'upgrade';

export interface FieldName {
  /** As written. */
  readonly name: string;
  readonly lower: string;
  readonly kind: FieldKind;
}

const KINDS: ReadonlySet<string> = new Set<FieldKind>([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2 */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** https://www.rfc-editor.org/rfc/rfc9110#section-5.5 */
const NO_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const KNOWN_MAX = 2_000;
const KNOWN_LENGTH_MAX = 64;
const known = new Map<string, FieldName>();

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Whether it is a valid header value: each character is a byte, and none of them ends the line. */
export function isFieldValue(text: string): boolean {
  return !NO_VALUE.test(text);
}

/**
 * A validated field name; null if it is not a token. Names are cached, because few different ones occur. The cached name is a separate
 * string: a substring would keep the whole head in memory.
 */
export function fieldNamed(text: string): FieldName | null {
  const found = known.get(text);
  if (found !== undefined) return found;
  if (!isToken(text)) return null;
  const name = Buffer.from(text, 'latin1').toString('latin1');
  const lower = name.toLowerCase();
  const field: FieldName = { name, lower, kind: KINDS.has(lower) ? (lower as FieldKind) : 'other' };
  if (known.size < KNOWN_MAX && name.length <= KNOWN_LENGTH_MAX) known.set(name, field);
  return field;
}
