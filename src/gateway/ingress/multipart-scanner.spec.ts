import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundaryOf, MultipartScanner } from './multipart-scanner.js';

type ScannerEvents = readonly (readonly [name: string, value: string, start: number] | 'file')[];

function scanned(boundary: string, chunks: readonly Buffer[]): ScannerEvents {
  const heard: ([string, string, number] | 'file')[] = [];
  const scanner = new MultipartScanner(boundary, {
    onField: (name, value, start) => heard.push([name, value.toString(), start]),
    onFile: () => heard.push('file'),
  });
  for (const chunk of chunks) scanner.feed(chunk);
  return heard;
}

interface ScannedPart {
  readonly head: string;
  readonly body: Buffer;
}
const form = (boundary: string, parts: readonly ScannedPart[], preamble = ''): Buffer =>
  Buffer.concat([
    Buffer.from(preamble),
    ...parts.map(({ head, body }) =>
      Buffer.concat([Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), body, Buffer.from('\r\n')]),
    ),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
const field = (name: string, value: string): ScannedPart => ({
  head: `Content-Disposition: form-data; name="${name}"`,
  body: Buffer.from(value),
});
const file = (body: Buffer): ScannedPart => ({
  head: 'content-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav',
  body,
});

const cutAt = (bytes: Buffer, cuts: readonly number[]): readonly Buffer[] => {
  const ends = [...new Set(cuts.map((at) => Math.min(at, bytes.length)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
};

describe('MultipartScanner', () => {
  it('reports the same parts however a form is cut, and the offset of each value', () => {
    // Values and files made of the characters of delimiters.
    const text = fc
      .array(fc.constantFrom('\r\n', '--', '\r\n--b', '-', 'b0', 'x', '\r', '\n'), { maxLength: 12 })
      .map((pieces) => pieces.join(''));
    const part = fc.oneof(
      fc.tuple(fc.constantFrom('model', 'stream', 'prompt'), text).map(([name, value]) => field(name, value)),
      text.map((body) => file(Buffer.from(body))),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), fc.array(fc.nat(600)), (parts, cuts) => {
        const boundary = 'b0undary';
        const bytes = form(boundary, parts);
        const whole = scanned(boundary, [bytes]);
        expect(scanned(boundary, cutAt(bytes, cuts))).toEqual(whole);
        expect(
          scanned(
            boundary,
            cutAt(
              bytes,
              Array.from(bytes, (_, at) => at),
            ),
          ),
        ).toEqual(whole);
        const expected = parts.map(({ head, body }) =>
          head.includes('filename') ? 'file' : body.toString(),
        );
        expect(whole.map((heard) => (heard === 'file' ? heard : heard[1]))).toEqual(expected);
        for (const heard of whole)
          if (heard !== 'file')
            expect(bytes.toString('utf8', heard[2], heard[2] + Buffer.byteLength(heard[1]))).toBe(heard[1]);
      }),
    );
  });

  it('keeps no more of a file than a boundary is long, whatever the file', () => {
    const scanner = new MultipartScanner('b', { onField: () => undefined, onFile: () => undefined });
    scanner.feed(form('b', [file(Buffer.alloc(10))]).subarray(0, 110));
    const kept = (): number => (scanner as unknown as { pending: Buffer }).pending.length;
    for (let index = 0; index < 100; index++) {
      scanner.feed(Buffer.alloc(65_536, index % 2 ? '\r' : '-'));
      expect(kept()).toBeLessThan(8);
    }
  });

  it('takes a long text for a file', () => {
    expect(scanned('b', [form('b', [field('prompt', 'x'.repeat(5_000)), field('model', 'm')])])).toEqual([
      'file',
      ['model', 'm', expect.any(Number)],
    ]);
  });

  it('skips a preamble, and reports nothing after the end', () => {
    const bytes = Buffer.concat([
      form('b', [field('model', 'm')], 'This is a form.\r\n'),
      form('b', [field('model', 'n')]),
    ]);
    expect(scanned('b', [bytes]).map((heard) => heard[1])).toEqual(['m']);
  });

  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (chunks) => {
        scanned(
          'b',
          chunks.map((chunk) => Buffer.from(chunk)),
        );
      }),
    );
  });
});

describe('boundaryOf', () => {
  it.each([
    ['multipart/form-data; boundary=----x1', '----x1'],
    ['Multipart/Form-Data;charset=utf-8; boundary="a b"', 'a b'],
    ['multipart/form-data', null],
    ['multipart/mixed; boundary=x', null],
    ['application/json', null],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, null],
    [undefined, null],
  ])('%s', (contentType, boundary) => {
    expect(boundaryOf(contentType)).toBe(boundary);
  });
});
