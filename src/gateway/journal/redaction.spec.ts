import { describe, expect, it } from 'vitest';
import { redacted } from './redaction.js';

const body = (...texts: string[]) => ({
  chunks: texts.map((text) => Buffer.from(text)),
  bytes: texts.join('').length,
  truncated: false,
  content_type: null,
  content_encoding: null,
});
const textOf = (kept: ReturnType<typeof redacted>): string => Buffer.concat(kept?.chunks ?? []).toString();

describe('redacted', () => {
  it('masks each secret wherever it stands, as long as it was', () => {
    expect(
      textOf(redacted(body('key sk-secret1 and sk-secret1, token-two'), ['sk-secret1', 'token-two'])),
    ).toBe('key ********** and **********, *********');
  });

  it('finds a secret that two chunks share', () => {
    expect(textOf(redacted(body('a sk-sec', 'ret1 b'), ['sk-secret1']))).toBe('a ********** b');
  });

  it('leaves the bytes of the answer itself alone', () => {
    const given = body('key sk-secret1');
    redacted(given, ['sk-secret1']);

    expect(given.chunks[0]?.toString()).toBe('key sk-secret1');
  });

  it('copies nothing when there is nothing to mask', () => {
    const given = body('nothing here');

    expect(redacted(given, ['sk-secret1', 'no'])).toBe(given);
  });
});
