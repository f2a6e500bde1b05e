import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseReader } from './sse-reader.js';

function read(chunks: readonly Buffer[]): string[] {
  const events: string[] = [];
  const reader = new SseReader((data) => events.push(data));
  for (const chunk of chunks) reader.feed(chunk);
  reader.end();
  return events;
}

const STREAM =
  '\ufeff: hello\ndata: {"a":"é"}\n\r\ndata: one\r\ndata:two\r\n\r\nevent: x\rid: 1\rdata\rdata: 3\r\rdata: [DONE]\n\n';
const EVENTS = ['{"a":"é"}', 'one\ntwo', '\n3', '[DONE]'];

describe('SseReader', () => {
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

  it('skips a line without an end instead of keeping it in memory, and goes on after it', () => {
    const long = Buffer.alloc(700 * 1024, 0x61);

    expect(read([Buffer.from('data: '), long, long, Buffer.from('\n\ndata: b\n\n')])).toEqual(['b']);
  });
});
