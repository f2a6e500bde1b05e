const CRLF = '\r\n';
const HEADERS_END = Buffer.from(CRLF + CRLF);
const DASH = 0x2d;
const HEADERS_BYTES_MAX = 8 * 1024;
const VALUE_BYTES_MAX = 4 * 1024;

/** https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1 */
const BOUNDARY = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;

const DISPOSITION = /^content-disposition:\s*form-data\s*;(.*)$/im;
const NAME = /(?:^|;)\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i;
const FILE_NAME = /(?:^|;)\s*filename\*?=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/gi;
const CONTENT_TYPE = /^content-type:[ \t]*([^\r\n]+)/im;
const TRANSFER_ENCODING = /^content-transfer-encoding:[ \t]*([^\s;]+)/im;
/** https://www.rfc-editor.org/rfc/rfc8187#section-3.2 */
const EXTENDED = /^[\w!#$%&+^`{}~-]*'[\w-]*'(.*)$/;

/** The boundary in a content type; null if it is not a form's, or the boundary is invalid. */
export function boundaryOf(contentType: string | undefined): string | null {
  const [, quoted, plain] = BOUNDARY.exec(contentType ?? '') ?? [];
  return quoted ?? plain ?? null;
}

/** The head of a part. */
export interface PartHead {
  readonly name: string;
  /** Null for a part that is not a file. */
  readonly fileName: string | null;
  /** Every name that the part gives its file, as written and decoded: parsers differ in which one they use. */
  readonly fileNames: readonly string[];
  /** Null if it is not given. */
  readonly contentType: string | null;
  /** Null if it is not given, as it should not be: https://www.rfc-editor.org/rfc/rfc7578#section-4.7 */
  readonly transferEncoding: string | null;
}

/** Receives the parts of a form. The methods may throw; then scanning stops. */
export interface FormListener {
  /** A short text field, complete. Its value begins at byte `start` of the body. */
  onField(name: string, value: Buffer, start: number): void;
  /** A part began that is a file, or a text too long to read. */
  onFile(): void;
  /** A part of any kind began; its content begins at byte `start` of the body. */
  onPart?(head: PartHead, start: number): void;
  /** The content ended before `end`. Not called for a truncated part. */
  onPartEnd?(end: number): void;
}

function partHead(head: string): PartHead {
  const [, parameters = ''] = DISPOSITION.exec(head) ?? [];
  const fileNames = [...parameters.matchAll(FILE_NAME)].map(([, quoted, plain = '']) =>
    (quoted ?? plain).trim(),
  );
  return {
    name: found(NAME, parameters) ?? '',
    fileName: fileNames[0] ?? null,
    fileNames: [...new Set([...fileNames, ...fileNames.map(decodedName)])],
    contentType: found(CONTENT_TYPE, head),
    transferEncoding: found(TRANSFER_ENCODING, head),
  };
}

/** Clients write `filename="%C3%A4.png"` and `filename*=UTF-8''%C3%A4.png`. */
function decodedName(name: string): string {
  const encoded = EXTENDED.exec(name)?.[1] ?? name;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** The group that matched; null without a match. */
function found(pattern: RegExp, text: string): string | null {
  const match = pattern.exec(text);
  return match && (match.slice(1).find((group) => group !== undefined) ?? '').trim();
}

/**
 * Scans a multipart form while it passes, in chunks cut anywhere. It holds the head of one part or one short value, and of a file at most
 * the length of a boundary. Bytes that are not such a form are skipped silently: the provider judges them.
 * https://www.rfc-editor.org/rfc/rfc7578
 */
export class MultipartScanner {
  private readonly delimiter: Buffer;
  private state: 'head' | 'field' | 'file' | 'over' = 'file';
  private name = '';
  /** Undecided bytes, and their offset in the body. The first boundary needs no preceding line break. */
  private pending = Buffer.from(CRLF);
  private at = -CRLF.length;
  /** The form's closing delimiter has passed. */
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

  /** The bytes still to scan, or null until more arrive. */
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

  /** Copies the bytes to keep, so that they do not hold the whole chunk in memory. */
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
