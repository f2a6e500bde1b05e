import { headerOf } from '../../common/http/raw-headers.js';
import { readResponseHead } from '../upstream/forwarded-headers.js';
import type { CacheFill, ResponseRecording } from '../upstream/wire.js';
import { endedWell } from './ended-well.js';

/** A response that may be cached. */
export interface RecordedAnswer {
  readonly headers: readonly string[];
  readonly chunks: readonly Buffer[];
}

/** Receives the outcome of a recording: exactly one call of one of the two. */
export interface RecordingFor {
  keep(answer: RecordedAnswer): void;
  drop(): void;
}

const OK = 200;

/** Larger responses are not cached. */
export const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** A stream of very small chunks would take more memory for the chunks than for its bytes. */
const CHUNKS_MAX = 32_768;

/** Headers of one exchange and its connection, not of the response itself. */
const OF_ONE_EXCHANGE =
  /^(set-cookie.*|date|age|alt-svc|retry-after.*|server-timing|.*ratelimit.*|x-should-retry)$/i;

/**
 * Copies the response of one attempt as it passes, and decides on it after delivery. It is kept when the provider's last byte has arrived,
 * the client received a successful response made from it, and the response itself reports no failure. Otherwise it is dropped.
 */
export class Recording implements ResponseRecording {
  private chunks: Buffer[] = [];
  private bytes = 0;
  private headers: readonly string[] = [];
  private hasEnded = false;
  /** The client received a successful response made from it. */
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

  /** The last byte has arrived, or will not arrive. */
  over(hasFailed: boolean): void {
    if (hasFailed) return this.drop();
    this.hasEnded = true;
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

  /** The last byte goes to the client first: the response is checked, copied and encrypted afterwards. */
  private settle(): void {
    if (this.hasEnded && this.isApproved) setImmediate(() => this.decide());
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

/** The chunks as views of one copy, which keeps none of the connection's own memory alive. */
function windows(body: Buffer, chunks: readonly Buffer[]): Buffer[] {
  let at = 0;
  return chunks.map(({ length }) => body.subarray(at, (at += length)));
}

/** Receives the result of a request that the cache could not serve. */
interface FillListener {
  keep(answer: RecordedAnswer): void;
  /** There will be nothing to cache, or not soon: other requests should not wait. */
  giveUp(): void;
}

/** A request that the cache could not serve, on its way to the provider. */
export class RecordedFill implements CacheFill, RecordingFor {
  private recording: Recording | null = null;

  constructor(private readonly listener: FillListener) {}

  record(): Recording {
    return (this.recording = new Recording(this));
  }

  approve(): void {
    this.recording?.approve();
  }

  /** A response that the client received in full is still cached when the provider's last byte arrives. */
  release(): void {
    if (this.recording?.isApproved) return;
    this.recording?.drop();
    this.listener.giveUp();
  }

  keep(answer: RecordedAnswer): void {
    this.listener.keep(answer);
  }

  drop(): void {
    this.listener.giveUp();
  }
}
