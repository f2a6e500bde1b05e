import type { FastRequestHead } from '../../common/http/fast-request.js';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { fieldNamed, isFieldValue } from '../../common/http/fields.js';

/**
 * The heads of requests that the fast path handles: HTTP/1.1 requests with a length, or without a body if their method has none, whose
 * every line is written as RFC 9112 requires (https://www.rfc-editor.org/rfc/rfc9112). None of them is ambiguous; everything else, valid or
 * not, is left to Node's server.
 */
export interface RequestHead extends FastRequestHead {
  /** Start of the body. */
  readonly bodyAt: number;
  /** The announced length of the body. */
  readonly bodyBytes: number;
}

const HEAD_BYTES_MAX = 8 * 1024;
const FIELDS_MAX = 100;
const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = '\r\n';

/** Whether each method has a body. */
const METHODS: ReadonlyMap<string, 'body' | 'none' | 'either'> = new Map([
  ['POST', 'body'],
  ['GET', 'none'],
  ['DELETE', 'either'],
  ['PUT', 'body'],
  ['PATCH', 'body'],
]);
const VERSION = ' HTTP/1.1';
const BEGINNINGS = [...METHODS.keys()].map((method) => Buffer.from(`${method} /`));
/** Visible characters except the fragment mark. */
const TARGET = /^\/[\x21\x22\x24-\x7e]*$/;

const LENGTH = /^(?:0|[1-9]\d{0,6})$/;

/** Fields about the framing or the connection, and those that Node does not represent as a text. */
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

/** The head at the start of `bytes`; `incomplete` if more of it is needed; `other` if it is not handled here. */
export function readRequestHead(bytes: Buffer): RequestHead | 'incomplete' | 'other' {
  if (!mayBegin(bytes)) return 'other';
  const end = bytes.indexOf(HEAD_END);
  if (end < 0 && bytes.length <= HEAD_BYTES_MAX) return 'incomplete';
  return (end >= 0 && end <= HEAD_BYTES_MAX ? headOf(bytes, end) : null) ?? 'other';
}

function headOf(bytes: Buffer, end: number): RequestHead | null {
  const text = bytes.toString('latin1', 0, end);
  const lineEnd = text.indexOf(LINE_END);
  const line = lineEnd < 0 ? null : readLine(text.slice(0, lineEnd), bytes);
  const fields = line && readFields(text, lineEnd, bytes);
  if (!line || !fields || !isKept(fields.headers)) return null;
  const { method, url } = line;
  const { headers, rawHeaders } = fields;
  const bodyBytes = lengthOf(method, headers['content-length']);
  return bodyBytes === null
    ? null
    : { method, url, headers, rawHeaders, bodyAt: end + HEAD_END.length, bodyBytes };
}

/** Length of the body; null if invalid. */
function lengthOf(method: string, contentLength: string | undefined): number | null {
  const body = METHODS.get(method);
  if (contentLength === undefined) return body === 'body' ? null : 0;
  return body !== 'none' && LENGTH.test(contentLength) ? Number(contentLength) : null;
}

/** Whether a request head that Node's server has parsed is of this kind, as far as known by then. */
export function isPlain({ method = '', headers, rawHeaders }: IncomingMessage): boolean {
  const standOnce = rawHeaders.length === 2 * Object.keys(headers).length;
  if (!METHODS.has(method) || !standOnce) return false;
  for (const name of NOT_TAKEN) if (Object.hasOwn(headers, name)) return false;
  const { host, connection, 'content-length': length } = headers;
  return isKept({ host, connection }) && lengthOf(method, length) !== null;
}

/** Whether it can become one: other requests need not wait for the rest of their head. */
function mayBegin(bytes: Buffer): boolean {
  return BEGINNINGS.some((beginning) => agree(bytes, beginning));
}

/** Compares as far as both go. */
function agree(bytes: Buffer, beginning: Buffer): boolean {
  const there = Math.min(bytes.length, beginning.length);
  for (let at = 0; at < there; at++) if (bytes[at] !== beginning[at]) return false;
  return true;
}

function readLine(line: string, bytes: Buffer): Pick<RequestHead, 'method' | 'url'> | null {
  const space = line.indexOf(' ');
  const method = line.slice(0, space);
  if (!METHODS.has(method) || !line.endsWith(VERSION)) return null;
  const url = bytes.toString('latin1', space + 1, line.length - VERSION.length);
  return TARGET.test(url) ? { method, url } : null;
}

/** Node's server requires a host in every HTTP/1.1 request. */
const isKept = ({ host, connection }: Pick<IncomingHttpHeaders, 'host' | 'connection'>): boolean =>
  host !== undefined && (connection === undefined || connection.toLowerCase() === 'keep-alive');

type RequestHeaders = Pick<RequestHead, 'headers' | 'rawHeaders'>;

/** Null if a line is malformed, or a name occurs twice. */
function readFields(text: string, from: number, bytes: Buffer): RequestHeaders | null {
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
    // Names that every object has are rejected here as well, like repeated names.
    if (value === null || headers[field.lower] !== undefined) return null;
    headers[field.lower] = value;
    rawHeaders.push(field.name, value);
  }
  return rawHeaders.length <= 2 * FIELDS_MAX ? { headers, rawHeaders } : null;
}

/** V8 represents a longer substring as a view of the whole: caching it would keep the whole head, with all its secrets. */
const COPIED_CHARS_MAX = 12;

const SPACE = 0x20;
const TAB = 0x09;

/** Without leading spaces. Null for an invalid value, and for other blanks around it, which parsers trim in different ways. */
function valueOf(text: string, from: number, to: number, bytes: Buffer): string | null {
  let start = from;
  while (start < to && text.charCodeAt(start) === SPACE) start++;
  if (start === to) return '';
  const last = text.charCodeAt(to - 1);
  if (text.charCodeAt(start) === TAB || last === SPACE || last === TAB) return null;
  const value = to - start <= COPIED_CHARS_MAX ? text.slice(start, to) : bytes.toString('latin1', start, to);
  return isFieldValue(value) ? value : null;
}
