import type { Socket } from 'node:net';
import { type AnswerHead, answerHead } from './answer-head.js';
import type { ClientResponse } from '../../common/http/messages.js';

/** Up to this size a copy costs less than a second buffer in the write: head and body leave as one text, one Latin-1 character per byte. */
const ONE_WRITE_BYTES_MAX = 16 * 1024;

const NO_HEAD: AnswerHead = { text: '', isChunked: false, hasBody: true, keepsAlive: true };
const LAST_CHUNK = '0\r\n\r\n';

/** A response's interface to its connection. */
export interface ResponseLine {
  readonly socket: Socket;
  readonly keepAliveSeconds: number;
  /** Called when the last bytes of the response were passed to the system. One function for all responses of the connection. */
  readonly onFlushed: (error?: Error | null) => void;
}

/** The response to a request of the fast path. */
export class FastResponse implements ClientResponse {
  sendDate = true;
  shouldKeepAlive = true;
  destroyed = false;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  private head: AnswerHead = NO_HEAD;
  private hasHeadToSend = false;
  private isSlow = false;
  private onClose: (() => void)[] = [];
  private onDrain: (() => void)[] = [];

  constructor(private readonly line: ResponseLine) {}

  get socket(): Socket {
    return this.line.socket;
  }

  /** Throws for a head that HTTP does not allow; nothing was written then. */
  writeHead(status: number, ...rest: [string[]] | [string | undefined, string[]]): this {
    const [statusText, headers] = rest.length === 1 ? [undefined, rest[0]] : rest;
    if (this.headersSent) throw new Error('the head of the answer was written before');
    const { sendDate, shouldKeepAlive: keepsAlive } = this;
    const { keepAliveSeconds } = this.line;
    this.head = answerHead({ status, statusText, headers, sendDate, keepsAlive, keepAliveSeconds });
    this.shouldKeepAlive = this.head.keepsAlive;
    this.headersSent = true;
    this.hasHeadToSend = true;
    return this;
  }

  flushHeaders(): void {
    if (this.hasHeadToSend && !this.destroyed) this.send(null, false);
  }

  write(chunk: Buffer): boolean {
    if (this.destroyed || this.writableEnded) return true;
    return this.send(chunk.length > 0 ? chunk : null, false);
  }

  end(last?: Buffer | string): void {
    if (this.destroyed || this.writableEnded) return;
    this.writableEnded = true;
    const bytes = typeof last === 'string' ? Buffer.from(last) : (last ?? null);
    this.send(bytes !== null && bytes.length > 0 ? bytes : null, true);
  }

  /** Ends the connection, unless it has moved on from this response. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.line.socket.destroy();
  }

  on(_: 'close', listener: () => void): void {
    this.onClose.push(listener);
  }

  once(_: 'drain', listener: () => void): void {
    this.onDrain.push(listener);
  }

  /** Called by the connection: the client has read the backlog. */
  drained(): void {
    if (!this.isSlow) return;
    this.isSlow = false;
    const listeners = this.onDrain;
    this.onDrain = [];
    for (const listener of listeners) listener();
  }

  /** Called by the connection: nothing more can be written. `isWhole`: because the response is complete. */
  over(isWhole: boolean): void {
    this.writableFinished = isWhole;
    this.destroyed = true;
    const listeners = this.onClose;
    this.onClose = [];
    this.onDrain = [];
    for (const listener of listeners) listener();
  }

  /** Sends the waiting head, the framed bytes, and the end: in one write where that is cheaper. */
  private send(bytes: Buffer | null, isLast: boolean): boolean {
    // Bytes without a head would be taken for one.
    if (!this.headersSent) throw new Error('an answer begins with its head');
    const { isChunked, hasBody } = this.head;
    const head = this.hasHeadToSend ? this.head.text : '';
    this.hasHeadToSend = false;
    const end = isLast && isChunked ? LAST_CHUNK : '';
    const wantsMore =
      bytes === null || !hasBody ? this.put(head + end, isLast) : this.sendBody(head, bytes, end, isLast);
    if (!wantsMore) this.isSlow = true;
    return wantsMore;
  }

  private sendBody(head: string, bytes: Buffer, end: string, isLast: boolean): boolean {
    const { isChunked } = this.head;
    const before = isChunked ? `${head}${bytes.length.toString(16)}\r\n` : head;
    const after = isChunked ? `\r\n${end}` : '';
    if (bytes.length > ONE_WRITE_BYTES_MAX) return this.putApart(before, bytes, after, isLast);
    return this.put(before + bytes.toString('latin1') + after, isLast);
  }

  private put(text: string, isLast: boolean): boolean {
    const { socket, onFlushed } = this.line;
    return isLast ? socket.write(text, 'latin1', onFlushed) : socket.write(text, 'latin1');
  }

  private putApart(before: string, body: Buffer, after: string, isLast: boolean): boolean {
    const { socket } = this.line;
    socket.cork();
    if (before !== '') socket.write(before, 'latin1');
    let wantsMore = socket.write(body);
    if (after !== '' || isLast) wantsMore = this.put(after, isLast);
    socket.uncork();
    return wantsMore;
  }
}
