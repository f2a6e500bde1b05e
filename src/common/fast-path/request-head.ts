import { fieldNamed, isFieldValue } from '../http1/fields.js';

/**
 * The heads of requests that the fast path takes: a POST of HTTP/1.1 whose body has a length and whose every line is written as
 * RFC 9112 asks for it (https://www.rfc-editor.org/rfc/rfc9112). Nothing that two readers could read differently is among
 * them; whatever else may be valid, or is not, is for Node's server to judge.
 */
export interface RequestHead {
  readonly url: string;
  /** By their names in lower case; each stands once. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in turn, as the client wrote them. */
  readonly rawHeaders: string[];
  /** Where the body begins. */
  readonly bodyAt: number;
  /** Bytes of the body, as the client has announced them. */
  readonly bodyBytes: number;
}

const HEAD_BYTES_MAX = 8 * 1024;
const FIELDS_MAX = 100;
const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = '\r\n';

const METHOD = 'POST ';
const VERSION = ' HTTP/1.1';
const BEGINS = Buffer.from('POST /');
/** Visible characters, but for the mark of a fragment. */
const TARGET = /^\/[\x21\x22\x24-\x7e]*$/;

const LENGTH = /^(?:0|[1-9]\d{0,6})$/;

/** Fields about the framing or the connection, and those of which Node makes something else than a text. */
const NOT_TAKEN: ReadonlySet<string> = new Set([
  '__proto__',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The head that `bytes` begin with; `incomplete` where more of it has to come; `other` for what is not taken here. */
export function readRequestHead(bytes: Buffer): RequestHead | 'incomplete' | 'other' {
  if (!mayBegin(bytes)) return 'other';
  const end = bytes.indexOf(HEAD_END);
  if (end < 0 && bytes.length <= HEAD_BYTES_MAX) return 'incomplete';
  return (end >= 0 && end <= HEAD_BYTES_MAX ? headOf(bytes, end) : null) ?? 'other';
}

function headOf(bytes: Buffer, end: number): RequestHead | null {
  const text = bytes.toString('latin1', 0, end);
  const lineEnd = text.indexOf(LINE_END);
  const url = lineEnd < 0 ? null : targetOf(text.slice(0, lineEnd), bytes);
  const fields = url === null ? null : readFields(text, lineEnd, bytes);
  if (url === null || fields === null) return null;
  const { headers, rawHeaders } = fields;
  const length = headers['content-length'];
  if (length === undefined || !LENGTH.test(length) || !isKept(headers)) return null;
  return { url, headers, rawHeaders, bodyAt: end + HEAD_END.length, bodyBytes: Number(length) };
}

/** Whether it can become one: who sends anything else need not wait for the rest of its head. */
function mayBegin(bytes: Buffer): boolean {
  const there = Math.min(bytes.length, BEGINS.length);
  for (let at = 0; at < there; at++) if (bytes[at] !== BEGINS[at]) return false;
  return true;
}

function targetOf(line: string, bytes: Buffer): string | null {
  if (!line.startsWith(METHOD) || !line.endsWith(VERSION)) return null;
  const target = bytes.toString('latin1', METHOD.length, line.length - VERSION.length);
  return TARGET.test(target) ? target : null;
}

/** Node's server asks every request of HTTP/1.1 for a host. */
const isKept = ({ host, connection }: Readonly<Record<string, string>>): boolean =>
  host !== undefined && (connection === undefined || connection.toLowerCase() === 'keep-alive');

type Fields = Pick<RequestHead, 'headers' | 'rawHeaders'>;

/** Null where a line is not written as it should be, or a name stands twice. */
function readFields(text: string, from: number, bytes: Buffer): Fields | null {
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  let at = from;
  while (at < text.length) {
    const start = at + LINE_END.length;
    const colon = text.indexOf(':', start);
    const next = text.indexOf(LINE_END, start);
    at = next < 0 ? text.length : next;
    const field = colon > start && colon < at ? fieldNamed(text.slice(start, colon)) : null;
    if (field === null || NOT_TAKEN.has(field.lower)) return null;
    const value = valueOf(text, colon + 1, at, bytes);
    // What every object has answers here too, and is as little taken as a name that stands twice.
    if (headers[field.lower] !== undefined || !isFieldValue(value)) return null;
    headers[field.lower] = value;
    rawHeaders.push(field.name, value);
  }
  return rawHeaders.length <= 2 * FIELDS_MAX ? { headers, rawHeaders } : null;
}

/** V8 makes a longer piece of a text a view of the whole: whoever remembers it would keep the whole head, with all that is secret in it. */
const COPIED_CHARS_MAX = 12;

const SPACE = 0x20;
const TAB = 0x09;
const isBlank = (code: number): boolean => code === SPACE || code === TAB;

/** Without the blanks around it. */
function valueOf(text: string, from: number, to: number, bytes: Buffer): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return end - start <= COPIED_CHARS_MAX ? text.slice(start, end) : bytes.toString('latin1', start, end);
}
