import type { AppError } from '../../common/errors/app-error.js';
import { createLogger } from '../../common/observability/logger.js';
import type { Endpoint } from '../../providers/endpoint.js';
import type { Exchange } from '../recording/exchange.js';
import { type Meter, meterAnswer, meterArray, meterStream } from '../recording/metering.js';
import { readerFor, type Reading, UNREAD } from '../recording/reading.js';
import { type HiddenUsage, hiddenUsageOf, withoutLength } from '../translation/hidden-usage.js';
import { streamFailure } from '../translation/stream-failure.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { ResponseHead } from '../upstream/forwarded-headers.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import { nameUploadsHere } from './address-here.js';
import { addAnswerHeaders } from './answer-headers.js';
import { Delivery, endWith, type OnBroken, type RecordedResponse } from './delivery.js';
import { stopsStreams } from './running-streams.js';
import { endsStream, endsWithEmptyLine } from './stream-ends.js';

/** A plain response up to this size is sent in one write, after its record is safe. */
const HELD_BYTES_MAX = 1024 * 1024;

const logger = createLogger('delivery');

/** Responses that end with their head: nothing is gained by sending it early. */
const BODYLESS: ReadonlySet<number> = new Set([204, 304]);

/**
 * Delivers the provider's own bytes. Event streams pass as they arrive. A plain JSON response of a metered endpoint is held until it is
 * whole, because it is read as a whole anyway.
 */
export class PassThroughDelivery extends Delivery {
  protected readonly isStream: boolean;
  /** It streams as a JSON array. */
  private readonly isArray: boolean;
  private readonly meter: Meter | null;
  /** Takes the usage out that the client did not request; null if all bytes pass. */
  private readonly hidden: HiddenUsage | null;
  private readonly sentHead: ResponseHead;
  private held: Buffer[] = [];
  private heldBytes = 0;
  private isHolding: boolean;
  private isComplete = false;
  private isBetweenEvents = true;
  /** The record is written; held bytes may be sent. */
  private isReleased = false;
  private hasEnded = false;

  constructor(exchange: Exchange, sent: StartedAttempt, onBroken: OnBroken) {
    super(exchange, sent, onBroken);
    const { head, attempt } = this;
    this.hidden = exchange.trail.hidesUsage ? hiddenUsageOf(head, attempt.status) : null;
    this.sentHead = this.hidden ? withoutLength(head) : head;
    // By its content type, or because it was requested as one; a plain response is JSON.
    this.isStream = head.isEventStream || (this.hidden !== null && !head.isJson);
    this.isArray = attempt.status < 400 && isStreamedArray(exchange, head);
    this.meter = this.meterFor();
    // The end of a compressed array cannot be recognized as it passes, so it is held like a plain response.
    const passes = this.isStream || (this.isArray && head.contentEncoding === null);
    this.isHolding = this.meter !== null && !passes && head.isJson;
  }

  protected override get flushesHead(): boolean {
    return !this.isHolding && !this.hasEnded && !BODYLESS.has(this.attempt.status);
  }

  override onChunk(chunk: Buffer): boolean {
    this.meter?.feed(chunk);
    const shown = this.hidden ? this.hidden.feed(chunk) : chunk;
    return shown.length === 0 || this.deliver(shown);
  }

  override onEnd(): void {
    const rest = this.hidden?.end();
    if (rest?.length) this.deliver(rest);
    this.hasEnded = true;
    if (this.isReleased) this.response.end();
    else if (!this.isRecorded) this.record();
  }

  override onFail(error: AppError): void {
    this.hasEnded = true;
    if (this.isReleased) this.response.destroy();
    else super.onFail(error);
  }

  /** Bytes as the client receives them. */
  private deliver(chunk: Buffer): boolean {
    this.exchange.bodies.response.add(chunk);
    if (this.isRecorded) return this.isReleased ? this.pass(chunk) : this.hold(chunk);
    if (this.isHolding && this.heldBytes + chunk.length <= HELD_BYTES_MAX) return this.hold(chunk);
    if (this.isHolding || !this.isLast(chunk)) return this.pass(chunk);
    this.hold(chunk);
    if (this.isStream) this.record();
    return true;
  }

  private hold(chunk: Buffer): true {
    this.held.push(chunk);
    this.heldBytes += chunk.length;
    return true;
  }

  /** Sends a chunk behind everything that was held. */
  private pass(chunk: Buffer): boolean {
    this.isHolding = false;
    const { held } = this;
    this.held = [];
    for (const earlier of held) this.send(earlier);
    if (this.isStream) this.isBetweenEvents = endsWithEmptyLine(chunk);
    return this.send(chunk);
  }

  /** The client recognizes the end of its response by its length, or by the stream's own last event. */
  private isLast(chunk: Buffer): boolean {
    const { contentLength } = this.sentHead;
    if (contentLength !== null) return this.exchange.bodies.response.bytes >= contentLength;
    if (this.meter?.hasEnded) return this.meter.hasEnded();
    return this.isStream && endsStream(chunk, this.isBetweenEvents);
  }

  /** The response is whole: reads the meter, writes the record, then releases the rest. */
  private record(): void {
    this.isRecorded = true;
    this.isComplete = true;
    const finish = (): void => {
      const failed = this.hasReportedFailure;
      const ending = this.hasLeft ? 'client_aborted' : failed ? 'upstream_truncated' : 'completed';
      this.close(ending, ending === 'upstream_truncated' ? 'upstream_error' : null, () => this.release());
    };
    if (this.meter) this.meter.end(finish);
    else finish();
  }

  /** A stream can report a failure only after a success status. */
  private get hasReportedFailure(): boolean {
    return (this.isStream || this.isArray) && this.reading.hasFailed && this.attempt.status < 400;
  }

  private release(): void {
    this.isReleased = true;
    if (this.exchange.signal.isCancelled) return;
    if (!this.response.headersSent) this.sendHead();
    const { held } = this;
    this.held = [];
    if (this.hasEnded && held.length === 1) return endWith(this.response, held[0] as Buffer);
    for (const chunk of held) this.send(chunk);
    if (this.hasEnded) this.response.end();
  }

  /** If the caller's access was withdrawn between two events of a stream, the client receives the error in its own dialect. */
  protected override breakOff(error: AppError): void {
    const { code, message, spec } = error;
    const isStopped = stopsStreams(error);
    const canTell = isStopped && this.isStream && this.isBetweenEvents && this.head.contentEncoding === null;
    const failure = { message, type: spec.type, code, param: null };
    const last = canTell ? streamFailure(failure, this.exchange) : null;
    this.close(isStopped ? 'refused' : 'upstream_truncated', code, () => {
      if (last === null) this.response.destroy();
      else this.response.end(last);
    });
  }

  protected override recorded(): RecordedResponse {
    const { reading, isComplete, attempt } = this;
    const { contentType, contentEncoding } = this.head;
    return { reading, isComplete, status: attempt.status, contentType, contentEncoding };
  }

  private get reading(): Reading {
    if (!this.meter) return UNREAD;
    const { reading } = this.meter;
    // A refusal may report usage. Its text is no output.
    return this.attempt.status < 400 ? reading : { ...reading, outputText: '' };
  }

  protected override sendHead(): void {
    const { attempt, exchange, response, sent } = this;
    const { target } = sent.reservation;
    const { headers, hasDate } = this.sentHead;
    if (target.provider.uploadAddressHeader) nameUploadsHere(headers, target, exchange.request);
    addAnswerHeaders(headers, exchange, attempt.status >= 400 ? 'provider' : null);
    response.sendDate = !hasDate;
    try {
      response.writeHead(attempt.status, attempt.statusText || undefined, headers);
    } catch (error) {
      // A head that Node refuses to write, such as a status above 999. Nothing was sent, so the client cannot mistake it.
      const { id } = exchange.facts;
      logger.warn({ err: error, request_id: id }, 'The head of a response cannot be forwarded.');
      response.destroy();
      attempt.cancel();
    }
  }

  private meterFor(): Meter | null {
    const { facts, trail } = this.exchange;
    const { endpoint } = facts;
    const reader = readerFor(endpoint, trail.body);
    // Audio reports no usage, and is large.
    if (!endpoint || !reader || this.head.isSound) return null;
    const encoding = this.head.contentEncoding;
    if (this.isArray) return meterArray(reader, encoding);
    if (!this.isStream) return meterAnswer(reader, encoding);
    return meterStream(reader, encoding, trail.isStreamed && expectsUsage(endpoint, trail));
  }
}

/** Google's stream without server-sent events. */
function isStreamedArray({ facts, trail }: Exchange, { isJson }: ResponseHead): boolean {
  return isJson && trail.isStreamed && facts.endpoint?.id === 'generate-content';
}

/** Whether a stream reports its usage: by itself, or because it was requested. */
function expectsUsage({ usageInStreams }: Endpoint, { hidesUsage, body }: AttemptTrail): boolean {
  const options = body?.stream_options as { include_usage?: unknown } | null | undefined;
  return usageInStreams === 'always' || hidesUsage || options?.include_usage === true;
}
