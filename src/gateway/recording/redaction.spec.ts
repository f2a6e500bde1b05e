import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { redacted } from './masking.js';

const body = (...texts: string[]) => ({
  chunks: texts.map((text) => Buffer.from(text)),
  bytes: texts.join('').length,
  truncated: false,
  content_type: null,
  content_encoding: null,
});
const textOf = (kept: ReturnType<typeof redacted>): string => Buffer.concat(kept?.chunks ?? []).toString();

describe('redacted', () => {
  it('masks each secret wherever it is, at its full length', () => {
    expect(
      textOf(redacted(body('key sk-secret1 and sk-secret1, token-two'), ['sk-secret1', 'token-two'])),
    ).toBe('key ********** and **********, *********');
  });

  it('finds a secret that two chunks share', () => {
    expect(textOf(redacted(body('a sk-sec', 'ret1 b'), ['sk-secret1']))).toBe('a ********** b');
  });

  it('leaves the bytes of the response itself unchanged', () => {
    const given = body('key sk-secret1');
    redacted(given, ['sk-secret1']);

    expect(given.chunks[0]?.toString()).toBe('key sk-secret1');
  });

  it('copies nothing when there is nothing to mask', () => {
    const given = body('nothing here');

    expect(redacted(given, ['sk-secret1', 'no'])).toBe(given);
  });

  it.each([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('finds a secret in a refusal that is packed with %s, which is kept unpacked then', (coding, pack) => {
    const bytes = pack('{"error":"no key sk-secret1"}');
    const given = { ...body(), chunks: [bytes.subarray(0, 9), bytes.subarray(9)], content_encoding: coding };
    const kept = redacted(given, ['sk-secret1'], true);

    expect(textOf(kept)).toBe('{"error":"no key **********"}');
    expect(kept?.content_encoding).toBeNull();
    expect(redacted(given, ['sk-another'], true)).toBe(given);
  });

  it('does not unpack what is no refusal', () => {
    const given = { ...body(), chunks: [gzipSync('{"key":"sk-secret1"}')], content_encoding: 'gzip' };

    expect(redacted(given, ['sk-secret1'])).toBe(given);
  });

  it('decodes several encodings, and keeps unreadable ones unchanged', () => {
    const twice = { ...body(), chunks: [gzipSync(brotliCompressSync('sk-secret1'))] };
    expect(textOf(redacted({ ...twice, content_encoding: 'br, gzip' }, ['sk-secret1'], true))).toBe(
      '**********',
    );

    for (const coding of ['compress', 'gzip, br', 'gzip']) {
      const broken = { ...body('no archive'), content_encoding: coding };
      expect(redacted(broken, ['sk-secret1'], true)).toBe(broken);
    }
  });

  it('finds a secret whose slashes are escaped', () => {
    expect(textOf(redacted(body(String.raw`"sk\/sec\/ret1"`), ['sk/sec/ret1']))).toBe(`"${'*'.repeat(13)}"`);
  });
});
