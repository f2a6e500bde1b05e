import { invalidResponse } from './http1-error.js';
import { fieldNamed } from '../../common/http/fields.js';
import { LineReader } from './line-reader.js';

const [LF, CR, ZERO, NINE, SEMICOLON] = [10, 13, 48, 57, 59] as const;
const [UPPER_A, UPPER_F, LOWER_A, LOWER_F] = [65, 70, 97, 102] as const;
/** The same limit as in Node's parser: https://nodejs.org/en/blog/vulnerability/february-2024-security-releases */
const EXTENSION_BYTES_MAX = 16 * 1024;

/** Without the blanks that the grammar tolerates but senders must not write: https://www.rfc-editor.org/rfc/rfc9112#section-7.1.1 */
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const QUOTED = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
const EXTENSIONS = new RegExp(`^(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)+$`);

type ChunkedBodyState =
  'size' | 'extension' | 'size end' | 'data' | 'data end' | 'data line end' | 'trailers' | 'done';

/**
 * Parses the framing of a chunked body: https://www.rfc-editor.org/rfc/rfc9112#section-7.1 `left` is the number of body bytes that follow;
 * reading resumes after them.
 */
export class ChunkedBody {
  /** Bytes of the current chunk that have not arrived. A reader subtracts what it takes. */
  left = 0;
  private state: ChunkedBodyState = 'size';
  private size = 0;
  private hasDigits = false;
  private extension = '';
  private readonly trailers = new TrailerReader();

  get isDone(): boolean {
    return this.state === 'done';
  }

  begin(): void {
    this.left = 0;
    this.trailers.begin();
    this.beginSize();
  }

  /** Reads up to the next byte of the body, its end, or the end of the input. Throws an `invalidResponse` error. */
  read(chunk: Buffer, from: number): number {
    if (this.state === 'data') this.state = 'data end';
    let at = from;
    while (at < chunk.length) {
      if (this.state === 'trailers') return this.readTrailers(chunk, at);
      this.take(chunk[at++] as number);
      if ((this.state as ChunkedBodyState) === 'data') return at;
    }
    return at;
  }

  private readTrailers(chunk: Buffer, from: number): number {
    const end = this.trailers.read(chunk, from);
    if (end < 0) return chunk.length;
    this.state = 'done';
    return end;
  }

  private take(byte: number): void {
    if (this.state === 'size') return this.takeSize(byte);
    if (this.state === 'extension') return this.takeExtension(byte);
    if (this.state === 'data end') {
      if (byte !== CR) throw invalidResponse('a chunk is longer than its size');
      this.state = 'data line end';
      return;
    }
    if (byte !== LF) throw invalidResponse('a line of a chunk has a bare CR');
    if (this.state === 'size end') this.beginData();
    else this.beginSize();
  }

  private takeSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.hasDigits = true;
      this.size = this.size * 16 + digit;
      if (this.size > Number.MAX_SAFE_INTEGER) throw invalidResponse('a chunk is too long');
      return;
    }
    if (!this.hasDigits || (byte !== CR && byte !== SEMICOLON))
      throw invalidResponse('the size of a chunk is not valid');
    if (byte === CR) this.state = 'size end';
    else {
      this.state = 'extension';
      this.extension = ';';
    }
  }

  private takeExtension(byte: number): void {
    if (byte !== CR) {
      this.extension += String.fromCharCode(byte);
      if (this.extension.length > EXTENSION_BYTES_MAX) throw invalidResponse('a chunk extension is too long');
      return;
    }
    if (!EXTENSIONS.test(this.extension)) throw invalidResponse('a chunk extension is not valid');
    this.extension = '';
    this.state = 'size end';
  }

  private beginData(): void {
    this.left = this.size;
    this.state = this.size === 0 ? 'trailers' : 'data';
  }

  private beginSize(): void {
    this.state = 'size';
    this.size = 0;
    this.hasDigits = false;
  }
}

function hexDigit(byte: number): number {
  if (byte >= ZERO && byte <= NINE) return byte - ZERO;
  if (byte >= LOWER_A && byte <= LOWER_F) return byte - LOWER_A + 10;
  return byte >= UPPER_A && byte <= UPPER_F ? byte - UPPER_A + 10 : -1;
}

const TRAILER_BYTES_MAX = 64 * 1024;

/** Reads the fields after a chunked body, which are dropped: https://www.rfc-editor.org/rfc/rfc9112#section-7.1.2 */
class TrailerReader extends LineReader {
  constructor() {
    super(TRAILER_BYTES_MAX);
  }

  begin(): void {
    this.restart();
  }

  protected override onLine(text: string, start: number, end: number): void {
    const colon = text.indexOf(':', start);
    const field = colon < 0 || colon > end ? null : fieldNamed(text.slice(start, colon));
    if (field === null) throw invalidResponse('a trailer has no valid name');
    if (field.kind === 'content-length' || field.kind === 'transfer-encoding')
      throw invalidResponse('a trailer has a content-length');
  }
}
