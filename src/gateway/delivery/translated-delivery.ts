import type { ServerResponse } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import type { Entry } from '../journal/entry.js';
import { type Decoding, decoding } from '../journal/decoding.js';
import { nothingRead, type Reading } from '../journal/metering.js';
import type { Outcome } from '../journal/records.js';
import type { Translated } from '../translating/outgoing.js';
import { translatedAnswer, translatedError } from '../translating/translated-answer.js';
import { TranslatedStream } from '../translating/translated-stream.js';
import type { Exchange } from '../types/exchange.js';
import type { ReplySink } from '../types/reply.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import { readResponseHead, type ResponseHead } from '../upstream/response-headers.js';
import { addAnswerHeaders } from './answer-headers.js';
import { closeExchange } from './closing.js';
import type { OnBroken } from './delivery.js';

/** A plain answer is translated as a whole, so it must be small enough to be held. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024;

const EVENT_STREAM = 'text/event-stream; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** Headers that described the provider's bytes; the client gets others. */
const OF_THE_BODY: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'etag',
]);

/**
 * Carries a provider's answer to the client in the client's own words, and ends the exchange in the journal.
 *
 * Events of a stream leave as soon as they are translated; a plain answer and a refusal are held until they are whole.
 * As with every answer, the record is written before the last byte leaves.
 */
export class TranslatedDelivery implements ReplySink {
  private readonly entry: Entry;
  private readonly response: ServerResponse;
  private readonly head: ResponseHead;
  private readonly reading: Reading = nothingRead();
  private readonly decoder: Decoding | null;
  private readonly stream: TranslatedStream | null;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private isPaused = false;
  private isRecorded = false;

  constructor(
    { entry, response }: Exchange,
    private readonly way: {
      readonly attempt: Attempt;
      readonly target: Target;
      readonly translated: Translated;
    },
    private readonly onBroken: OnBroken,
  ) {
    this.entry = entry;
    this.response = response;
    const { attempt, translated } = way;
    this.head = readResponseHead(attempt.rawHeaders);
    this.stream = this.isStreamed() ? new TranslatedStream(translated, this.reading) : null;
    this.decoder = decoding(this.head.contentEncoding, UNPACKED_BYTES_MAX, (chunk) => {
      this.take(chunk);
    });
  }

  start(): void {
    const onDrain = (): void => {
      this.isPaused = false;
      this.way.attempt.resume();
    };
    this.response.on('drain', onDrain);
    this.response.once('close', () => {
      this.response.off('drain', onDrain);
      if (!this.response.writableFinished) this.clientLeft();
    });
    if (!this.decoder) {
      this.way.attempt.cancel(new AppError('upstream_protocol_error'));
      return;
    }
    this.way.attempt.attach(this);
    // A provider that thinks long must not keep the head of a stream here.
    if (this.stream) setImmediate(() => this.flushHead());
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
    const isStalledClient = error.code === 'upstream_timeout' && this.isPaused;
    if (!this.response.headersSent && !isStalledClient) {
      this.isRecorded = true;
      this.onBroken(error);
      return;
    }
    if (isStalledClient) return this.record('client_aborted', error.code, () => this.response.destroy());
    const { code, message, spec } = error;
    this.finishStream(this.stream?.fail({ message, type: spec.type, code, param: null }) ?? '', error.code);
  }

  private flushHead(): void {
    if (this.isRecorded || this.response.headersSent || this.response.destroyed) return;
    this.sendHead(EVENT_STREAM, null);
    this.response.flushHeaders();
  }

  private isStreamed(): boolean {
    const { attempt, translated } = this.way;
    return (
      translated.context.isStreamed &&
      attempt.status < 300 &&
      !this.head.contentType?.startsWith('application/json')
    );
  }

  /** Bytes of the answer, in clear. */
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
    if (text === '') return;
    if (!this.response.headersSent) this.sendHead(EVENT_STREAM, null);
    const bytes = Buffer.from(text);
    this.entry.responseBody.add(bytes);
    this.isPaused = !this.response.write(bytes);
  }

  /** `text` is the last that the client hears. */
  private finishStream(text: string, failure: string | null = null): void {
    const bytes = Buffer.from(text);
    this.entry.responseBody.add(bytes);
    const errorCode = failure ?? (this.stream?.error ? 'upstream_error' : null);
    this.record(errorCode === null ? 'completed' : 'upstream_truncated', errorCode, () => {
      if (this.response.destroyed) return;
      if (!this.response.headersSent) this.sendHead(EVENT_STREAM, null);
      this.response.end(bytes);
    });
  }

  private finishPlain(): void {
    const { attempt, translated } = this.way;
    const whole = Buffer.concat(this.held);
    this.held = [];
    const body =
      attempt.status < 400
        ? translatedAnswer(whole, translated, this.reading)
        : translatedError(attempt, whole, translated);
    this.entry.responseBody.add(body);
    this.record('completed', null, () => {
      if (this.response.destroyed) return;
      this.sendHead(JSON_TYPE, body.length);
      this.response.end(body);
    });
  }

  private clientLeft(): void {
    if (!this.isRecorded) this.record('client_aborted', null, () => undefined);
    this.way.attempt.cancel();
  }

  private record(ending: Outcome['ending'], errorCode: string | null, then: () => void): void {
    this.isRecorded = true;
    const { attempt, target } = this.way;
    const { entry, reading } = this;
    const contentType = this.stream ? EVENT_STREAM : JSON_TYPE;
    closeExchange(
      { entry, attempt, target, reading, ending, errorCode, contentType, contentEncoding: null },
      then,
    );
  }

  private sendHead(contentType: string, bytes: number | null): void {
    const { attempt } = this.way;
    const headers: string[] = ['content-type', contentType];
    if (bytes !== null) headers.push('content-length', String(bytes));
    const { headers: theirs } = this.head;
    for (let at = 0; at < theirs.length; at += 2)
      if (!OF_THE_BODY.has((theirs[at] as string).toLowerCase()))
        headers.push(theirs[at] as string, theirs[at + 1] as string);
    addAnswerHeaders(headers, this.entry, attempt.status >= 400 ? 'provider' : null);
    this.response.sendDate = !this.head.hasDate;
    this.response.writeHead(attempt.status, headers);
  }
}
