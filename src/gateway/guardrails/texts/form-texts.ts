import { isUtf8 } from 'node:buffer';
import type { Json } from '../../../providers/endpoint.js';
import { boundaryOf, MultipartScanner } from '../../ingress/multipart-scanner.js';

/** A text part of a form. Its head may call it a file, which not every parser respects. */
interface TextPart {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const PARTS_MAX = 256;
const FILE_NAMES = 'file names';

/** The texts of a complete multipart form: its fields, text files, and file names. */
export class FormTexts {
  /** Texts by the names of their parts, as a list if a name occurs more than once. */
  readonly json: Json;

  private constructor(
    private readonly body: Buffer,
    readonly boundary: string,
    private readonly parts: readonly TextPart[],
    fileNames: readonly string[],
  ) {
    const byName = new Map<string, string[]>();
    for (const { name, start, end } of parts) {
      const text = body.toString('utf8', start, end);
      const known = byName.get(name);
      if (known) known.push(text);
      else byName.set(name, [text]);
    }
    if (fileNames.length > 0) byName.set(FILE_NAMES, [...fileNames]);
    this.json = Object.fromEntries(
      [...byName].map(([name, [first, ...more]]) => [name, more.length === 0 ? first : [first, ...more]]),
    );
  }

  /** Null if the body is not a complete form, which another parser might still read. */
  static of(body: unknown, contentType: string | undefined): FormTexts | null {
    const boundary = boundaryOf(contentType);
    if (!Buffer.isBuffer(body) || boundary === null) return null;
    const parts: TextPart[] = [];
    const fileNames: string[] = [];
    let begun: { readonly name: string; readonly start: number } | null = null;
    const scanner = new MultipartScanner(boundary, {
      onField: () => undefined,
      onFile: () => undefined,
      onPart: ({ name, fileName }, start) => {
        begun = { name, start };
        if (fileName) fileNames.push(fileName);
      },
      onPartEnd: (end) => {
        if (begun && isUtf8(body.subarray(begun.start, end))) parts.push({ ...begun, end });
        begun = null;
      },
    });
    scanner.feed(body);
    if (begun || !scanner.isComplete || parts.length > PARTS_MAX) return null;
    return new FormTexts(body, boundary, parts, fileNames);
  }

  /** The form with other texts in their places; every other byte is unchanged. */
  withFields(json: Json): Buffer {
    const pieces: Buffer[] = [];
    const counts = new Map<string, number>();
    let from = 0;
    for (const { name, start, end } of this.parts) {
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      const value = json[name];
      const text = Array.isArray(value) ? (value as unknown[])[count] : value;
      pieces.push(this.body.subarray(from, start));
      from = typeof text === 'string' ? end : start;
      if (typeof text === 'string') pieces.push(Buffer.from(text));
    }
    return Buffer.concat([...pieces, this.body.subarray(from)]);
  }
}
