import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyCapture } from './capture.js';

const KIB = 1024;

function capture(chunks: readonly Buffer[]) {
  const body = new BodyCapture(true);
  for (const chunk of chunks) body.add(chunk);
  const taken = body.taken('text/plain', null);
  body.release();
  return taken;
}

describe('BodyCapture', () => {
  it('keeps a body of up to 320 KiB whole, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 * KIB }), { maxLength: 8 }), (sizes) => {
        const chunks = sizes.map((size, index) => Buffer.alloc(size, index));
        const whole = Buffer.concat(chunks);
        const taken = capture(chunks);

        expect(taken === null ? 0 : Buffer.compare(Buffer.concat(taken.chunks), whole)).toBe(0);
        expect(taken?.truncated ?? false).toBe(false);
      }),
    );
  });

  it('keeps the first 256 KiB and the last 64 KiB of a longer one, and its size', () => {
    const whole = Buffer.from(Array.from({ length: 1000 * KIB }, (_, index) => index % 251));
    const taken = capture([
      whole.subarray(0, 300 * KIB),
      whole.subarray(300 * KIB, 999 * KIB),
      whole.subarray(999 * KIB),
    ]);

    expect(taken).toMatchObject({ bytes: 1000 * KIB, truncated: true });
    const kept = Buffer.concat(taken?.chunks ?? []);
    expect(kept.length).toBe(320 * KIB);
    expect(kept.equals(Buffer.concat([whole.subarray(0, 256 * KIB), whole.subarray(936 * KIB)]))).toBe(true);
  });

  it('counts but does not keep when bodies are off', () => {
    const body = new BodyCapture(false);
    body.add(Buffer.from('secret'));

    expect(body.bytes).toBe(6);
    expect(body.taken(null, null)).toBeNull();
  });
});
