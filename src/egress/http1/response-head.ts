import { type FieldKind, fieldNamed } from '../../common/http/fields.js';
import { invalidResponse } from './http1-error.js';
import { LineReader, valueStart } from './line-reader.js';

/** Status line and fields together, including those of interim responses. */
const HEAD_BYTES_MAX = 64 * 1024;
const VERSION = 'HTTP/1.';
const [ZERO, NINE, SPACE] = [48, 57, 32] as const;
const STATUS_START = VERSION.length + 2;
const STATUS_END = STATUS_START + 3;
const LENGTH = /^[0-9]+ *$/;
const CHUNKED = /^chunked *$/i;
const NONE: string[] = [];
const KEEP_ALIVE_TIMEOUT = /timeout=(\d+)/;

/** The parsed head of a response. Valid until the next one is read. */
export interface ParsedResponseHead {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn, as written, in latin1. Trailing blanks belong to the value. */
  readonly headers: string[];
  /** -1 if absent. */
  readonly contentLength: number;
  readonly isChunked: boolean;
  /** The head allows reusing the connection. */
  readonly keepsAlive: boolean;
  /** How long the other side keeps an idle connection, in seconds; -1 if not announced. */
  readonly keepAliveSeconds: number;
}

/**
 * Parses the head of a response: https://www.rfc-editor.org/rfc/rfc9112#section-4 and #section-5. Refuses anything that two parsers could
 * read as different body lengths: https://www.rfc-editor.org/rfc/rfc9112#section-6.3
 */
export class ResponseHeadReader extends LineReader implements ParsedResponseHead {
  status = 0;
  statusText = '';
  headers: string[] = [];
  contentLength = -1;
  isChunked = false;
  keepAliveSeconds = -1;
  private minorVersion = 1;
  private hasClose = false;
  private hasKeepAlive = false;

  constructor() {
    super(HEAD_BYTES_MAX);
  }

  get keepsAlive(): boolean {
    if (this.hasClose) return false;
    // https://www.rfc-editor.org/rfc/rfc9112#section-9.3; a chunked response in version 1.0 is faulty: #section-6.1
    return this.minorVersion === 1 || (this.hasKeepAlive && !this.isChunked);
  }

  /** Before the head of a response to another request. */
  begin(): void {
    this.restart();
    this.beginNext();
  }

  /** After an interim response. Its bytes count, which limits a flood of them. */
  beginNext(): void {
    this.status = 0;
    this.statusText = '';
    this.headers = [];
    this.contentLength = -1;
    this.isChunked = false;
    this.keepAliveSeconds = -1;
    this.hasClose = false;
    this.hasKeepAlive = false;
  }

  /** Frees memory: a connection may be idle for long. */
  forget(): void {
    this.headers = NONE;
    this.statusText = '';
  }

  override read(chunk: Buffer, from: number): number {
    const read = super.read(chunk, from);
    if (read >= 0) this.checkWhole();
    else if (this.status === 0 && !VERSION.startsWith(this.pending.slice(0, VERSION.length)))
      throw invalidResponse('it does not begin with an HTTP version');
    return read;
  }

  protected override onLine(text: string, start: number, end: number): void {
    if (this.status === 0) this.readStatusLine(text, end);
    else this.readField(text, start, end);
  }

  private checkWhole(): void {
    if (this.status === 0) throw invalidResponse('there is no status line');
    if (this.isChunked && this.contentLength >= 0) throw invalidResponse('it is chunked and has a length');
  }

  private readStatusLine(text: string, end: number): void {
    const minorVersion = text.charCodeAt(VERSION.length) - ZERO;
    const isVersion = text.startsWith(VERSION) && (minorVersion === 0 || minorVersion === 1);
    if (!isVersion || text.charCodeAt(VERSION.length + 1) !== SPACE)
      throw invalidResponse('the version is not one of HTTP/1');
    this.minorVersion = minorVersion;
    this.status = statusIn(text, end);
    this.statusText = end > STATUS_END + 1 ? text.slice(STATUS_END + 1, end) : '';
  }

  private readField(text: string, start: number, end: number): void {
    const colon = text.indexOf(':', start);
    const field = colon < 0 || colon > end ? null : fieldNamed(text.slice(start, colon));
    if (field === null) throw invalidResponse('a field has no valid name');
    const value = text.slice(valueStart(text, colon, end), end);
    this.headers.push(field.name, value);
    if (field.kind !== 'other') this.obey(field.kind, value);
  }

  private obey(kind: FieldKind, value: string): void {
    if (kind === 'content-length') this.readLength(value);
    else if (kind === 'transfer-encoding') this.readTransferEncoding(value);
    else if (kind === 'connection') this.readConnection(value);
    else if (kind === 'keep-alive') this.readKeepAlive(value);
  }

  private readLength(value: string): void {
    const length = this.contentLength < 0 && LENGTH.test(value) ? Number(value) : Infinity;
    if (length > Number.MAX_SAFE_INTEGER) throw invalidResponse('the content-length is not valid');
    this.contentLength = length;
  }

  private readTransferEncoding(value: string): void {
    if (this.isChunked || !CHUNKED.test(value))
      throw invalidResponse('the transfer-encoding is not supported');
    this.isChunked = true;
  }

  private readConnection(value: string): void {
    for (const option of value.toLowerCase().split(',')) {
      const name = option.trim();
      if (name === 'close') this.hasClose = true;
      else if (name === 'keep-alive') this.hasKeepAlive = true;
    }
  }

  private readKeepAlive(value: string): void {
    const seconds = KEEP_ALIVE_TIMEOUT.exec(value)?.[1];
    if (seconds !== undefined && this.keepAliveSeconds < 0) this.keepAliveSeconds = Number(seconds);
  }
}

function statusIn(text: string, end: number): number {
  let status = 0;
  for (let at = STATUS_START; at < STATUS_END; at++) {
    const code = at < end ? text.charCodeAt(at) : 0;
    if (code < ZERO || code > NINE) throw invalidResponse('the status is not a number of three digits');
    status = status * 10 + code - ZERO;
  }
  if (status < 100) throw invalidResponse('the status is below 100');
  if (end > STATUS_END && text.charCodeAt(STATUS_END) !== SPACE)
    throw invalidResponse('the status is not a number of three digits');
  return status;
}
