import * as zlib from 'node:zlib';
import { AppError } from '../../common/errors/app-error.js';

interface DecodeOptions {
  readonly maxOutputLength: number;
}
type Decode = (
  bytes: Buffer,
  options: DecodeOptions,
  done: (error: NodeJS.ErrnoException | null, decoded: Buffer) => void,
) => void;

/** Node supports Zstandard since 22.15: https://nodejs.org/api/zlib.html#zlibzstddecompressbuffer-options-callback */
const { zstdDecompress } = zlib as { readonly zstdDecompress?: Decode };

/** https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1, https://www.rfc-editor.org/rfc/rfc8878 */
const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', zlib.gunzip],
  ['x-gzip', zlib.gunzip],
  ['deflate', zlib.inflate],
  ['br', zlib.brotliDecompress],
  ...(zstdDecompress ? ([['zstd', zstdDecompress]] as const) : []),
]);

/** The codings of a `content-encoding`, in lower case, without `identity`, which means none. */
export function codingsOf(contentEncoding: string | undefined): readonly string[] {
  if (contentEncoding === undefined) return NONE;
  return contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
}

const NONE: readonly string[] = [];

/** No real text compresses better: a body that expands more than a hundredfold is meant to fill memory. */
const RATIO_MAX = 100;
const ALWAYS_BYTES = 1024 * 1024;

/**
 * The decoded body; null if the gateway cannot decode it: an unknown coding, several codings, or invalid bytes. Rejects with
 * `body_too_large`, before the bytes exist, if the decoded body would exceed `limitBytes`, or both a megabyte and a hundred times its
 * encoded size: a kilobyte can decode to gigabytes.
 */
export async function decodedBody(
  bytes: Buffer,
  codings: readonly string[],
  limitBytes: number,
): Promise<Buffer | null> {
  const [coding] = codings;
  if (coding === undefined) return bytes;
  const decode = codings.length === 1 ? DECODERS.get(coding) : undefined;
  if (!decode) return null;
  const maxOutputLength = Math.min(limitBytes, Math.max(ALWAYS_BYTES, RATIO_MAX * bytes.length));
  return new Promise((resolve, reject) => {
    decode(bytes, { maxOutputLength }, (error, decoded) => {
      if (error?.code === 'ERR_BUFFER_TOO_LARGE')
        reject(new AppError('body_too_large', { limitBytes: maxOutputLength }));
      else resolve(error ? null : decoded);
    });
  });
}

/** Why a body with these codings could not be read, and what to do, as the end of a sentence. */
export function unreadableCoding(codings: readonly string[]): string {
  const known = [...DECODERS.keys()].filter((name) => name !== 'x-gzip');
  return `its content-encoding "${codings.join(', ')}" cannot be decoded. Send it without one, or with one of ${known.join(', ')}`;
}
