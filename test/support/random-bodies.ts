import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { HeaderList } from './http-client.js';

/** Numbers that can be had again from the same seed (mulberry32). */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  bytes(length: number): Buffer {
    const buffer = Buffer.allocUnsafe(length);
    for (let i = 0; i < length; i++) buffer[i] = this.below(256);
    return buffer;
  }
}

/** A body with the headers that describe it. */
export interface RandomBody {
  readonly kind: string;
  readonly headers: HeaderList;
  readonly bytes: Buffer;
}

/** Sizes around the borders of packets, buffers and hash blocks, and anything between. */
function size(dice: Dice): number {
  return dice.pick([
    0,
    1,
    2,
    63,
    64,
    65,
    1023,
    1460,
    4096,
    16_384,
    16_385,
    65_535,
    65_536,
    65_537,
    dice.below(40_000),
  ]);
}

const type = (name: string): HeaderList => [['content-type', name]];

/** JSON that a parser and a writer would not leave as it is: spaces, escapes, long numbers, a key that comes twice. */
function oddJson(dice: Dice): Buffer {
  const filler = dice.bytes(dice.below(2_000)).toString('base64');
  return Buffer.from(
    `{ "model" :\t"gpt-4o-mini",\n "messages":[{"role":"user","content":"\\u00e9\\ud83e\\udd89 é 🦉 ${filler}"}],` +
      ` "n":1, "seed":12345678901234567890, "x":1.0, "y":1e2, "n":1, "\\u006d":"\\/" }\n`,
  );
}

function multipart(dice: Dice): RandomBody {
  const boundary = `----x${dice.below(1e9)}`;
  const part = (head: string, body: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`),
      body,
      Buffer.from('\r\n'),
    ]);
  const bytes = Buffer.concat([
    part('name="purpose"', Buffer.from('assistants')),
    part('name="file"; filename="żółw.bin"', dice.bytes(size(dice))),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  return { kind: 'multipart', headers: type(`multipart/form-data; boundary=${boundary}`), bytes };
}

const brotli = (bytes: Buffer): Buffer =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } });

const encoded = (encoding: string, bytes: Buffer): RandomBody => ({
  kind: encoding,
  headers: [...type('application/json'), ['content-encoding', encoding]],
  bytes,
});

const KINDS: readonly ((dice: Dice) => RandomBody)[] = [
  (dice) => ({ kind: 'bytes', headers: type('application/octet-stream'), bytes: dice.bytes(size(dice)) }),
  (dice) => ({ kind: 'json', headers: type('application/json; charset=utf-8'), bytes: oddJson(dice) }),
  (dice) => encoded('gzip', gzipSync(oddJson(dice), { level: 1 })),
  (dice) => encoded('br', brotli(oddJson(dice))),
  (dice) => encoded('deflate', deflateSync(oddJson(dice))),
  (dice) => ({
    kind: 'not really gzip',
    headers: encoded('gzip', Buffer.alloc(0)).headers,
    bytes: dice.bytes(size(dice)),
  }),
  (dice) => ({
    kind: 'invalid UTF-8',
    headers: type('application/json'),
    bytes: Buffer.concat([Buffer.from('{"a":"\u0000'), dice.bytes(200)]),
  }),
  (dice) => ({
    kind: 'text',
    headers: type('text/plain'),
    bytes: Buffer.from(`\uFEFF\r\n\u0000\u2028${'é🦉'.repeat(dice.below(3_000))}`),
  }),
  (dice) => ({
    kind: 'form',
    headers: type('application/x-www-form-urlencoded'),
    bytes: Buffer.from(`a=%00&b=+%2B&a=${dice.below(9)}`),
  }),
  (dice) => ({ kind: 'no type', headers: [], bytes: dice.bytes(dice.below(5_000)) }),
  multipart,
];

export const randomBody = (dice: Dice): RandomBody => dice.pick(KINDS)(dice);

/** Bytes of a body that JSON parsers accept and writers change. */
export const oddJsonBody = (dice: Dice): RandomBody => ({
  kind: 'odd json',
  headers: type('application/json'),
  bytes: oddJson(dice),
});

/** Cuts bytes at places that fall inside characters, headers of parts and compressed blocks. */
export function oddPieces(dice: Dice, bytes: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = dice.pick([1, 2, 3, 7, 1_000, 16_384, 65_536]);
    pieces.push(bytes.subarray(at, at + length));
    at += length;
    if (pieces.length > 40) {
      pieces.push(bytes.subarray(at));
      break;
    }
  }
  return pieces.filter(({ length }) => length > 0);
}
