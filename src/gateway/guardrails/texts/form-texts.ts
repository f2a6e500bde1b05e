import { isUtf8 } from 'node:buffer';
import type { Json } from '../../../providers/endpoint.js';
import { boundaryOf, MultipartScanner, type PartHead } from '../../ingress/multipart-scanner.js';
import { UTF8_CHARSETS, utf8ReaderOf } from './charset.js';
import { unread, type UnreadContent } from './unread.js';

/** A part of a form. Its head may call it a file, which not every parser respects. */
interface FormPart {
  readonly head: PartHead;
  readonly start: number;
  readonly end: number;
}

const PARTS_MAX = 256;
const FILE_NAMES = 'file names';

/** The texts of a complete multipart form: its fields, text files, and file names. */
export class FormTexts {
  /** Texts by the names of their parts, as a list if a name occurs more than once. */
  readonly json: Json;
  readonly unread?: undefined;
  private readonly parts: readonly FormPart[];

  private constructor(
    private readonly body: Buffer,
    readonly boundary: string,
    all: readonly FormPart[],
  ) {
    this.parts = all.filter(({ start, end }) => isUtf8(body.subarray(start, end)));
    const byName = new Map<string, string[]>();
    for (const { head, start, end } of this.parts) {
      const text = body.toString('utf8', start, end);
      const known = byName.get(head.name);
      if (known) known.push(text);
      else byName.set(head.name, [text]);
    }
    const fileNames = all.flatMap(({ head }) => head.fileNames).filter((name) => name !== '');
    if (fileNames.length > 0) byName.set(FILE_NAMES, fileNames);
    this.json = Object.fromEntries(
      [...byName].map(([name, [first, ...more]]) => [name, more.length === 0 ? first : [first, ...more]]),
    );
  }

  /** The texts, or why they cannot be read: another parser might still read a form that is incomplete for this one. */
  static of(body: unknown, contentType: string | undefined): FormTexts | UnreadContent {
    const boundary = boundaryOf(contentType);
    const parts = Buffer.isBuffer(body) && boundary !== null ? partsOf(body, boundary) : null;
    if (!Buffer.isBuffer(body) || boundary === null || !parts) return unread('form');
    if (!utf8ReaderOf(contentType)(body)) return unread('charset');
    for (const part of parts) {
      const problem = problemOf(part.head, body.subarray(part.start, part.end));
      if (problem !== null) return unread('charset', part.head.name, problem);
    }
    const repeated = repeatedField(parts);
    if (repeated !== null) return unread('duplicate', '', repeatedInWords(repeated));
    return new FormTexts(body, boundary, parts);
  }

  /** The form with other texts in their places; every other byte is unchanged. */
  withFields(json: Json): Buffer {
    const pieces: Buffer[] = [];
    const counts = new Map<string, number>();
    let from = 0;
    for (const { head, start, end } of this.parts) {
      const count = counts.get(head.name) ?? 0;
      counts.set(head.name, count + 1);
      const value = json[head.name];
      const text = Array.isArray(value) ? (value as unknown[])[count] : value;
      pieces.push(this.body.subarray(from, start));
      from = typeof text === 'string' ? end : start;
      if (typeof text === 'string') pieces.push(Buffer.from(text));
    }
    return Buffer.concat([...pieces, this.body.subarray(from)]);
  }

  /** Whether the name of a file differs, which is part of a head and cannot be replaced. */
  hasOtherNames(json: Json): boolean {
    return json[FILE_NAMES] !== this.json[FILE_NAMES];
  }
}

/** The parts of a complete form; null for every other body. */
function partsOf(body: Buffer, boundary: string): FormPart[] | null {
  const parts: FormPart[] = [];
  let begun: Omit<FormPart, 'end'> | null = null;
  const scanner = new MultipartScanner(boundary, {
    onField: () => undefined,
    onFile: () => undefined,
    onPart: (head, start) => {
      begun = { head, start };
    },
    onPartEnd: (end) => {
      if (begun) parts.push({ ...begun, end });
      begun = null;
    },
  });
  scanner.feed(body);
  return begun || !scanner.isComplete || parts.length > PARTS_MAX ? null : parts;
}

/** The first field that occurs twice without being a list, which is written `name[]`; null without one. Files may repeat. */
function repeatedField(parts: readonly FormPart[]): string | null {
  const names = new Set<string>();
  const fields = new Set<string>();
  for (const { head } of parts) {
    const isField = head.fileName === null;
    const isRepeated = isField ? names.has(head.name) : fields.has(head.name);
    if (isRepeated && !head.name.endsWith('[]')) return head.name;
    names.add(head.name);
    if (isField) fields.add(head.name);
  }
  return null;
}

const repeatedInWords = (name: string): string =>
  `its form has the field "${name.slice(0, 64)}" twice, so it is unclear which one counts. Send each field once`;

const PLAIN_CODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;
/** The field that names the charset of all others: https://www.rfc-editor.org/rfc/rfc7578#section-4.6 */
const DEFAULT_CHARSET = '_charset_';

/** Why the text of a part cannot be read; null if it can, or if the part is a file without text. */
function problemOf(head: PartHead, bytes: Buffer): string | null {
  const { fileName, contentType, transferEncoding } = head;
  if (transferEncoding !== null && !PLAIN_CODINGS.has(transferEncoding.toLowerCase()))
    return 'a part of the form has a content-transfer-encoding. Send its plain bytes';
  if (fileName !== null && !/^text\//i.test(contentType ?? '')) return null;
  const isPlain = UTF8_CHARSETS.has(charsetOf(head, bytes).trim().toLowerCase());
  return isPlain && isUtf8(bytes) && !bytes.includes(0) ? null : 'a text of the form is not UTF-8';
}

function charsetOf({ name, contentType }: PartHead, bytes: Buffer): string {
  if (name === DEFAULT_CHARSET) return bytes.toString('latin1');
  return CHARSET.exec(contentType ?? '')?.[1] ?? 'utf-8';
}
