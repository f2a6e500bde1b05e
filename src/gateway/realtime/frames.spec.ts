import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closeFrame, FrameReader } from './frames.js';

interface WebSocketFrame {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly payload: Buffer;
}

function encoded({ opcode, isLast, payload }: WebSocketFrame): Buffer {
  const first = (isLast ? 0x80 : 0) | opcode;
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([first, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = first;
  head[1] = length < 65_536 ? 126 : 127;
  if (length < 65_536) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

function heard() {
  const texts: string[] = [];
  const unread: true[] = [];
  return {
    texts,
    unread,
    reader: new FrameReader({
      onText: (text) => texts.push(text.toString()),
      onUnread: () => unread.push(true),
    }),
  };
}

const text = (content: string): WebSocketFrame => ({
  opcode: 1,
  isLast: true,
  payload: Buffer.from(content),
});

describe('FrameReader', () => {
  it('reads the same messages, text and binary, however the bytes are cut', () => {
    const message = fc.oneof(
      fc.string({ maxLength: 40 }).map((content) => [text(content)]),
      fc.constant([text('x'.repeat(300)), text('y'.repeat(70_000))]),
      fc
        .uint8Array({ maxLength: 20 })
        .map((bytes) => [{ opcode: 2, isLast: true, payload: Buffer.from(bytes) }]),
      fc.tuple(fc.string(), fc.string()).map(([a, b]) => [
        { opcode: 1, isLast: false, payload: Buffer.from(a) },
        { opcode: 9, isLast: true, payload: Buffer.from('ping') },
        { opcode: 0, isLast: true, payload: Buffer.from(b) },
      ]),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), fc.array(fc.nat(5_000)), (messages, cuts) => {
        const bytes = Buffer.concat(messages.flat().map(encoded));
        const whole = heard();
        whole.reader.feed(bytes);
        const cut = heard();
        const ends = [...new Set(cuts.map((at) => Math.min(at, bytes.length)))].sort((a, b) => a - b);
        let from = 0;
        for (const to of [...ends, bytes.length]) {
          cut.reader.feed(bytes.subarray(from, to));
          from = to;
        }
        const expected = messages.flatMap((frames) => {
          const content = frames.filter(({ opcode }) => opcode < 9).map(({ payload }) => payload.toString());
          return frames.length === 2 ? content : [content.join('')];
        });
        expect(whole.texts).toEqual(expected.filter((content) => content !== ''));
        expect(cut.texts).toEqual(whole.texts);
        expect(cut.reader.bytesLeft).toBe(0);
        expect([...whole.unread, ...cut.unread]).toEqual([]);
      }),
    );
  });

  it('says of a message of more than 1 MiB that it was not read, and reads the next one', () => {
    const { reader, texts, unread } = heard();
    reader.feed(encoded(text('a'.repeat(1024 * 1024 + 1))));
    reader.feed(encoded(text('next')));
    expect(texts).toEqual(['next']);
    expect(unread).toHaveLength(1);
  });

  it('gives up on bytes that are no frames, and on compressed ones, without throwing', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => {
        const { reader } = heard();
        for (const chunk of chunks) reader.feed(Buffer.from(chunk));
      }),
    );
    const { reader, unread } = heard();
    reader.feed(Buffer.from([0xc1, 0x02, 0x61, 0x62]));
    expect(unread).toHaveLength(1);
    expect(reader.bytesLeft).toBeNull();
  });

  it('knows how much of a frame is still to come, and that a Close has begun', () => {
    const { reader } = heard();
    const bytes = encoded(text('0123456789'));
    reader.feed(bytes.subarray(0, 5));
    expect(reader.bytesLeft).toBe(7);
    reader.feed(bytes.subarray(5));
    expect(reader.bytesLeft).toBe(0);
    expect(reader.hasClosed).toBe(false);
    reader.feed(closeFrame({ code: 1001, reason: 'bye' }, false));
    expect(reader.hasClosed).toBe(true);
  });

  it('understands a masked Close frame of its own making', () => {
    const bytes = closeFrame({ code: 1008, reason: 'why' }, true);
    const mask = bytes.subarray(2, 6);
    const payload = bytes.subarray(6).map((byte, index) => byte ^ (mask[index % 4] as number));
    expect(Buffer.from(payload).readUInt16BE(0)).toBe(1008);
    expect(Buffer.from(payload).toString('utf8', 2)).toBe('why');
  });
});
