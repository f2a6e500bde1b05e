import type { ClientResponse } from '../../common/http/messages.js';
import type { AppError } from '../../common/errors/app-error.js';
import { createLogger } from '../../common/observability/logger.js';
import type { Endpoint } from '../../providers/endpoint.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { ExchangeOutcome } from '../recording/record-of.js';
import {
  type Meter,
  meterAnswer,
  meterArray,
  meterStream,
  readerFor,
  type Reading,
  UNREAD,
} from '../recording/metering.js';
import type { HiddenUsage } from '../translation/hidden-usage.js';
import { streamFailure } from '../translation/stream-failure.js';
import type { ReplySink } from '../types/reply.js';
import type { Exchange, RunningStream } from '../recording/exchange.js';
import type { Attempt } from '../upstream/attempt.js';
import { readResponseHead, type ResponseHead } from '../upstream/response-headers.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import { addAnswerHeaders } from './answer-headers.js';
import { closeExchange } from './closing.js';
import { endWith } from './end-with.js';
import { stopsStreams } from './running-streams.js';
import { nameUploadsHere } from './address-here.js';
import { hiddenUsageOf, withoutLength } from './hidden-usage-of.js';
import { endsStream, endsWithEmptyLine } from './stream-ends.js';

/** A plain response up to this size is sent in one write, after its record is safe. */
const HELD_BYTES_MAX = 1024 * 1024;

const logger = createLogger('delivery');

/** Responses that end with their head: nothing is gained by sending it early. */
const BODYLESS: ReadonlySet<number> = new Set([204, 304]);

/** The pipeline's reaction to a response that broke off before any of it was sent. */
export type OnBroken = (error: AppError) => void;

/**
 * Carries a provider's response to the client, byte for byte, and ends the exchange's record.
 *
 * The record is written before the last byte is sent, so that a client that has received the end of its response can rely on the log. Event
 * streams pass as they arrive. A plain JSON response of a metered endpoint is held until it is whole, because it is read as a whole anyway.
 */
export class Delivery implements ReplySink {
  private readonly response: ClientResponse;
  private readonly attempt: Attempt;
  private readonly head: ResponseHead;
  private readonly meter: Meter | null;
  /** Takes the usage out that the client did not request; null if all bytes pass. */
  private readonly hidden: HiddenUsage | null;
  private readonly isStream: boolean;
  /** It streams as a JSON array. */
  private readonly isArray: boolean;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private isHolding: boolean;
  private isRecorded = false;
  private isComplete = false;
  private isPaused = false;
  private isBetweenEvents = true;
  /** The record is written; held bytes may be sent. */
  private isReleased = false;
  private hasEnded = false;
  private hasLeft = false;
  private running: RunningStream | undefined;

  constructor(
    private readonly exchange: Exchange,
    private readonly sent: StartedAttempt,
    private readonly onBroken: OnBroken,
  ) {
    const { attempt } = sent;
    this.attempt = attempt;
    this.response = exchange.response;
    const head = readResponseHead(attempt.rawHeaders);
    this.hidden = hiddenUsageOf(exchange.trail, head);
    this.head = this.hidden ? withoutLength(head) : head;
    this.isStream = this.head.isEventStream;
    const { facts, trail } = exchange;
    this.isArray =
      this.head.isJson &&
      trail.isStreamed &&
      facts.endpoint?.id === 'generate-content' &&
      attempt.status < 400;
    this.meter = this.meterFor();
    // The end of a compressed array cannot be recognized as it passes, so it is held like a plain response.
    const passes = this.isStream || (this.isArray && this.head.contentEncoding === null);
    this.isHolding = this.meter !== null && !passes && this.head.isJson;
  }

  private get reading(): Reading {
    if (!this.meter) return UNREAD;
    const { reading } = this.meter;
    // A refusal may report usage. Its text is no output.
    return this.attempt.status < 400 ? reading : { ...reading, outputText: '' };
  }

  start(): void {
    this.response.once('close', () => {
      // The web server keeps a response until the next request of its connection, and with it everything it references.
      if (this.running) this.exchange.streams?.delete(this.running);
      if (!this.response.writableFinished) this.clientLeft();
    });
    this.attempt.attach(this);
    if (this.response.destroyed) return this.clientLeft();
    if (this.isStream) this.running = this.exchange.streams?.add(this.exchange, this.attempt);
    // The first chunk takes the head along. A slow provider must not delay the head, but if it fails at once, the caller should receive a
    // proper error.
    if (!this.isHolding && !this.hasEnded && !BODYLESS.has(this.attempt.status))
      setImmediate(() => this.flushHead());
  }

  onChunk(chunk: Buffer): boolean {
    this.meter?.feed(chunk);
    const shown = this.hidden ? this.hidden.feedBytes(chunk) : chunk;
    return shown.length === 0 || this.deliver(shown);
  }

  /** Bytes as the client receives them. */
  private deliver(chunk: Buffer): boolean {
    this.exchange.bodies.response.add(chunk);
    if (this.isRecorded && !this.isReleased) return this.hold(chunk);
    if (this.isHolding)
      return this.heldBytes + chunk.length <= HELD_BYTES_MAX ? this.hold(chunk) : this.stopHolding(chunk);
    if (this.isLast(chunk)) {
      this.hold(chunk);
      if (this.isStream) this.record();
      return true;
    }
    return this.write(chunk);
  }

  onEnd(): void {
    const rest = this.hidden?.endBytes();
    if (rest?.length) this.deliver(rest);
    this.hasEnded = true;
    if (this.isReleased) this.response.end();
    else if (!this.isRecorded) this.record();
  }

  onFail(error: AppError): void {
    this.hasEnded = true;
    if (this.isRecorded) {
      if (this.isReleased) this.response.destroy();
      return;
    }
    this.isRecorded = true;
    if (this.hasLeft) return this.close('client_aborted', null, () => undefined);
    const isStalledClient = error.code === 'upstream_timeout' && this.isPaused;
    if (!this.response.headersSent && !isStalledClient) return this.onBroken(error);
    if (stopsStreams(error)) return this.stop(error);
    this.close(isStalledClient ? 'client_aborted' : 'upstream_truncated', error.code, () => {
      this.response.destroy();
    });
  }

  /** The caller's access was withdrawn: the client receives the error in its own dialect if the stream is between two events. */
  private stop(error: AppError): void {
    const { code, message, spec } = error;
    const canTell = this.isStream && this.isBetweenEvents && this.head.contentEncoding === null;
    const words = canTell
      ? streamFailure({ message, type: spec.type, code, param: null }, this.exchange)
      : null;
    this.close('refused', code, () => {
      if (words === null) this.response.destroy();
      else this.response.end(words);
    });
  }

  /** The rest of the response is read for its record only. */
  private clientLeft(): void {
    this.hasLeft = true;
    if (this.isRecorded) this.attempt.cancel();
    else this.attempt.clientLeft();
  }

  /** The response is whole: reads the meter, writes the record, then releases the rest. */
  private record(): void {
    this.isRecorded = true;
    this.isComplete = true;
    const finish = (): void => {
      const [ending, errorCode] = this.endOf();
      this.close(ending, errorCode, () => {
        this.release();
      });
    };
    if (this.meter) this.meter.end(finish);
    else finish();
  }

  /** A stream can report a failure only after a success status. */
  private endOf(): readonly [ExchangeOutcome['ending'], errorCode: string | null] {
    if (this.hasLeft) return ['client_aborted', null];
    return (this.isStream || this.isArray) && this.reading.hasFailed && this.attempt.status < 400
      ? ['upstream_truncated', 'upstream_error']
      : ['completed', null];
  }

  private close(ending: ExchangeOutcome['ending'], errorCode: string | null, then: () => void): void {
    const { sent, exchange, reading, isComplete } = this;
    const { contentType, contentEncoding } = this.head;
    const answer = { sent, reading, isComplete, contentType, contentEncoding };
    const closing = { exchange, ending, errorCode, ...answer };
    closeExchange(ending === 'refused' ? { ...closing, errorSource: 'gateway' } : closing, then);
  }

  private release(): void {
    this.isReleased = true;
    if (this.response.destroyed) return;
    if (!this.response.headersSent) this.sendHead();
    const [first, ...rest] = this.held;
    this.held = [];
    if (this.hasEnded && first && rest.length === 0) {
      endWith(this.response, first);
      return;
    }
    for (const chunk of first ? [first, ...rest] : []) this.write(chunk);
    if (this.hasEnded) this.response.end();
  }

  private sendHead(): void {
    const headers = this.head.headers;
    nameUploadsHere(headers, this.sent.reservation.target, this.exchange.request);
    addAnswerHeaders(headers, this.exchange, this.attempt.status >= 400 ? 'provider' : null);
    this.response.sendDate = !this.head.hasDate;
    try {
      this.response.writeHead(this.attempt.status, this.attempt.statusText || undefined, headers);
    } catch (error) {
      // A head that Node refuses to write, such as a status above 999. Nothing was sent, so the client cannot mistake it.
      logger.warn(
        { err: error, request_id: this.exchange.facts.id },
        'The head of a response cannot be forwarded.',
      );
      this.response.destroy();
      this.attempt.cancel();
    }
  }

  private flushHead(): void {
    if (this.hasEnded || this.isRecorded || this.response.headersSent) return;
    this.sendHead();
    this.response.flushHeaders();
  }

  private write(chunk: Buffer): boolean {
    if (this.hasLeft) return true;
    if (!this.response.headersSent) this.sendHead();
    if (this.isStream) this.isBetweenEvents = endsWithEmptyLine(chunk);
    const wantsMore = this.response.write(chunk);
    if (!wantsMore) this.pause();
    return wantsMore;
  }

  /** The client is slow: pauses the provider until the client has caught up. */
  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.response.once('drain', () => {
      this.isPaused = false;
      this.attempt.resume();
    });
  }

  private hold(chunk: Buffer): true {
    this.held.push(chunk);
    this.heldBytes += chunk.length;
    return true;
  }

  private stopHolding(chunk: Buffer): boolean {
    this.isHolding = false;
    const held = this.held;
    this.held = [];
    for (const earlier of held) this.write(earlier);
    return this.write(chunk);
  }

  /** The client recognizes the end of its response by its length, or by the stream's own last event. */
  private isLast(chunk: Buffer): boolean {
    if (this.head.contentLength !== null)
      return this.exchange.bodies.response.bytes >= this.head.contentLength;
    if (this.meter?.isOver) return this.meter.isOver();
    if (!this.isStream) return false;
    return endsStream(chunk, this.isBetweenEvents);
  }

  private meterFor(): Meter | null {
    const { facts, trail } = this.exchange;
    const { endpoint } = facts;
    const { isStreamed, body } = trail;
    const reader = readerFor(endpoint, body);
    // Audio reports no usage, and is large.
    if (!endpoint || !reader || this.head.isSound) return null;
    const encoding = this.head.contentEncoding;
    if (this.isArray) return meterArray(reader, encoding);
    if (!this.isStream) return meterAnswer(reader, encoding);
    return meterStream(reader, encoding, isStreamed && expectsUsage(endpoint, trail));
  }
}

/** Whether a stream reports its usage: by itself, or because it was requested. */
function expectsUsage({ usageInStreams }: Endpoint, { hidesUsage, body }: AttemptTrail): boolean {
  const options = body?.stream_options as { include_usage?: unknown } | null | undefined;
  return usageInStreams === 'always' || hidesUsage || options?.include_usage === true;
}
