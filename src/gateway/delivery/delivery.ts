import type { AppError } from '../../common/errors/app-error.js';
import type { ClientResponse } from '../../common/http/messages.js';
import type { Ending } from '../../request-log/record.js';
import type { Exchange, RunningStream } from '../recording/exchange.js';
import type { ReplySink } from '../types/reply.js';
import type { Attempt } from '../upstream/attempt.js';
import { readResponseHead, type ResponseHead } from '../upstream/forwarded-headers.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import type { BegunExchange } from '../recording/exchange-recorder.js';
import type { Reading } from '../recording/reading.js';
import type { ExchangeOutcome } from '../recording/record-of.js';
import { ServerResponse } from 'node:http';

/** The pipeline's reaction to a response that broke off before any of it was sent. */
export type OnBroken = (error: AppError) => void;

/** The response for the record, as the client receives it. */
export type RecordedResponse = Pick<ClosingExchange, 'reading' | 'contentType' | 'contentEncoding'> & {
  readonly isComplete: boolean;
  readonly status: number;
};

const nothing = (): void => undefined;

/**
 * Carries a provider's response to the client and ends the exchange's record. Subclasses decide what the client receives.
 *
 * The record is written before the last byte is sent, so that a client that has received the end of its response can rely on the log.
 */
export abstract class Delivery implements ReplySink {
  protected readonly response: ClientResponse;
  protected readonly attempt: Attempt;
  /** The provider's. */
  protected readonly head: ResponseHead;
  protected hasLeft = false;
  /** The record is being written, or the pipeline has taken over: nothing that arrives from now on counts. */
  protected isRecorded = false;
  /** The client is slow. */
  protected isPaused = false;
  private running: RunningStream | undefined;

  constructor(
    protected readonly exchange: Exchange,
    protected readonly sent: StartedAttempt,
    private readonly onBroken: OnBroken,
  ) {
    this.response = exchange.response;
    this.attempt = sent.attempt;
    this.head = readResponseHead(sent.attempt.rawHeaders);
  }

  /** The client receives a stream of events, which may run for long. */
  protected abstract readonly isStream: boolean;
  /** A slow provider must not delay the head. */
  protected abstract get flushesHead(): boolean;
  protected abstract sendHead(): void;
  protected abstract recorded(ending: Ending): RecordedResponse;
  /** Ends a response of which the client has received the beginning. */
  protected abstract breakOff(error: AppError): void;
  abstract onChunk(chunk: Buffer): boolean;
  abstract onEnd(): void;

  start(): void {
    const { exchange, attempt } = this;
    const { signal } = exchange;
    attempt.attach(this);
    signal.onCancel(() => this.onClosed());
    if (signal.isCancelled) return;
    if (this.isStream) this.running = exchange.streams?.add(exchange, attempt);
    // The first chunk takes the head along. If the provider fails at once, the client should receive a proper error.
    if (this.flushesHead) setImmediate(() => this.flushHead());
  }

  onFail(error: AppError): void {
    if (this.isRecorded) return;
    if (this.hasLeft) return this.close('client_aborted', null, nothing);
    const isStalledClient = error.code === 'upstream_timeout' && this.isPaused;
    if (isStalledClient) return this.close('client_aborted', error.code, () => this.response.destroy());
    if (this.response.headersSent) return this.breakOff(error);
    this.isRecorded = true;
    this.onBroken(error);
  }

  /** False if the client is slow: then the provider pauses until the client has caught up. */
  protected send(bytes: Buffer): boolean {
    if (this.hasLeft) return true;
    if (!this.response.headersSent) this.sendHead();
    const wantsMore = this.response.write(bytes);
    if (!wantsMore) this.pause();
    return wantsMore;
  }

  /** Writes the record. `then` runs when that would survive a kill of the process. */
  protected close(ending: Ending, errorCode: string | null, then: () => void): void {
    this.isRecorded = true;
    const { exchange, sent } = this;
    const recorded = this.recorded(ending);
    const source = ending === 'refused' ? 'gateway' : recorded.status >= 400 ? 'provider' : undefined;
    const closing = { exchange, sent, ending, errorCode, ...recorded };
    closeExchange(source ? { ...closing, errorSource: source } : closing, then);
  }

  private flushHead(): void {
    if (this.isRecorded || this.response.headersSent || this.exchange.signal.isCancelled) return;
    this.sendHead();
    this.response.flushHeaders();
  }

  /** If the client has left, the rest of the response is read for its record only. */
  private onClosed(): void {
    // The web server keeps a response until the next request of its connection, and with it everything it references.
    if (this.running) this.exchange.streams?.delete(this.running);
    if (this.response.writableFinished) return;
    this.hasLeft = true;
    this.isPaused = false;
    if (this.isRecorded) this.attempt.cancel();
    else this.attempt.clientLeft();
  }

  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.response.once('drain', () => {
      this.isPaused = false;
      this.attempt.resume();
    });
  }
}

/** An exchange whose response has ended, for its record. */
export interface ClosingExchange {
  readonly exchange: BegunExchange;
  readonly sent: StartedAttempt;
  readonly reading: Reading;
  readonly ending: ExchangeOutcome['ending'];
  /** The response was complete, even if the client had disconnected. Default: whether the exchange was completed. */
  readonly isComplete?: boolean;
  readonly errorCode: string | null;
  /** Of the body as the client receives it. */
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** Default: the provider's own. */
  readonly status?: number;
  /** Default: the provider's, if the response is a refusal or broke off. */
  readonly errorSource?: ExchangeOutcome['errorSource'];
}

const OK = 200;

/** Records the attempt and how the exchange ended. `then` runs once that would survive a kill of the process. */
export function closeExchange(closing: ClosingExchange, then: () => void): void {
  const { exchange, ending, errorCode } = closing;
  const { attempt, reservation, cacheFill } = closing.sent;
  const { status = attempt.status, errorSource = providersFault(attempt, ending) } = closing;
  const isProviders = ending !== 'client_aborted';
  if (ending === 'completed' && status === OK) cacheFill?.approve();
  else cacheFill?.release();
  const reading = reservation.settleDelivered(attempt, exchange.trail, {
    errorCode: isProviders ? errorCode : null,
    reading: closing.reading,
    isCut: ending === 'client_aborted',
    isComplete: closing.isComplete ?? ending === 'completed',
  });
  exchange.recorder.close(
    exchange,
    {
      ending,
      status,
      errorCode,
      errorSource,
      reading,
      contentType: closing.contentType,
      contentEncoding: closing.contentEncoding,
      responseHeaders: attempt.rawHeaders,
      answeredAt: attempt.endedAt,
    },
    then,
  );
}

function providersFault(
  { status }: Attempt,
  ending: ExchangeOutcome['ending'],
): ExchangeOutcome['errorSource'] {
  return status >= 400 || ending === 'upstream_truncated' ? 'provider' : null;
}

/** Up to this size, a copy is cheaper than a second buffer in the write. */
const ONE_WRITE_BYTES_MAX = 16 * 1024;

/**
 * Ends a response with its whole body. Node writes head and body as one string if the body is one; each byte is a Latin-1 character and is
 * sent unchanged. `write` precedes `end`, because `end` with a body appends an empty buffer, which turns the single string into a vector.
 * The fast path does this by itself.
 */
export function endWith(response: ClientResponse, body: Buffer): void {
  const { socket } = response;
  if (!socket || body.length > ONE_WRITE_BYTES_MAX || !(response instanceof ServerResponse)) {
    response.end(body);
    return;
  }
  socket.cork();
  response.write(body.toString('latin1'), 'latin1');
  socket.uncork();
  response.end();
}
