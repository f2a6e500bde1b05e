import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codingsOf, createDecoder, decodableCodings, decoded, decodedSync } from './content-coding.js';

const { brotliCompressSync, deflateSync, gzipSync } = zlib;
/** Node has it from 22.15. */
const { zstdCompressSync } = zlib as { readonly zstdCompressSync?: typeof gzipSync };

const TEXT = Buffer.from('{"a":"é"}'.repeat(100));
const CODED: readonly (readonly [string, Buffer])[] = [
  ['gzip', gzipSync(TEXT)],
  ['X-GZIP', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['identity', TEXT],
  ['', TEXT],
  ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
  ['identity, deflate ,identity', deflateSync(TEXT)],
  ...(zstdCompressSync ? ([['zstd', zstdCompressSync(TEXT)]] as const) : []),
];

describe('a content coding', () => {
  it.each(CODED)('"%s" is undone, the last one first, with and without a promise', async (name, bytes) => {
    expect(await decoded(bytes, codingsOf(name), TEXT.length)).toEqual(TEXT);
    expect(decodedSync(bytes, codingsOf(name), TEXT.length)).toEqual(TEXT);
  });

  it.each(decodableCodings)('%s has a stream that decodes it byte by byte', async (name) => {
    const stream = createDecoder(name);
    for (const byte of new Map(CODED).get(name) ?? []) stream?.write(Buffer.of(byte));
    stream?.end();
    expect(Buffer.concat((await stream?.toArray()) ?? [])).toEqual(TEXT);
  });

  it.each([
    ['one that is unknown', 'compress', TEXT],
    ['an unknown one among others', 'gzip, compress', gzipSync(TEXT)],
    ['the name of a property of every object', 'constructor', TEXT],
    ['more than two', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(TEXT)))],
    ['damaged bytes', 'gzip', TEXT],
  ])('is refused: %s', async (_, name, bytes) => {
    await expect(decoded(bytes, codingsOf(name), 10_000)).rejects.toThrow();
    expect(() => decodedSync(bytes, codingsOf(name), 10_000)).toThrow();
  });

  it.each(['gzip', 'gzip, gzip'])('"%s" stops at the limit instead of filling memory', async (name) => {
    const zeros = gzipSync(Buffer.alloc(5_000_000));
    const bytes = name === 'gzip' ? zeros : gzipSync(zeros);
    const tooLarge = expect.objectContaining({ code: 'ERR_BUFFER_TOO_LARGE' }) as Error;
    await expect(decoded(bytes, codingsOf(name), 1_000_000)).rejects.toEqual(tooLarge);
    expect(() => decodedSync(bytes, codingsOf(name), 1_000_000)).toThrow(tooLarge);
  });
});
