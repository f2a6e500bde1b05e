import { headerOf, readResponseHead } from '../upstream/response-headers.js';
import type { AnswerRecording } from '../upstream/wire.js';
import { endedWell } from './ended-well.js';

/** An answer that may be kept. */
export interface RecordedAnswer {
  readonly headers: readonly string[];
  readonly chunks: readonly Buffer[];
}

/** What becomes of a recording: one of the two is called, once. */
export interface RecordingFor {
  keep(answer: RecordedAnswer): void;
  drop(): void;
}

const OK = 200;

/** An answer above this is not kept. */
export const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** A stream in very small pieces would take more memory for the pieces than for its bytes. */
const CHUNKS_MAX = 32_768;

/** What was said of one exchange and its connection, and not of the answer. */
const OF_ONE_EXCHANGE =
  /^(set-cookie.*|date|age|alt-svc|retry-after.*|server-timing|.*ratelimit.*|x-should-retry)$/i;

/**
 * Writes down the answer of one attempt as it passes, and judges it when the client has it. It is kept when the provider's last byte has come, the client got
 * what was made of it as a good answer, and the answer itself says no failure; in every other case it is dropped.
 */
export class Recording implements AnswerRecording {
  private chunks: Buffer[] = [];
  private bytes = 0;
  private headers: readonly string[] = [];
  private isOver = false;
  /** The client got a good answer made of it. */
  isApproved = false;
  private isDecided = false;

  constructor(private readonly purpose: RecordingFor) {}

  begin(status: number, rawHeaders: readonly string[]): void {
    const encoding = headerOf(rawHeaders, 'content-encoding');
    if (status !== OK || (encoding !== null && encoding !== 'identity')) this.drop();
    else this.headers = readResponseHead(rawHeaders).headers;
  }

  add(chunk: Buffer): void {
    if (this.isDecided) return;
    this.bytes += chunk.length;
    this.chunks.push(chunk);
    if (this.bytes > ANSWER_BYTES_MAX || this.chunks.length > CHUNKS_MAX) this.drop();
  }

  /** The last byte has come, or will not come. */
  over(hasFailed: boolean): void {
    if (hasFailed) return this.drop();
    this.isOver = true;
    this.settle();
  }

  approve(): void {
    this.isApproved = true;
    this.settle();
  }

  drop(): void {
    if (this.isDecided) return;
    this.isDecided = true;
    this.release();
    this.purpose.drop();
  }

  /** The last byte goes to the client first: an answer is read, copied and sealed after it. */
  private settle(): void {
    if (this.isOver && this.isApproved) setImmediate(() => this.decide());
  }

  private decide(): void {
    if (this.isDecided) return;
    const body = Buffer.concat(this.chunks);
    if (!endedWell(headerOf(this.headers, 'content-type'), body)) return this.drop();
    this.isDecided = true;
    const headers = lasting(this.headers);
    const chunks = windows(body, this.chunks);
    this.release();
    this.purpose.keep({ headers, chunks });
  }

  private release(): void {
    this.chunks = [];
    this.headers = [];
  }
}

function lasting(headers: readonly string[]): string[] {
  return headers.filter((_, at) => !OF_ONE_EXCHANGE.test(headers[at - (at % 2)] as string));
}

/** The pieces as windows on one copy, which keeps nothing of the connection's own memory alive. */
function windows(body: Buffer, chunks: readonly Buffer[]): Buffer[] {
  let at = 0;
  return chunks.map(({ length }) => body.subarray(at, (at += length)));
}
