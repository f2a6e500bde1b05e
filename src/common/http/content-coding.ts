import { promisify } from 'node:util';
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** `maxOutputLength`: bytes; a body that decodes to more fails with `ERR_BUFFER_TOO_LARGE` before it is complete. */
interface DecodeOptions {
  readonly maxOutputLength: number;
}

interface Decoder {
  readonly decode: (bytes: Buffer, options: DecodeOptions) => Promise<Buffer>;
  readonly decodeSync: (bytes: Buffer, options: DecodeOptions) => Buffer;
  readonly createStream: () => Transform;
}

/** Node has Zstandard from 22.15: https://nodejs.org/api/zlib.html#zlibcreatezstddecompressoptions */
interface Zstandard {
  readonly zstdDecompress?: typeof zlib.gunzip;
  readonly zstdDecompressSync?: typeof zlib.gunzipSync;
  readonly createZstdDecompress?: typeof zlib.createGunzip;
}

const GZIP: Decoder = {
  decode: promisify<Buffer, DecodeOptions, Buffer>(zlib.gunzip),
  decodeSync: zlib.gunzipSync,
  createStream: () => zlib.createGunzip(),
};

/** https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1, https://www.rfc-editor.org/rfc/rfc8878 */
const DECODERS: ReadonlyMap<string, Decoder> = new Map([
  ['gzip', GZIP],
  ['x-gzip', GZIP],
  [
    'deflate',
    {
      decode: promisify<Buffer, DecodeOptions, Buffer>(zlib.inflate),
      decodeSync: zlib.inflateSync,
      createStream: () => zlib.createInflate(),
    },
  ],
  [
    'br',
    {
      decode: promisify<Buffer, DecodeOptions, Buffer>(zlib.brotliDecompress),
      decodeSync: zlib.brotliDecompressSync,
      createStream: () => zlib.createBrotliDecompress(),
    },
  ],
  ...zstandard(zlib as Zstandard),
]);

function zstandard(node: Zstandard): readonly (readonly [string, Decoder])[] {
  const { zstdDecompress, zstdDecompressSync, createZstdDecompress } = node;
  if (!zstdDecompress || !zstdDecompressSync || !createZstdDecompress) return [];
  const decode = promisify<Buffer, DecodeOptions, Buffer>(zstdDecompress);
  return [['zstd', { decode, decodeSync: zstdDecompressSync, createStream: () => createZstdDecompress() }]];
}

/** The codings that this process can decode, without aliases. */
export const decodableCodings: readonly string[] = [...DECODERS.keys()].filter((name) => name !== 'x-gzip');

const NONE: readonly string[] = [];

/** The codings of a `content-encoding` in the order in which they were applied: lower case, without `identity`. */
export function codingsOf(contentEncoding: string | null | undefined): readonly string[] {
  if (contentEncoding === undefined || contentEncoding === null) return NONE;
  return contentEncoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
}

/** Each coding may multiply the size by a thousand, and no client applies three. */
const MAX_CODINGS = 2;

/**
 * The body without its codings, of at most `maxBytes` after each of them. Rejects if a coding is unknown, if there are
 * more than two, and with zlib's error for bytes that are damaged or decode to more (`ERR_BUFFER_TOO_LARGE`).
 */
export async function decoded(bytes: Buffer, codings: readonly string[], maxBytes: number): Promise<Buffer> {
  let plain = bytes;
  for (const { decode } of decodersOf(codings)) plain = await decode(plain, { maxOutputLength: maxBytes });
  return plain;
}

/** `decoded` without a promise, for small bodies. Throws what `decoded` rejects with. */
export function decodedSync(bytes: Buffer, codings: readonly string[], maxBytes: number): Buffer {
  let plain = bytes;
  for (const { decodeSync } of decodersOf(codings)) plain = decodeSync(plain, { maxOutputLength: maxBytes });
  return plain;
}

/** A stream that decodes one coding; null where this process cannot. */
export const createDecoder = (coding: string): Transform | null =>
  DECODERS.get(coding)?.createStream() ?? null;

export const canDecode = (coding: string): boolean => DECODERS.has(coding);

/** The last coding that was applied is undone first. */
function decodersOf(codings: readonly string[]): readonly Decoder[] {
  if (codings.length > MAX_CODINGS)
    throw new Error(`More than ${MAX_CODINGS} content codings are not decoded.`);
  return codings.toReversed().map((coding) => {
    const decoder = DECODERS.get(coding);
    if (!decoder) throw new Error(`The content coding "${coding}" cannot be decoded.`);
    return decoder;
  });
}
