import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { aBody, anOpened, aRecord } from '../../../test/support/exchanges.js';
import {
  decodeFrame,
  type EncodedFrame,
  encodeClosed,
  encodeOpened,
  sealFrame,
  withoutBodies,
} from './frame.js';
import { readClosed, readOpened } from './frame-values.js';
import { readSegment } from './segment-reader.js';

const SEGMENT = 7;
const bytesOf = (frame: EncodedFrame) => {
  sealFrame(frame, SEGMENT);
  return Buffer.concat([frame.head, ...frame.bodies]);
};
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-frames-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function look(bytes: Buffer, skipDamage = false) {
  const path = join(folder, 'segment');
  writeFileSync(path, bytes);
  return readSegment(path, { segment: SEGMENT, offset: 0 }, skipDamage);
}

const anyFrame = fc
  .record({
    request: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 3 }),
    response: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 3 }),
    text: fc.string({ unit: 'binary' }),
    isOpened: fc.boolean(),
  })
  .map(({ request, response, text, isOpened }) => {
    const opened = anOpened({ span_name: text });
    const body = (chunks: Uint8Array[]) => ({
      ...aBody(''),
      chunks: chunks.map((chunk) => Buffer.from(chunk)),
    });
    return isOpened
      ? { frame: encodeOpened(opened), request: Buffer.alloc(0), response: Buffer.alloc(0) }
      : {
          frame: encodeClosed(aRecord(opened), { request: body(request), response: body(response) }),
          request: Buffer.concat(request),
          response: Buffer.concat(response),
        };
  });

describe('a frame', () => {
  it('comes back as it was, whatever bytes and text it carries', () => {
    fc.assert(
      fc.property(anyFrame, ({ frame, request, response }) => {
        const found = decodeFrame(bytesOf(frame), 0, SEGMENT);
        if (typeof found !== 'object') throw new Error(found);
        expect(found.bytes).toBe(frame.bytes);
        expect(found.requestBody.equals(request)).toBe(true);
        expect(found.responseBody.equals(response)).toBe(true);
        expect(() => void JSON.parse(found.json.toString())).not.toThrow();
      }),
    );
  });

  it('comes back whole when a chunk of a body is empty', () => {
    const chunks = [Buffer.from('ab'), Buffer.alloc(0), Buffer.from('cd')];
    const frame = encodeClosed(aRecord(anOpened({})), { request: null, response: { ...aBody(''), chunks } });

    expect(decodeFrame(bytesOf(frame), 0, SEGMENT)).toMatchObject({ responseBody: Buffer.from('abcd') });
  });

  it('keeps a lone surrogate and a NUL of its text', () => {
    const found = decodeFrame(bytesOf(encodeOpened(anOpened({ span_name: 'a\0b\ud800c' }))), 0, SEGMENT);

    expect(typeof found === 'object' && readOpened(found.json)).toMatchObject({
      span_name: 'a\0b\ud800c',
    });
  });

  it('is seen as damaged when any one byte of it is changed', () => {
    fc.assert(
      fc.property(anyFrame, fc.nat(), fc.integer({ min: 1, max: 255 }), ({ frame }, at, flip) => {
        const bytes = bytesOf(frame);
        const place = at % bytes.length;
        bytes[place] = (bytes[place] ?? 0) ^ flip;
        expect(typeof decodeFrame(bytes, 0, SEGMENT)).toBe('string');
      }),
    );
  });

  it('drops bodies and headers for a full disk, and keeps what is needed to bill', () => {
    const countable = { input: 'in', output: 'out' };
    const frame = encodeClosed(aRecord(anOpened(), { countable }), {
      request: aBody('x'.repeat(9000)),
      response: null,
    });
    const small = decodeFrame(bytesOf(withoutBodies(frame)), 0, SEGMENT);

    expect(typeof small === 'object' && readClosed(small.json)).toMatchObject({
      record: { countable, request_headers: [], cost_nano_usd: 3600 },
      request: null,
    });
    expect(typeof small === 'object' && small.requestBody.length).toBe(0);
  });
});

describe('reading a segment', () => {
  it('gives every whole frame before a torn tail, wherever it was torn, and never a wrong one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyFrame, { minLength: 1, maxLength: 6 }), fc.nat(), async (given, at) => {
        const parts = given.map(({ frame }) => bytesOf(frame));
        const all = Buffer.concat(parts);
        const cut = at % (all.length + 1);
        let whole = 0;
        let end = 0;
        while (whole < parts.length && end + (parts[whole]?.length ?? 0) <= cut)
          end += parts[whole++]?.length ?? 0;

        const { frames, next, status } = await look(all.subarray(0, cut), true);

        expect(frames).toHaveLength(whole);
        expect(next).toBe(end);
        expect(status).toBe(end === cut ? 'end' : 'torn');
      }),
      { numRuns: 60 },
    );
  });

  it('skips a damaged frame in the middle and counts it', async () => {
    const parts = [1, 2, 3].map((n) => bytesOf(encodeOpened(anOpened({ span_name: `span ${n}` }))));
    parts[1]?.fill(0x55, 40, 60);

    const { frames, damaged, status } = await look(Buffer.concat(parts), true);

    expect(frames.map(({ frame }) => readOpened(frame.json).span_name)).toEqual(['span 1', 'span 3']);
    expect([damaged, status]).toEqual([1, 'end']);
  });

  it('waits before what is no frame while its writer may still be writing it', async () => {
    const parts = [1, 2, 3].map(() => bytesOf(encodeOpened(anOpened())));
    parts[1]?.fill(0x55, 40, 60);

    expect(await look(Buffer.concat(parts), false)).toMatchObject({ status: 'torn', next: parts[0]?.length });
  });

  it('takes zeros for space that is not written yet', async () => {
    const frame = bytesOf(encodeOpened(anOpened()));

    const found = await look(Buffer.concat([frame, Buffer.alloc(5000)]), true);

    expect(found).toMatchObject({ status: 'end', next: frame.length, damaged: 0 });
  });

  it('reads a frame larger than its window', async () => {
    const large = encodeClosed(aRecord(), {
      request: aBody(Buffer.alloc(6 * 1024 * 1024, 7)),
      response: null,
    });
    const small = bytesOf(encodeOpened(anOpened()));
    const path = join(folder, 'large');
    writeFileSync(path, Buffer.concat([small, bytesOf(large), small]));

    const first = await readSegment(path, { segment: SEGMENT, offset: 0 }, false);
    const second = await readSegment(path, { segment: SEGMENT, offset: first.next }, false);

    expect([first.frames.length, first.status]).toEqual([1, 'more']);
    expect([second.frames.length, second.status]).toEqual([2, 'end']);
    expect(second.frames[0]?.frame.requestBody.length).toBe(6 * 1024 * 1024);
  });
});
