import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { skipLongLines } from './line-splitter.js';
import { SseParser } from './sse.js';

function read(chunks: readonly Buffer[], onSkipped?: (end: string) => void): string[] {
  const events: string[] = [];
  const parser = new SseParser((data) => events.push(data), skipLongLines(onSkipped));
  for (const chunk of chunks) parser.feed(chunk);
  parser.end();
  return events;
}

const STREAM =
  '\ufeff: hello\ndata: {"a":"é"}\n\r\ndata: one\r\ndata:two\r\n\r\nevent: x\rid: 1\rdata\rdata: 3\r\rdata: [DONE]\n\n';
const EVENTS = ['{"a":"é"}', 'one\ntwo', '\n3', '[DONE]'];

describe('a parser that skips long lines', () => {
  it('reads LF, CR and CRLF, comments, several data lines, a BOM and other fields', () => {
    expect(read([Buffer.from(STREAM)])).toEqual(EVENTS);
  });

  it('gives the same events for any cut of the bytes, within a character too', () => {
    const bytes = Buffer.from(STREAM);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 30 }), (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        expect(read(chunks)).toEqual(EVENTS);
      }),
    );
  });

  it('reads a last event whose blank line never came', () => {
    expect(read([Buffer.from('data: a\n\ndata: b')])).toEqual(['a', 'b']);
  });

  it('skips a line without an end instead of keeping it in memory, and continues after it', () => {
    const long = Buffer.alloc(700 * 1024, 0x61);

    expect(read([Buffer.from('data: '), long, long, Buffer.from('\n\ndata: b\n\n')])).toEqual(['b']);
  });

  it('reports the last 64 KiB of a line that it skips, whether the line ends or the stream does', () => {
    const long = Buffer.alloc(700 * 1024, 0x61);
    const ends: string[] = [];
    const note = (end: string): void => void ends.push(end);
    const pieces = Array.from({ length: 700 }, (_, index) => long.subarray(index * 1024, (index + 1) * 1024));

    read([long, ...pieces, Buffer.from('bc\n')], note);
    read([long, long, Buffer.from('d')], note);

    expect(ends).toEqual([`${'a'.repeat(64 * 1024 - 2)}bc`, `${'a'.repeat(64 * 1024 - 1)}d`]);
  });

  it('skips an event whose lines together pass the bound, and continues after it', () => {
    const line = Buffer.from(`data: ${'a'.repeat(1024 * 1024 - 32)}\n`);
    const lines = Array.from({ length: 17 }, () => line);

    expect(read([...lines, Buffer.from('\ndata: b\n\n')])).toEqual(['b']);
  });
});
