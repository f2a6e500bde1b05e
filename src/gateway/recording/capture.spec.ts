import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyCapture } from './capture.js';

const KIB = 1024;

const small = fc.integer({ min: 0, max: 3 * KIB });
const large = fc.integer({ min: 0, max: 40 * KIB });

function capture(chunks: readonly Buffer[]) {
  const body = new BodyCapture(true);
  for (const chunk of chunks) body.add(chunk);
  const taken = body.taken('text/plain', null);
  const copies = taken && { ...taken, chunks: taken.chunks.map((chunk) => Buffer.from(chunk)) };
  body.release();
  return copies;
}

describe('BodyCapture', () => {
  it('keeps a body of up to 320 KiB whole, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(small, large), { maxLength: 8 }), (sizes) => {
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

  it('keeps a stream of many small pieces in a few', () => {
    const pieces = Array.from({ length: 500 }, (_, index) => Buffer.from(`data: ${index}\n\n`));
    const taken = capture(pieces);

    expect(Buffer.concat(taken?.chunks ?? []).equals(Buffer.concat(pieces))).toBe(true);
    expect(taken?.chunks.length).toBeLessThan(5);
  });

  it('keeps another body in place of what passed, and nothing of that', () => {
    const body = new BodyCapture(true);
    for (const piece of ['first', 'second', 'third']) body.add(Buffer.from(piece));
    body.replace(Buffer.from('masked'));

    expect(Buffer.concat(body.taken()?.chunks ?? []).toString()).toBe('masked');
    body.release();
  });

  it('shares nothing with a capture that is not released yet', () => {
    const letters = ['a', 'b', 'c'].map((letter) => {
      const body = new BodyCapture(true);
      for (let n = 0; n < 10; n++) body.add(Buffer.alloc(KIB, letter));
      return { body, taken: body.taken() };
    });
    letters[1]?.body.release();
    capture(Array.from({ length: 10 }, () => Buffer.alloc(KIB, 'd')));

    for (const [index, letter] of [
      [0, 'a'],
      [2, 'c'],
    ] as const)
      expect(Buffer.concat(letters[index]?.taken?.chunks ?? []).toString()).toBe(letter.repeat(10 * KIB));
    letters[0]?.body.release();
    letters[2]?.body.release();
  });

  it('keeps nothing after its release, which no later step would free', () => {
    const late = Buffer.alloc(300 * KIB, 'z');
    for (let n = 0; n < 500; n++) {
      const over = new BodyCapture(true);
      over.add(Buffer.from('over'));
      over.release();
      over.add(late);
    }

    expect(Buffer.concat(capture([Buffer.from('next')])?.chunks ?? []).toString()).toBe('next');
  });

  it('counts but does not keep when bodies are off', () => {
    const body = new BodyCapture(false);
    body.add(Buffer.from('secret'));

    expect(body.bytes).toBe(6);
    expect(body.taken(null, null)).toBeNull();
  });
});
