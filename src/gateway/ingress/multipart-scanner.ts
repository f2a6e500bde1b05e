const CRLF = '\r\n';
const HEADERS_END = Buffer.from(CRLF + CRLF);
const DASH = 0x2d;
const HEADERS_BYTES_MAX = 8 * 1024;
const VALUE_BYTES_MAX = 4 * 1024;

/** https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1 */
const BOUNDARY = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;

const DISPOSITION = /^content-disposition:\s*form-data\s*;(.*)$/im;
const NAME = /(?:^|;)\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i;
const FILE_NAME = /(?:^|;)\s*filename\*?=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/i;
const CONTENT_TYPE = /^content-type:[ \t]*([^\r\n]+)/im;

/** The boundary that a content type names; null when it is no form, or names none that can be. */
export function boundaryOf(contentType: string | undefined): string | null {
  const [, quoted, plain] = BOUNDARY.exec(contentType ?? '') ?? [];
  return quoted ?? plain ?? null;
}

/** What the head of a part says. */
export interface PartHead {
  readonly name: string;
  /** Null for a part that is no file. */
  readonly fileName: string | null;
  /** Null where it says none. */
  readonly contentType: string | null;
}

/** What a scanner tells of the parts of a form. What it calls may throw; nothing is scanned after that. */
export interface FormListener {
  /** A short text field, whole. Its value stands at `start` of the body, bytes. */
  onField(name: string, value: Buffer, start: number): void;
  /** A part has begun that is a file, or a text too long to be looked at. */
  onFile(): void;
  /** Any part has begun; its content stands at `start` of the body. */
  onPart?(head: PartHead, start: number): void;
  /** Its content was over before `end`. Not called for one that was cut. */
  onPartEnd?(end: number): void;
}

function partHead(head: string): PartHead {
  const [, parameters = ''] = DISPOSITION.exec(head) ?? [];
  return {
    name: found(NAME, parameters) ?? '',
    fileName: found(FILE_NAME, parameters),
    contentType: found(CONTENT_TYPE, head),
  };
}

/** The one group that matched; null where nothing does. */
function found(pattern: RegExp, text: string): string | null {
  const match = pattern.exec(text);
  return match && (match.slice(1).find((group) => group !== undefined) ?? '').trim();
}

/**
 * Looks at a multipart form while it passes: feed it chunks cut anywhere. It keeps the head of one part or one short value, and of
 * a file no more than a boundary is long. Bytes that are no such form are passed over in silence: they are the provider's to judge.
 * https://www.rfc-editor.org/rfc/rfc7578
 */
export class MultipartScanner {
  private readonly delimiter: Buffer;
  private state: 'head' | 'field' | 'file' | 'over' = 'file';
  private name = '';
  /** Bytes that were not decided on, and where in the body they begin. The first boundary needs no line break before it. */
  private pending = Buffer.from(CRLF);
  private at = -CRLF.length;
  /** The form has come to its own end. */
  isComplete = false;

  constructor(
    boundary: string,
    private readonly listener: FormListener,
  ) {
    this.delimiter = Buffer.from(`${CRLF}--${boundary}`, 'latin1');
  }

  feed(chunk: Buffer): void {
    if (this.state === 'over') return;
    let bytes: Buffer | null = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    this.pending = NOTHING;
    while (bytes) bytes = this.state === 'head' ? this.head(bytes) : this.value(bytes);
  }

  /** What is left to be scanned, or null when more must come first. */
  private head(bytes: Buffer): Buffer | null {
    if (bytes.length >= 2 && bytes[0] === DASH && bytes[1] === DASH) {
      this.isComplete = true;
      return this.end();
    }
    const end = bytes.indexOf(HEADERS_END);
    if (end < 0) return bytes.length > HEADERS_BYTES_MAX ? this.end() : this.wait(bytes, 0);
    this.begin(partHead(bytes.toString('utf8', 0, end)), end + HEADERS_END.length);
    return this.after(bytes, end + HEADERS_END.length);
  }

  private begin(head: PartHead, length: number): void {
    this.name = head.name;
    const isFile = head.fileName !== null;
    this.state = isFile ? 'file' : 'field';
    this.listener.onPart?.(head, this.at + length);
    if (isFile) this.listener.onFile();
  }

  private value(bytes: Buffer): Buffer | null {
    const end = bytes.indexOf(this.delimiter);
    if (end < 0) return this.valueGoesOn(bytes);
    if (this.state === 'field') this.fieldEnds(bytes.subarray(0, end));
    this.listener.onPartEnd?.(this.at + end);
    this.state = 'head';
    return this.after(bytes, end + this.delimiter.length);
  }

  private fieldEnds(value: Buffer): void {
    if (value.length <= VALUE_BYTES_MAX) this.listener.onField(this.name, value, this.at);
    else this.listener.onFile();
  }

  private valueGoesOn(bytes: Buffer): null {
    const isShort = bytes.length <= VALUE_BYTES_MAX + this.delimiter.length;
    if (this.state === 'field' && isShort) return this.wait(bytes, 0);
    if (this.state === 'field') this.listener.onFile();
    this.state = 'file';
    return this.wait(bytes, Math.max(0, bytes.length - this.delimiter.length + 1));
  }

  private after(bytes: Buffer, from: number): Buffer {
    this.at += from;
    return bytes.subarray(from);
  }

  /** Copies what it keeps, so that a chunk is not held for the sake of its last bytes. */
  private wait(bytes: Buffer, from: number): null {
    this.pending = Buffer.from(this.after(bytes, from));
    return null;
  }

  private end(): null {
    this.state = 'over';
    return null;
  }
}

const NOTHING = Buffer.alloc(0);
