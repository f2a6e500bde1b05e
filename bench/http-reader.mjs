/**
 * A minimal reader of HTTP/1.1 messages for the benchmark: heads, bodies by content-length, and chunked bodies. `node:http` would cost more
 * per message than the difference between the gateways under test.
 *
 * Unsupported messages (bodies until close, upgrades) are errors, never guesses.
 */
const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);

const CONTENT_LENGTH = /\r\ncontent-length:[ \t]*(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding:[ \t]*chunked/i;

/**
 * @typedef {object} Listener
 * @property {(head: string) => void} head the start line and the header lines, without the empty line
 * @property {(bytes: Buffer) => void} body a piece of the body, never empty
 * @property {() => void} end the message is complete
 */
export class HttpReader {
  #listener;
  #carry = NOTHING;
  #state = 'head';
  #left = 0;

  /** @param {Listener} listener */
  constructor(listener) {
    this.#listener = listener;
  }

  /** Accepts data from the socket. Throws on an invalid message. */
  push(bytes) {
    let rest = this.#carry.length === 0 ? bytes : Buffer.concat([this.#carry, bytes]);
    this.#carry = NOTHING;
    while (rest.length > 0) {
      const used = this.#step(rest);
      if (used < 0) {
        this.#carry = rest;
        return;
      }
      rest = used === rest.length ? NOTHING : rest.subarray(used);
    }
  }

  /** @returns {number} bytes used, or -1 when more are needed first. */
  #step(bytes) {
    if (this.#state === 'head') return this.#readHead(bytes);
    if (this.#state === 'body' || this.#state === 'chunk') return this.#readBody(bytes);
    return this.#readLine(bytes);
  }

  #readHead(bytes) {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return -1;
    const head = bytes.latin1Slice(0, end);
    this.#listener.head(head);
    const length = CONTENT_LENGTH.exec(head);
    if (length) this.#startBody(Number(length[1]));
    else if (CHUNKED.test(head)) this.#state = 'size';
    else if (head.startsWith('HTTP/')) throw new Error('a response without content-length or chunks');
    else this.#finish();
    return end + 4;
  }

  #startBody(length) {
    this.#left = length;
    this.#state = 'body';
    if (length === 0) this.#finish();
  }

  #readBody(bytes) {
    const used = Math.min(this.#left, bytes.length);
    this.#left -= used;
    this.#listener.body(used === bytes.length ? bytes : bytes.subarray(0, used));
    if (this.#left > 0) return used;
    if (this.#state === 'body') this.#finish();
    else this.#state = 'chunk-end';
    return used;
  }

  #readLine(bytes) {
    const end = bytes.indexOf(LINE_END);
    if (end < 0) return -1;
    if (this.#state === 'chunk-end') this.#state = 'size';
    else if (this.#state === 'size') this.#startChunk(bytes.latin1Slice(0, end));
    else if (end === 0) this.#finish();
    return end + 2;
  }

  #startChunk(line) {
    const size = Number.parseInt(line, 16);
    if (Number.isNaN(size)) throw new Error('a chunk without a size');
    this.#left = size;
    this.#state = size === 0 ? 'trailer' : 'chunk';
  }

  #finish() {
    this.#state = 'head';
    this.#listener.end();
  }
}
