import { randomUUID } from 'node:crypto';
import { jsonText } from '../../common/json/deep-json.js';
import type { Json } from '../../providers/endpoint.js';
import { FormUpload, MediaFile, type ProviderRequest } from '../../providers/translation.js';
import type { LongStrings } from './long-strings.js';

/** A body as it is sent. */
export interface TranslatedBody {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Serializes a dialect's request. `known`: long strings of its source. */
export function encodeBody(body: ProviderRequest['body'], known: LongStrings | null = null): TranslatedBody {
  if (body instanceof MediaFile) return { contentType: body.contentType, bytes: bufferOf(body.bytes) };
  if (body instanceof FormUpload) return encodeForm(body);
  return { contentType: 'application/json', bytes: written(body, known) };
}

/** Serializes a client's response. `known`: long strings of its source. */
export function encodeAnswer(answer: Json | MediaFile, known: LongStrings | null = null): TranslatedBody {
  if (answer instanceof MediaFile) return encodeBody(answer);
  return { contentType: 'application/json; charset=utf-8', bytes: written(answer, known) };
}

const written = (json: Json, known: LongStrings | null): Buffer =>
  known?.write(json) ?? Buffer.from(jsonText(json));

/** https://www.rfc-editor.org/rfc/rfc7578. The boundary is random, so that no file can contain it. */
function encodeForm({ parts }: FormUpload): TranslatedBody {
  const boundary = randomUUID();
  const pieces: Buffer[] = [];
  for (const [name, value] of parts) {
    const isFile = value instanceof MediaFile;
    const file = isFile ? `; filename="${quoted(value.fileName)}"\r\ncontent-type: ${value.contentType}` : '';
    pieces.push(
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"${file}\r\n\r\n`),
      isFile ? bufferOf(value.bytes) : Buffer.from(value),
      CRLF,
    );
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(pieces) };
}

const CRLF = Buffer.from('\r\n');

const ESCAPES: Readonly<Record<string, string>> = { '\r': '%0D', '\n': '%0A', '"': '%22' };

/** As browsers write it: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
const quoted = (name: string): string => name.replaceAll(/[\r\n"]/g, (char) => ESCAPES[char] ?? '');

/** The bytes themselves, not a copy. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
