import fc from 'fast-check';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Framing, StreamEvent } from '../../providers/translation.js';
import { decoderFor, encodeSse, FRAME_BYTES_MAX } from './index.js';

const event = (data: string, name: string | null = null): StreamEvent => ({ event: name, data });

function decode(framing: Framing, chunks: readonly Buffer[]): readonly StreamEvent[] {
  const decoder = decoderFor(framing);
  return [...chunks.flatMap((chunk) => decoder.feed(chunk)), ...decoder.end()];
}

const decodeText = (framing: Framing, text: string) => decode(framing, [Buffer.from(text)]);

type HeaderValue = string | readonly [type: number, bytes: Buffer];

function header([name, value]: readonly [string, HeaderValue]): Buffer {
  const nameBytes = Buffer.from(name);
  if (typeof value !== 'string')
    return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([value[0]]), value[1]]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([
    Buffer.from([nameBytes.length]),
    nameBytes,
    Buffer.from([7]),
    length,
    Buffer.from(value),
  ]);
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function message(headers: Readonly<Record<string, HeaderValue>>, payload: string): Buffer {
  const headerBytes = Buffer.concat(Object.entries(headers).map(header));
  const payloadBytes = Buffer.from(payload);
  const lengths = Buffer.concat([
    uint32(16 + headerBytes.length + payloadBytes.length),
    uint32(headerBytes.length),
  ]);
  const body = Buffer.concat([lengths, uint32(crc32(lengths)), headerBytes, payloadBytes]);
  return Buffer.concat([body, uint32(crc32(body))]);
}

const eventMessage = (type: string, payload: string) =>
  message({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload);

/** The same bytes, cut anywhere. */
const cutsOf = (bytes: Buffer) =>
  fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 30 }).map((cuts) => {
    const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
    return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
  });

const SSE =
  '\ufeff: hello\nevent: greeting\ndata: {"a":"é🎉"}\n\r\ndata: one\r\ndata:two\r\n\r\nevent: x\rid: 1\rdata\rdata: 3\r\rdata: [DONE]\n\n';
const LINES = '{"a":"é🎉"}\n\n{"b":1}\r\n  {"c":2}\n{"last":true}';
const FRAMES = Buffer.concat([
  eventMessage('messageStart', '{"role":"assistant"}'),
  eventMessage('contentBlockDelta', '{"delta":{"text":"é🎉"}}'),
  message({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, '{"message":"slow"}'),
]);

const STREAMS: readonly (readonly [Framing, Buffer, readonly StreamEvent[]])[] = [
  [
    'sse',
    Buffer.from(SSE),
    [event('{"a":"é🎉"}', 'greeting'), event('one\ntwo'), event('\n3', 'x'), event('[DONE]')],
  ],
  [
    'json-lines',
    Buffer.from(LINES),
    ['{"a":"é🎉"}', '{"b":1}', '{"c":2}', '{"last":true}'].map((data) => event(data)),
  ],
  [
    'aws-event-stream',
    FRAMES,
    [
      event('{"role":"assistant"}', 'messageStart'),
      event('{"delta":{"text":"é🎉"}}', 'contentBlockDelta'),
      event('{"message":"slow"}', 'throttlingException'),
    ],
  ],
];

describe.each(STREAMS)('the framing %s', (framing, bytes, expected) => {
  it('gives the events of a stream that comes in one piece', () => {
    expect(decode(framing, [bytes])).toEqual(expected);
  });

  it('gives the same events byte by byte', () => {
    expect(
      decode(
        framing,
        Array.from(bytes, (byte) => Buffer.from([byte])),
      ),
    ).toEqual(expected);
  });

  it('gives the same events for any cut of the bytes', () => {
    fc.assert(
      fc.property(cutsOf(bytes), (chunks) => {
        expect(decode(framing, chunks)).toEqual(expected);
      }),
    );
  });

  it('gives the same events when the provider reuses its buffer after each chunk', () => {
    const decoder = decoderFor(framing);
    const shared = Buffer.alloc(1);
    const events = Array.from(bytes).flatMap((byte) => {
      shared[0] = byte;
      return decoder.feed(shared);
    });
    expect([...events, ...decoder.end()]).toEqual(expected);
  });

  it('takes any bytes without anything worse than a plain error', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
        try {
          decode(
            framing,
            chunks.map((chunk) => Buffer.from(chunk)),
          );
        } catch (error) {
          expect((error as Error).constructor).toBe(Error);
        }
      }),
    );
  });
});

describe('server-sent events', () => {
  it.each<readonly [string, string, readonly StreamEvent[]]>([
    ['drops an event without data, its name included', 'event: ping\n\ndata: a\n\n', [event('a')]],
    ['keeps an event whose data is empty', 'data\n\n', [event('')]],
    ['takes one space off a value and no more', 'data:  a \n\n', [event(' a ')]],
    ['reads a value with colons', 'data: a: b\n\n', [event('a: b')]],
    ['skips fields that only begin like one', 'dataset: a\n data: b\n\n', []],
    ['skips comments and reconnection', ': data: a\nid: 1\nretry: 5\n\n', []],
    [
      'gives the last event of a provider that closes without a blank line',
      'data: a\n\ndata: b\n',
      [event('a'), event('b')],
    ],
    [
      'gives the last event of a provider that closes within its line',
      'event: x\ndata: b',
      [event('b', 'x')],
    ],
    ['gives no last event without data', 'data: a\n\nevent: x\ndata\n', [event('a')]],
    ['reads a BOM only at the start', '\ufeffdata: \ufeffa\n\n', [event('\ufeffa')]],
    ['reads a stream that is only a BOM and a line end as nothing', '\ufeff\n\n', []],
  ])('%s', (_name, text, expected) => {
    expect(decodeText('sse', text)).toEqual(expected);
  });

  it('gives each event as soon as its blank line is there', () => {
    const decoder = decoderFor('sse');
    expect(decoder.feed(Buffer.from('data: a\r'))).toEqual([]);
    expect(decoder.feed(Buffer.from('\n\r'))).toEqual([event('a')]);
    expect(decoder.feed(Buffer.from('\ndata: b\n\n'))).toEqual([event('b')]);
  });

  it('refuses an event whose lines together pass the bound', () => {
    const decoder = decoderFor('sse');
    const line = Buffer.from(`data: ${'a'.repeat(1024 * 1024)}\n`);
    expect(() => {
      for (let count = 0; count < 17; count++) decoder.feed(line);
    }).toThrow('longer than 16 MiB');
  });
});

describe('Amazon event streams', () => {
  it('steps over headers of every type', () => {
    const headers = {
      true: [0, Buffer.alloc(0)],
      false: [1, Buffer.alloc(0)],
      byte: [2, Buffer.alloc(1)],
      short: [3, Buffer.alloc(2)],
      integer: [4, Buffer.alloc(4)],
      long: [5, Buffer.alloc(8)],
      bytes: [6, Buffer.from([0, 2, 9, 9])],
      timestamp: [8, Buffer.alloc(8)],
      uuid: [9, Buffer.alloc(16)],
      ':message-type': 'event',
      ':event-type': 'x',
    } as const;
    expect(decode('aws-event-stream', [message(headers, '{}')])).toEqual([event('{}', 'x')]);
  });

  it('gives an error that no model knows under its code, with the name in the data', () => {
    const bytes = message(
      { ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'It "broke".' },
      '',
    );
    expect(decode('aws-event-stream', [bytes])).toEqual([
      event('{"__type":"InternalError","message":"It \\"broke\\"."}', 'InternalError'),
    ]);
  });

  it('steps over messages of a type that is not known', () => {
    expect(decode('aws-event-stream', [message({ ':message-type': 'other' }, 'x')])).toEqual([]);
  });

  it('gives no event for a message that was cut off', () => {
    expect(decode('aws-event-stream', [eventMessage('a', '{}').subarray(0, -1)])).toEqual([]);
  });

  it('refuses every message of which one bit was changed', () => {
    const bytes = eventMessage('messageStart', '{"role":"assistant"}');
    fc.assert(
      fc.property(fc.nat({ max: bytes.length * 8 - 1 }), (bit) => {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(() => decode('aws-event-stream', [changed])).toThrow('checksum');
      }),
    );
  });

  it.each([
    ['a header longer than the headers', [7, Buffer.from([0, 200, 1])]],
    ['a header of a type that is not known', [10, Buffer.alloc(3)]],
    ['a header without its length', [7, Buffer.from([1])]],
  ] as const)('refuses %s', (_name, value) => {
    expect(() => decode('aws-event-stream', [message({ bad: value }, '')])).toThrow('headers');
  });

  it('refuses lengths that do not fit each other', () => {
    const lengths = Buffer.concat([uint32(20), uint32(100)]);
    expect(() => decode('aws-event-stream', [Buffer.concat([lengths, uint32(crc32(lengths))])])).toThrow(
      'lengths',
    );
  });

  it('refuses a message past the bound before its bytes come', () => {
    const lengths = Buffer.concat([uint32(FRAME_BYTES_MAX + 1), uint32(0)]);
    expect(() => decode('aws-event-stream', [Buffer.concat([lengths, uint32(crc32(lengths))])])).toThrow(
      'longer than 16 MiB',
    );
  });
});

describe.each<Framing>(['sse', 'json-lines'])('lines of %s', (framing) => {
  it('refuses a line past the bound instead of keeping it', () => {
    const decoder = decoderFor(framing);
    const part = Buffer.alloc(1024 * 1024, 'a');
    expect(() => {
      for (let count = 0; count < 17; count++) decoder.feed(part);
    }).toThrow('longer than 16 MiB');
  });

  it('reads a long line in many pieces without copying it for each', () => {
    const decoder = decoderFor(framing);
    const piece = Buffer.alloc(100, 'a');
    const before = process.cpuUsage();
    decoder.feed(Buffer.from('data: '));
    for (let count = 0; count < 100_000; count++) decoder.feed(piece);
    decoder.feed(Buffer.from('\n\n'));
    // A copy for each chunk would be half a terabyte. CPU time does not include that of other processes.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(3_000);
  });
});

describe('encodeSse', () => {
  it.each([
    [event('a'), 'data: a\n\n'],
    [event('a', 'x'), 'event: x\ndata: a\n\n'],
    [event('a\nb\r\nc\rd'), 'data: a\ndata: b\ndata: c\ndata: d\n\n'],
    [event('a', 'x\ndata: b\r\n\r\n'), 'event: xdata: b\ndata: a\n\n'],
  ])('writes %j', (given, expected) => {
    expect(encodeSse(given)).toBe(expected);
  });

  it('writes what the decoder reads back, for any text without a lone CR', () => {
    const text = fc.string({ unit: 'binary' }).map((given) => given.replaceAll('\r', ''));
    const name = text.map((given) => given.replaceAll('\n', ''));
    fc.assert(
      fc.property(fc.array(fc.record({ data: text, event: name })), (given) => {
        const expected = given.map(({ data, event: written }) =>
          event(data, written === '' ? null : written),
        );
        expect(decodeText('sse', expected.map(encodeSse).join(''))).toEqual(expected);
      }),
    );
  });
});
