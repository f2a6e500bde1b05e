import type { ClientResponse } from '../../common/http/messages.js';
import { AppError } from '../../common/errors/app-error.js';
import { type AnswerDecoder, decoding } from '../recording/decoding.js';
import { nothingRead, type Reading } from '../recording/metering.js';
import type { ExchangeOutcome } from '../recording/record-of.js';
import { reportedFailure, reportedStatus } from '../recording/reported-failure.js';
import type { ClientStream, Way } from '../translation/client-stream.js';
import type { TranslatedBody } from '../translation/encode-body.js';
import type { ActiveTranslation } from '../translation/outgoing.js';
import { translatedAnswer, translatedError } from '../translation/translated-answer.js';
import { TranslatedStream } from '../translation/translated-stream.js';
import type { Exchange, RunningStream } from '../recording/exchange.js';
import type { ReplySink } from '../types/reply.js';
import type { Attempt } from '../upstream/attempt.js';
import { readResponseHead, type ResponseHead } from '../upstream/response-headers.js';
import { closeExchange } from './closing.js';
import type { OnBroken } from './delivery.js';
import { endWith } from './end-with.js';
import { stopsStreams } from './running-streams.js';
import { writeRewrittenHead } from './rewritten-head.js';

/** A plain response is translated as a whole, so it must be small enough to be held. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024;

const EVENT_STREAM = 'text/event-stream; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const BAD_GATEWAY = 502;

/**
 * Carries a provider's response to the client in the client's dialect, and ends the exchange's record.
 *
 * Events of a stream are sent as soon as they are translated; a plain response and a refusal are held until they are whole. As with every
 * response, the record is written before the last byte is sent.
 */
export class TranslatedDelivery implements ReplySink {
  private readonly response: ClientResponse;
  private readonly head: ResponseHead;
  private readonly reading: Reading = nothingRead();
  private readonly decoder: AnswerDecoder | null;
  private readonly stream: ClientStream | null;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private plainType = JSON_TYPE;
  private status: number;
  private readonly streamType: string;
  private isPaused = false;
  private isRecorded = false;
  private hasLeft = false;
  /** Stopped by us: the caller's access was withdrawn. */
  private isStopped = false;
  private running: RunningStream | undefined;

  constructor(
    private readonly exchange: Exchange,
    private readonly way: Way,
    private readonly onBroken: OnBroken,
  ) {
    this.response = exchange.response;
    const { attempt, translated } = way;
    this.status = way.status ?? attempt.status;
    this.streamType = way.contentType ?? EVENT_STREAM;
    this.head = readResponseHead(attempt.rawHeaders);
    this.stream =
      way.open?.(this.reading) ??
      (isStreamed(way, this.head) && translated ? new TranslatedStream(translated, this.reading) : null);
    this.decoder = decoding(this.head.contentEncoding, UNPACKED_BYTES_MAX, (chunk) => {
      this.take(chunk);
    });
  }

  start(): void {
    this.response.once('close', () => {
      if (this.running) this.exchange.streams?.delete(this.running);
      if (!this.response.writableFinished) this.clientLeft();
    });
    if (!this.decoder) {
      this.way.attempt.cancel(new AppError('upstream_protocol_error'));
      return;
    }
    this.way.attempt.attach(this);
    if (this.response.destroyed) return this.clientLeft();
    // A slow provider must not delay the head of a stream.
    if (!this.stream) return;
    this.running = this.exchange.streams?.add(this.exchange, this.way.attempt);
    setImmediate(() => this.flushHead());
  }

  onChunk(chunk: Buffer): boolean {
    if (!this.isRecorded) this.decoder?.write(chunk);
    return !this.isPaused;
  }

  onEnd(): void {
    this.decoder?.end(() => {
      if (this.isRecorded) return;
      if (this.stream) this.finishStream(this.stream.end());
      else this.finishPlain();
    });
  }

  onFail(error: AppError): void {
    if (this.isRecorded) return;
    if (this.hasLeft) return this.record('client_aborted', null, () => undefined);
    const isStalledClient = error.code === 'upstream_timeout' && this.isPaused;
    if (!this.response.headersSent && !isStalledClient) {
      this.isRecorded = true;
      this.onBroken(error);
      return;
    }
    if (isStalledClient) return this.record('client_aborted', error.code, () => this.response.destroy());
    const { code, message, spec } = error;
    this.isStopped = stopsStreams(error);
    this.finishStream(this.stream?.fail({ message, type: spec.type, code, param: null }) ?? '', error.code);
  }

  private get isGone(): boolean {
    return this.hasLeft || this.response.destroyed;
  }

  private flushHead(): void {
    if (this.isRecorded || this.response.headersSent || this.response.destroyed) return;
    this.sendHead(this.streamType, null);
    this.response.flushHeaders();
  }

  /** Decoded bytes of the response. */
  private take(chunk: Buffer): void {
    if (this.isRecorded) return;
    this.heldBytes += chunk.length;
    if (this.stream) {
      const text = this.stream.feed(chunk);
      if (this.stream.isOver) this.finishStream(text);
      else this.write(text);
    } else if (this.heldBytes <= ANSWER_BYTES_MAX) this.held.push(chunk);
    else this.way.attempt.cancel(new AppError('upstream_protocol_error'));
  }

  private write(text: string): void {
    if (text === '' || this.hasLeft) return;
    if (!this.response.headersSent) this.sendHead(this.streamType, null);
    const bytes = Buffer.from(text);
    this.exchange.bodies.response.add(bytes);
    if (!this.response.write(bytes)) this.pause();
  }

  /** The client is slow: pauses the provider until the client has caught up. */
  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.response.once('drain', () => {
      this.isPaused = false;
      this.way.attempt.resume();
    });
  }

  /** `text` is the last that the client receives. */
  private finishStream(text: string, failure: string | null = null): void {
    const settled = this.stream?.settle?.();
    if (!settled) return this.closeStream(text, failure);
    // Nothing that arrives afterwards counts.
    this.isRecorded = true;
    void settled.then(() => this.closeStream(text, failure));
  }

  private closeStream(text: string, failure: string | null): void {
    const bytes = Buffer.from(text);
    this.exchange.bodies.response.add(bytes);
    const { ending, errorCode } = this.endOf(failure);
    this.record(ending, errorCode, () => {
      if (this.response.destroyed) return;
      if (!this.response.headersSent) this.sendHead(this.streamType, null);
      this.response.end(bytes);
    });
    if (this.stream?.isDenied) this.way.attempt.cancel();
  }

  private endOf(failure: string | null): {
    readonly ending: ExchangeOutcome['ending'];
    readonly errorCode: string | null;
  } {
    if (this.isGone) return { ending: 'client_aborted', errorCode: null };
    if (this.stream?.isDenied) return { ending: 'refused', errorCode: 'guardrail_denied' };
    if (this.isStopped) return { ending: 'refused', errorCode: failure };
    const hasFailed = this.stream?.error || this.reading.hasFailed;
    const errorCode = failure ?? (hasFailed ? 'upstream_error' : null);
    return { ending: errorCode === null ? 'completed' : 'upstream_truncated', errorCode };
  }

  private finishPlain(): void {
    const { attempt, translated } = this.way;
    const whole = this.held.length === 1 ? (this.held[0] as Buffer) : Buffer.concat(this.held);
    this.held = [];
    const failure = translated && this.head.isJson && attempt.status < 400 ? reportedFailure(whole) : null;
    if (failure) this.status = reportedStatus(failure) ?? BAD_GATEWAY;
    const encoded = this.encodedPlain(whole);
    if (encoded instanceof AppError) return this.onFail(encoded);
    const { contentType, bytes } = encoded;
    this.plainType = contentType;
    this.exchange.bodies.response.add(bytes);
    const ending = this.hasLeft ? 'client_aborted' : 'completed';
    this.record(ending, failure ? 'upstream_error' : null, () => {
      if (this.response.destroyed) return;
      this.sendHead(contentType, bytes.length);
      endWith(this.response, bytes);
    });
  }

  /** The error if the response cannot be read. */
  private encodedPlain(whole: Buffer): TranslatedBody | AppError {
    const { attempt, translated } = this.way;
    if (!translated) return { contentType: JSON_TYPE, bytes: whole };
    const { rawHeaders } = attempt;
    try {
      return inClientsWords(whole, { status: this.status, rawHeaders }, translated, this.reading);
    } catch (error) {
      return AppError.from(error);
    }
  }

  /** The rest of the response is read for its record only. */
  private clientLeft(): void {
    this.hasLeft = true;
    this.isPaused = false;
    if (this.isRecorded) this.way.attempt.cancel();
    else this.way.attempt.clientLeft();
  }

  private record(ending: ExchangeOutcome['ending'], errorCode: string | null, then: () => void): void {
    this.isRecorded = true;
    const { exchange, reading, way } = this;
    const contentType = this.stream ? this.streamType : this.plainType;
    const { status } = this;
    const isWhole = this.stream?.isOver === true && !this.stream.error && !this.stream.isDenied;
    const source = ending === 'refused' ? 'gateway' : status >= 400 ? 'provider' : undefined;
    closeExchange(
      {
        exchange,
        sent: way,
        reading,
        ending,
        errorCode,
        isComplete: ending === 'completed' || isWhole,
        status,
        contentType,
        contentEncoding: null,
        ...(source && { errorSource: source }),
      },
      then,
    );
  }

  private sendHead(contentType: string, bytes: number | null): void {
    const { status } = this;
    const errorSource = status >= 400 ? 'provider' : null;
    writeRewrittenHead(this.response, this.exchange, this.head, { status, contentType, bytes, errorSource });
  }
}

function isStreamed({ attempt, translated }: Way, { isJson }: ResponseHead): boolean {
  return translated !== null && translated.context.isStreamed && attempt.status < 300 && !isJson;
}

function inClientsWords(
  whole: Buffer,
  attempt: Pick<Attempt, 'status' | 'rawHeaders'>,
  translated: ActiveTranslation,
  reading: Reading,
): TranslatedBody {
  return attempt.status < 400
    ? translatedAnswer(attempt, whole, translated, reading)
    : translatedError(attempt, whole, translated);
}
