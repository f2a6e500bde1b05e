/** What a field means to the connection that carries it; most mean nothing to it. */
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
  /** As it was written. */
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

/** Whether it can stand behind a name: each character is a byte, and none of them ends the line. */
export function isFieldValue(text: string): boolean {
  return !NO_VALUE.test(text);
}

/**
 * A field's name, judged; null where it is no token. Few different ones come, so they are remembered. The name is a string
 * of its own: one that was cut out of a head would keep the whole head in memory wherever it is remembered.
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
