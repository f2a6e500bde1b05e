import { AppError } from '../../common/errors/app-error.js';
import type { Ending } from '../../request-log/record.js';
import { type AnswerDecoder, decoding } from '../recording/metering.js';
import type { Exchange } from '../recording/exchange.js';
import { nothingRead, type Reading } from '../recording/reading.js';
import { reportedFailure, reportedStatus } from '../recording/reported-failure.js';
import type { ClientStream, StreamPlan } from '../translation/client-stream.js';
import type { TranslatedBody } from '../translation/encode-body.js';
import { translatedAnswer, translatedError } from '../translation/translated-answer.js';
import { TranslatedStream } from '../translation/translated-stream.js';
import { Delivery, endWith, type OnBroken, type RecordedResponse } from './delivery.js';
import { writeRewrittenHead } from './rewritten-response.js';
import { stopsStreams } from './running-streams.js';

/** A plain response is translated as a whole, so it must be small enough to be held. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024;

const EVENT_STREAM = 'text/event-stream; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const BAD_GATEWAY = 502;

/**
 * Delivers the response in the client's dialect. Events of a stream are sent as soon as they are translated; a plain response and a refusal
 * are held until they are whole.
 */
export class TranslatedDelivery extends Delivery {
  private readonly reading: Reading = nothingRead();
  private readonly decoder: AnswerDecoder | null;
  private readonly stream: ClientStream | null;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private status: number;
  private contentType: string;
  /** Stopped by us: the caller's access was withdrawn. */
  private isStopped = false;

  constructor(
    exchange: Exchange,
    private readonly way: StreamPlan,
    onBroken: OnBroken,
  ) {
    super(exchange, way, onBroken);
    this.stream = way.open?.(this.reading) ?? this.translatedStream();
    this.status = way.status ?? this.attempt.status;
    this.contentType = this.stream ? (way.contentType ?? EVENT_STREAM) : JSON_TYPE;
    this.decoder = decoding(this.head.contentEncoding, UNPACKED_BYTES_MAX, (chunk) => this.take(chunk));
  }

  protected override get isStream(): boolean {
    return this.stream !== null;
  }

  protected override get flushesHead(): boolean {
    return this.stream !== null && this.decoder !== null;
  }

  override onChunk(chunk: Buffer): boolean {
    if (!this.decoder) this.attempt.cancel(unreadable());
    else if (!this.isRecorded) this.decoder.write(chunk);
    return !this.isPaused;
  }

  override onEnd(): void {
    if (!this.decoder) return this.onFail(unreadable());
    this.decoder.end(() => {
      if (this.isRecorded) return;
      if (this.stream) this.finishStream(this.stream.end());
      else this.finishPlain();
    });
  }

  private translatedStream(): ClientStream | null {
    const { translated } = this.way;
    const isStreamed = translated?.context.isStreamed && this.attempt.status < 300 && !this.head.isJson;
    return isStreamed ? new TranslatedStream(translated, this.reading) : null;
  }

  /** Decoded bytes of the response. */
  private take(chunk: Buffer): void {
    if (this.isRecorded) return;
    this.heldBytes += chunk.length;
    if (this.stream) {
      const text = this.stream.feed(chunk);
      if (this.stream.hasEnded) this.finishStream(text);
      else this.write(text);
    } else if (this.heldBytes <= ANSWER_BYTES_MAX) this.held.push(chunk);
    else this.attempt.cancel(unreadable());
  }

  private write(text: string): void {
    if (text === '' || this.hasLeft) return;
    const bytes = Buffer.from(text);
    this.exchange.bodies.response.add(bytes);
    this.send(bytes);
  }

  protected override breakOff(error: AppError): void {
    const { code, message, spec } = error;
    this.isStopped = stopsStreams(error);
    this.finishStream(this.stream?.fail({ message, type: spec.type, code, param: null }) ?? '', code);
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
    const [ending, errorCode] = this.endOf(failure);
    this.end(Buffer.from(text), ending, errorCode);
    if (this.stream?.isDenied) this.attempt.cancel();
  }

  private endOf(failure: string | null): readonly [Ending, errorCode: string | null] {
    if (this.hasLeft) return ['client_aborted', null];
    if (this.stream?.isDenied) return ['refused', 'guardrail_denied'];
    if (this.isStopped) return ['refused', failure];
    const hasFailed = this.stream?.error || this.reading.hasFailed;
    const errorCode = failure ?? (hasFailed ? 'upstream_error' : null);
    return [errorCode === null ? 'completed' : 'upstream_truncated', errorCode];
  }

  private finishPlain(): void {
    const whole = this.held.length === 1 ? (this.held[0] as Buffer) : Buffer.concat(this.held);
    this.held = [];
    const isChecked = this.way.translated && this.head.isJson && this.attempt.status < 400;
    const failure = isChecked ? reportedFailure(whole) : null;
    if (failure) this.status = reportedStatus(failure) ?? BAD_GATEWAY;
    const encoded = this.encodedPlain(whole);
    if (encoded instanceof AppError) return this.onFail(encoded);
    this.contentType = encoded.contentType;
    this.end(encoded.bytes, this.hasLeft ? 'client_aborted' : 'completed', failure ? 'upstream_error' : null);
  }

  /** The error if the response cannot be read. */
  private encodedPlain(whole: Buffer): TranslatedBody | AppError {
    const { way, status, reading } = this;
    if (!way.translated) return { contentType: JSON_TYPE, bytes: whole };
    const reported = { status, rawHeaders: this.attempt.rawHeaders };
    try {
      return status < 400
        ? translatedAnswer(reported, whole, way.translated, reading)
        : translatedError(reported, whole, way.translated);
    } catch (error) {
      return AppError.from(error);
    }
  }

  /** Records the response and sends its last bytes. */
  private end(bytes: Buffer, ending: Ending, errorCode: string | null): void {
    this.exchange.bodies.response.add(bytes);
    this.close(ending, errorCode, () => {
      if (this.exchange.signal.isCancelled) return;
      if (!this.response.headersSent) this.sendHead(this.stream ? null : bytes.length);
      endWith(this.response, bytes);
    });
  }

  protected override recorded(ending: Ending): RecordedResponse {
    const { reading, status, contentType, stream } = this;
    const isWhole = stream?.hasEnded === true && !stream.error && !stream.isDenied;
    const isComplete = ending === 'completed' || isWhole;
    return { reading, isComplete, status, contentType, contentEncoding: null };
  }

  protected override sendHead(bytes: number | null = null): void {
    const { status, contentType } = this;
    const errorSource = status >= 400 ? 'provider' : null;
    writeRewrittenHead(this.response, this.exchange, this.head, { status, contentType, bytes, errorSource });
  }
}

const unreadable = (): AppError => new AppError('upstream_protocol_error');
