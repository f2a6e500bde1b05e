import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import { MediaFile } from '../../providers/translation.js';
import { MultipartScanner, type PartHead } from './multipart-scanner.js';

/** More parts than any form of these endpoints has. */
const PARTS_MAX = 256;
const UNKNOWN_TYPE = 'application/octet-stream';
const LIST = '[]';

type FormFieldValue = string | MediaFile;

/**
 * The values of a whole form by name: texts and files. A name that occurs more than once or ends with `[]`, which is removed, has a list.
 * Files are views of `body`, not copies. A truncated part is left out. Throws when there are too many parts.
 */
export function formFields(body: Buffer, boundary: string): Json {
  const values = new Map<string, FormFieldValue[]>();
  let part: { readonly head: PartHead; readonly start: number } | null = null;
  let parts = 0;
  const scanner = new MultipartScanner(boundary, {
    onField: () => undefined,
    onFile: () => undefined,
    onPart: (head, start) => {
      part = { head, start };
      parts += 1;
      if (parts > PARTS_MAX)
        throw new AppError('invalid_request', { detail: `The form has more than ${PARTS_MAX} parts.` });
    },
    onPartEnd: (end) => {
      if (part) add(values, part.head, body.subarray(part.start, end));
      part = null;
    },
  });
  scanner.feed(body);
  return Object.fromEntries([...values].map(([name, found]) => fieldOf(name, found)));
}

function add(
  values: Map<string, FormFieldValue[]>,
  { name, fileName, contentType }: PartHead,
  bytes: Buffer,
): void {
  const value =
    fileName === null ? bytes.toString('utf8') : new MediaFile(contentType ?? UNKNOWN_TYPE, bytes, fileName);
  const known = values.get(name);
  if (known) known.push(value);
  else values.set(name, [value]);
}

function fieldOf(name: string, found: readonly FormFieldValue[]): readonly [string, unknown] {
  if (name.endsWith(LIST)) return [name.slice(0, -LIST.length), found];
  return [name, found.length === 1 ? found[0] : found];
}
