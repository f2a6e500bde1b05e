import { STATUS_CODES } from 'node:http';
import { fieldNamed, isFieldValue } from '../../common/http/fields.js';

/** The head of a response, and what it determines about the rest. */
export interface AnswerHead {
  /** Including the final empty line; characters are bytes. */
  readonly text: string;
  readonly isChunked: boolean;
  /** False for a status without a body: https://www.rfc-editor.org/rfc/rfc9110#section-6.4.1 */
  readonly hasBody: boolean;
  readonly keepsAlive: boolean;
}

export interface HeadOptions {
  readonly status: number;
  /** Default: the standard text. */
  readonly statusText: string | undefined;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly sendDate: boolean;
  readonly keepsAlive: boolean;
  /** Announced to clients: how long the connection waits for their next request. */
  readonly keepAliveSeconds: number;
}

/**
 * The head of a response as Node's server writes it: the given fields, then the date and the connection's fields. Throws a RangeError or
 * TypeError for a status, name or value that HTTP does not allow.
 */
export function answerHead(options: HeadOptions): AnswerHead {
  const { status, statusText = STATUS_CODES[status] ?? 'unknown' } = options;
  checkStatus(status);
  checkValue(statusText);
  const given = readFields(options.headers);
  const keepsAlive = options.keepsAlive && given.connection !== 'close';
  const hasBody = status !== 204 && status !== 304;
  const isChunked = hasBody && !given.hasLength;
  const date = options.sendDate ? `Date: ${httpDate()}\r\n` : '';
  const connection = given.connection === null ? connectionFields(keepsAlive, options) : '';
  const framing = isChunked ? 'Transfer-Encoding: chunked\r\n' : '';
  const text = `HTTP/1.1 ${status} ${statusText}\r\n${given.text}${date}${connection}${framing}\r\n`;
  return { text, isChunked, hasBody, keepsAlive };
}

const connectionFields = (keepsAlive: boolean, { keepAliveSeconds }: HeadOptions): string =>
  keepsAlive
    ? `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`
    : 'Connection: close\r\n';

interface ResponseHeaderBlock {
  readonly text: string;
  readonly hasLength: boolean;
  /** The given `connection` value; null for none. */
  readonly connection: string | null;
}

function readFields(headers: readonly string[]): ResponseHeaderBlock {
  let text = '';
  let hasLength = false;
  let connection: string | null = null;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    const field = fieldNamed(name);
    if (field === null) throw new TypeError('a header of the answer has no valid name');
    checkValue(value);
    text += `${name}: ${value}\r\n`;
    if (field.kind === 'content-length') hasLength = true;
    else if (field.kind === 'connection') connection = value;
  }
  return { text, hasLength, connection };
}

function checkStatus(status: number): void {
  if (!(status >= 100 && status <= 999)) throw new RangeError(`no status of HTTP: ${status}`);
}

function checkValue(value: string): void {
  if (!isFieldValue(value)) throw new TypeError('a header of the answer has no valid value');
}

let second = 0;
let written = '';

/** https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7; updated once a second. */
function httpDate(): string {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    written = new Date(now * 1000).toUTCString();
  }
  return written;
}
