import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { aRecord } from '../../../test/support/exchanges.js';
import { rowsOfClosed } from './log-rows.js';

const counter = { countTokens: () => 0, costOf: () => null };
const NOTHING = Buffer.alloc(0);

async function stored(body: Buffer, isBehind = false) {
  const facts = {
    bytes: body.length,
    truncated: false,
    content_type: 'application/json',
    content_encoding: null,
  };
  const closed = { record: aRecord(), request: facts, response: null };
  const [row] = await rowsOfClosed([{ closed, requestBody: body, responseBody: NOTHING }], {
    counter,
    redactorOf: () => null,
    isBehind,
  });
  return row?.request;
}

describe('a body', () => {
  it.each([513, 1_023, 1_024, 1_025, 4_096, 65_535, 65_537, 327_680])(
    'of %i bytes is packed and can be unpacked again',
    async (bytes) => {
      // Repetitions half a body apart: a window that is too small would miss them.
      const half = Array.from({ length: Math.ceil(bytes / 2) }, (_, at) => 97 + ((at * at * 31) % 23));
      const body = Buffer.from([...half, ...half].slice(0, bytes));

      const kept = await stored(body);

      expect(kept?.stored_encoding).toBe('br');
      expect(kept?.bytes.length).toBeLessThan(body.length);
      expect(brotliDecompressSync(kept?.bytes ?? NOTHING).equals(body)).toBe(true);
    },
  );

  it('of 1.5 KiB or less is kept as it is while rows come faster than they are stored; a larger one is packed', async () => {
    const text = (bytes: number) => Buffer.alloc(bytes, 'words and words ');

    expect(await stored(text(1_536), true)).toMatchObject({ bytes: text(1_536), stored_encoding: null });
    expect(await stored(text(1_537), true)).toMatchObject({ stored_encoding: 'br' });
    expect(await stored(text(1_536))).toMatchObject({ stored_encoding: 'br' });
  });

  it('that is short, or would only grow, is kept as it is', async () => {
    const short = Buffer.from('{"a":1}');
    const random = Buffer.from(Array.from({ length: 2_000 }, (_, at) => (at * 7_919 * (at + 13)) % 256));

    expect(await stored(short)).toMatchObject({ bytes: short, stored_encoding: null });
    expect((await stored(random))?.bytes.length).toBeLessThanOrEqual(random.length);
  });
});
