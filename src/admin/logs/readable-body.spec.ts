import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { BodyRow } from './request-parts.js';
import { readableBody } from './readable-body.js';

const aBody = (body: Buffer | string | null, given: Partial<BodyRow> = {}): BodyRow => ({
  direction: 'response',
  headers: null,
  body: typeof body === 'string' ? Buffer.from(body) : body,
  content_type: null,
  content_encoding: null,
  stored_encoding: null,
  original_bytes: '7',
  truncated: false,
  ...given,
});

const MIB = 1024 * 1024;

describe('readableBody', () => {
  it('shows JSON as its value', async () => {
    expect(await readableBody(aBody('{"a":[1]}'))).toEqual({
      body: { a: [1] },
      body_format: 'json',
      body_bytes: 7,
      body_truncated: false,
      body_unavailable: false,
    });
    expect(await readableBody(aBody('1', { content_type: 'application/json' }))).toMatchObject({
      body: 1,
      body_format: 'json',
    });
  });

  it('shows other text as text, a number in plain text and broken JSON as well', async () => {
    for (const text of ['data: {"a":1}\n\n', '1', '{"a":', 'grüß\0gott', ''])
      expect(await readableBody(aBody(text))).toMatchObject({ body: text, body_format: 'text' });
  });

  it('shows what is no text in base64', async () => {
    const bytes = Buffer.from([0xff, 0xd8, 0xff, 0x00]);
    expect(await readableBody(aBody(bytes))).toMatchObject({
      body: bytes.toString('base64'),
      body_format: 'base64',
    });
  });

  it("undoes our compression and the sender's own, two layers of it as well", async () => {
    const text = Buffer.from('{"a":1}');
    const bodies = [
      aBody(brotliCompressSync(text), { stored_encoding: 'br' }),
      aBody(gzipSync(text), { content_encoding: 'gzip' }),
      aBody(deflateSync(text), { content_encoding: 'deflate' }),
      aBody(brotliCompressSync(gzipSync(text)), { content_encoding: 'GZIP, br' }),
      aBody(brotliCompressSync(gzipSync(text)), { content_encoding: 'gzip', stored_encoding: 'br' }),
      aBody(text, { content_encoding: 'identity' }),
    ];
    for (const body of bodies) expect(await readableBody(body)).toMatchObject({ body: { a: 1 } });
  });

  it.each([
    ['grows beyond 10 MiB', aBody(gzipSync(Buffer.alloc(11 * MIB)), { content_encoding: 'gzip' })],
    ['is broken', aBody(gzipSync('text').subarray(0, 12), { content_encoding: 'gzip' })],
    ['has three layers', aBody(gzipSync(gzipSync(gzipSync('x'))), { content_encoding: 'gzip, gzip, gzip' })],
    ['has an unknown coding', aBody('text', { content_encoding: 'compress' })],
    ['has a coding with the name of a method', aBody('text', { content_encoding: 'constructor' })],
  ])('says that a body is unavailable which %s', async (_, body) => {
    expect(await readableBody(body)).toMatchObject({ body: null, body_format: null, body_unavailable: true });
  });

  it('shows a truncated text as text, though a character broke at the seam', async () => {
    const head = Buffer.from('[1, "ü').subarray(0, -1);
    const tail = Buffer.from('ü"]').subarray(1);
    const shown = await readableBody(aBody(Buffer.concat([head, tail.subarray(1)]), { truncated: true }));
    expect(shown).toMatchObject({ body_format: 'text', body_truncated: true });
    expect(shown.body).toContain('[1, "');
  });

  it('shows JSON that nests too deep to be written out as the text it is', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(await readableBody(aBody(deep))).toMatchObject({ body: deep, body_format: 'text' });
  });

  it('knows that there is no body', async () => {
    const nothing = { body: null, body_format: null, body_truncated: false, body_unavailable: false };
    expect(await readableBody(undefined)).toEqual({ ...nothing, body_bytes: 0 });
    expect(await readableBody(aBody(null))).toEqual({ ...nothing, body_bytes: 7 });
  });
});
