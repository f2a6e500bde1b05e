import { type FieldKind, fieldNamed, isFieldValue, isToken } from '../../common/http/fields.js';
import { InvalidRequestError } from './http1-error.js';

/** A request whose bytes are all available. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, as in the request line. */
  readonly path: string;
  /** Names and values in turn; each character is one byte (latin1). */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

const FORBIDDEN_IN_PATH = /[^\x21-\xff]/;
const DIGITS = /^[0-9]+$/;
/** Methods whose body has a meaning: they send its length, even if it is empty. */
const WITH_BODY: ReadonlySet<string> = new Set(['PUT', 'POST', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']);
/** Methods whose body has so little meaning that its length is not compared with the announced one. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/**
 * The head of a request as written: https://www.rfc-editor.org/rfc/rfc9112#section-3 and #section-5. The constructor throws an
 * InvalidRequestError for ambiguous content and for fields that belong to the connection.
 */
export class OutgoingRequestHead {
  /** Before the field `connection`, which the writer adds. */
  readonly start: string;
  /** After it. */
  readonly rest: string;
  /** The request asks to close the connection after the response. */
  closes: boolean;
  /** The connection is not reused: a server that expected no body may take it for the next request. */
  readonly endsConnection: boolean;
  private host: string;
  private hasHost = false;
  private declaredLength = -1;

  /** `host`: the default for the field. */
  constructor({ method, path, headers, body }: HttpRequest, host: string) {
    checkFirstLine(method, path);
    const length = body === null ? 0 : body.length;
    this.host = host;
    // Bytes after the response to a HEAD may be a body that a server sends by mistake.
    this.closes = method === 'HEAD';
    const fields = this.fields(headers);
    this.checkLength(method, length);
    const expectsBody = WITH_BODY.has(method);
    this.start = `${method} ${path} HTTP/1.1\r\nhost: ${this.host}\r\n`;
    this.rest = length > 0 || expectsBody ? `${fields}content-length: ${length}\r\n\r\n` : `${fields}\r\n`;
    this.endsConnection = this.closes || (length > 0 && !expectsBody);
  }

  private fields(headers: readonly string[]): string {
    let fields = '';
    for (let index = 0; index + 1 < headers.length; index += 2) {
      const name = headers[index] as string;
      const value = headers[index + 1] as string;
      const field = fieldNamed(name);
      if (field === null) throw new InvalidRequestError('the name of a header is not valid');
      if (!isFieldValue(value)) throw invalid(name);
      if (field.kind === 'other') fields += `${name}: ${value}\r\n`;
      else this.obey(field.kind, value);
    }
    return fields;
  }

  private obey(kind: FieldKind, value: string): void {
    if (kind === 'host') this.readHost(value);
    else if (kind === 'content-length') this.readLength(value);
    else if (kind === 'connection') this.readConnection(value);
    else throw invalid(kind);
  }

  private readHost(value: string): void {
    if (this.hasHost) throw invalid('host');
    this.hasHost = true;
    this.host = value;
  }

  private readLength(value: string): void {
    if (this.declaredLength >= 0 || !DIGITS.test(value)) throw invalid('content-length');
    this.declaredLength = Number(value);
  }

  private readConnection(value: string): void {
    for (const option of value.toLowerCase().split(',')) {
      const name = option.trim();
      if (!isToken(name)) throw invalid('connection');
      if (name === 'close') this.closes = true;
    }
  }

  private checkLength(method: string, length: number): void {
    const isCompared = this.declaredLength >= 0 && length > 0 && !WITHOUT_BODY.has(method);
    if (isCompared && this.declaredLength !== length) throw invalid('content-length');
  }
}

function checkFirstLine(method: string, path: string): void {
  // CONNECT would turn the connection into a tunnel, which is not supported here.
  if (method === 'CONNECT' || !isToken(method)) throw new InvalidRequestError('the method is not valid');
  const isAbsolute = path.startsWith('http://') || path.startsWith('https://');
  if ((!path.startsWith('/') && !isAbsolute) || FORBIDDEN_IN_PATH.test(path))
    throw new InvalidRequestError('the path is not valid');
}

function invalid(header: string): InvalidRequestError {
  return new InvalidRequestError(`the header ${header} cannot be sent`, header);
}
