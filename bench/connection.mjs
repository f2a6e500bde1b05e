/** One keep-alive connection of the load generator, and the clock that all of it uses. */
import { connect } from 'node:net';
import { HttpReader } from './http-reader.mjs';

/** Microseconds of the machine's monotonic clock, shared by all of its processes. */
export function microseconds() {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + nanoseconds / 1e3;
}

/** A longer response counts as an error, milliseconds. */
const PATIENCE_MS = 30_000;

/**
 * @typedef {object} Exchange callbacks for a response
 * @property {(status: number) => void} head
 * @property {(bytes: Buffer) => void} body
 * @property {() => void} end
 * @property {(reason: string) => void} failed called at most once; the connection is gone then
 */

/** Opens a connection; `send` writes one prepared request and reports to the given exchange. */
export class Connection {
  #socket;
  #exchange = null;
  #closing = false;

  static open(port) {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  constructor(socket) {
    this.#socket = socket;
    const reader = new HttpReader({
      head: (head) => this.#exchange?.head(Number(head.slice(9, 12))),
      body: (bytes) => this.#exchange?.body(bytes),
      end: () => this.#finish(),
    });
    socket.on('data', (bytes) => this.#read(reader, bytes));
    socket.setTimeout(PATIENCE_MS, () => this.#fail('no answer in time'));
    socket.on('error', (error) => this.#fail(error.code ?? error.message));
    socket.on('close', () => this.#fail('connection closed'));
  }

  /** @param {Exchange} exchange */
  send(bytes, exchange) {
    this.#exchange = exchange;
    this.#socket.write(bytes);
  }

  close() {
    this.#closing = true;
    this.#socket.destroy();
  }

  #read(reader, bytes) {
    try {
      reader.push(bytes);
    } catch (error) {
      this.#fail(error.message);
    }
  }

  #finish() {
    const exchange = this.#exchange;
    this.#exchange = null;
    exchange?.end();
  }

  #fail(reason) {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#socket.destroy();
    if (!this.#closing) exchange?.failed(reason);
  }
}
