import type { ClientResponse } from '../../common/http/messages.js';
import type { AppError } from '../../common/errors/app-error.js';
import { createLogger } from '../../common/observability/logger.js';
import type { Entry } from '../recording/entry.js';
import type { ExchangeOutcome } from '../recording/records.js';
import {
  type Meter,
  meterAnswer,
  meterArray,
  meterStream,
  readerFor,
  type Reading,
  UNREAD,
} from '../recording/metering.js';
import { streamFailure } from '../translation/stream-failure.js';
import type { ReplySink } from '../types/reply.js';
import type { Exchange, RunningStream } from '../recording/exchange.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import { readResponseHead, type ResponseHead } from '../upstream/response-headers.js';
import { addAnswerHeaders } from './answer-headers.js';
import { closeExchange } from './closing.js';
import { endWith } from './end-with.js';
import { stopsStreams } from './running-streams.js';
import { nameUploadsHere } from './address-here.js';

/** A plain answer up to this size leaves in one write, after its record is safe. */
const HELD_BYTES_MAX = 1024 * 1024;

const logger = createLogger('delivery');

/** Answers that end with their head: nothing is gained by sending it before it is known to be all. */
const BODYLESS: ReadonlySet<number> = new Set([204, 304]);

/** The last word of a stream is a line of its own. Texts can say it too, but in JSON, which has no line breaks within them. */
const LAST_WORD = /(^|[\r\n])data: ?\[DONE\][\r\n]{0,4}$/;
/** As long as that may be, and one more: what matches at its beginning begins the chunk. */
const LAST_WORD_BYTES = 18;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** An event ends with an empty line: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream */
function endsWithEmptyLine(chunk: Buffer): boolean {
  const { length } = chunk;
  if (chunk[length - 1] !== LINE_FEED) return false;
  const before = chunk[length - 2] === CARRIAGE_RETURN ? length - 3 : length - 2;
  return chunk[before] === LINE_FEED;
}

/** What the pipeline does with an answer that broke off before any of it was sent. */
export type OnBroken = (error: AppError) => void;

/**
 * Carries a provider's answer to the client, byte for byte, and ends the exchange in the journal.
 *
 * The record is written before the last byte leaves, so that a client which saw the end of its answer
 * can rely on the log having it. Event streams pass as they come; a plain JSON answer of an endpoint that is
 * metered is held until it is whole, because it is read as a whole anyway.
 */
export class Delivery implements ReplySink {
  private readonly entry: Entry;
  private readonly response: ClientResponse;
  private readonly head: ResponseHead;
  private readonly meter: Meter | null;
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
  /** The journal has its record; what is still held may leave. */
  private isReleased = false;
  private hasEnded = false;
  private hasLeft = false;
  private running: RunningStream | undefined;

  constructor(
    private readonly exchange: Exchange,
    private readonly attempt: Attempt,
    private readonly target: Target,
    private readonly onBroken: OnBroken,
  ) {
    this.entry = exchange.entry;
    this.response = exchange.response;
    this.head = readResponseHead(attempt.rawHeaders);
    this.isStream = this.head.isEventStream;
    const { endpoint, trail } = this.entry;
    this.isArray = this.head.isJson && trail.isStreamed && endpoint?.id === 'generate-content';
    this.meter = this.meterFor();
    // The end of a compressed array cannot be recognized as it passes, so it is held as a plain answer is.
    const passes = this.isStream || (this.isArray && this.head.contentEncoding === null);
    this.isHolding = this.meter !== null && !passes && this.head.isJson;
  }

  private get reading(): Reading {
    return this.meter ? this.meter.reading : UNREAD;
  }

  start(): void {
    this.response.once('close', () => {
      // The web server keeps a response until the next request of its connection, and with it all that hangs on it.
      if (this.running) this.exchange.streams?.delete(this.running);
      if (!this.response.writableFinished) this.clientLeft();
    });
    this.attempt.attach(this);
    if (this.response.destroyed) return this.clientLeft();
    if (this.isStream) this.running = this.exchange.streams?.add(this.exchange, this.attempt);
    // The first chunk takes the head with it. A provider that thinks long must not keep the head here, but one
    // that breaks off at once has not been heard yet, and gets the caller a proper error.
    if (!this.isHolding && !this.hasEnded && !BODYLESS.has(this.attempt.status))
      setImmediate(() => this.flushHead());
  }

  onChunk(chunk: Buffer): boolean {
    this.entry.responseBody.add(chunk);
    this.meter?.feed(chunk);
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

  /** Its caller may not go on: the client receives it in its own dialect, where the stream stands between two events. */
  private stop(error: AppError): void {
    const { code, message, spec } = error;
    const canTell = this.isStream && this.isBetweenEvents && this.head.contentEncoding === null;
    const words = canTell ? streamFailure({ message, type: spec.type, code, param: null }, this.entry) : null;
    this.close('refused', code, () => {
      if (words === null) this.response.destroy();
      else this.response.end(words);
    });
  }

  /** What still comes of the answer is read for its record alone. */
  private clientLeft(): void {
    this.hasLeft = true;
    if (this.isRecorded) this.attempt.cancel();
    else this.attempt.clientLeft();
  }

  /** The answer is whole: reads what the meter has, writes the record, then lets the rest go. */
  private record(): void {
    this.isRecorded = true;
    this.isComplete = true;
    const finish = (): void => {
      const [ending, errorCode] = this.endOf();
      this.close(ending, errorCode, () => {
        this.release();
      });
    };
    if (this.meter && this.attempt.status < 400) this.meter.end(finish);
    else finish();
  }

  /** A stream can only report a failure behind the status of a success. */
  private endOf(): readonly [ExchangeOutcome['ending'], errorCode: string | null] {
    if (this.hasLeft) return ['client_aborted', null];
    return (this.isStream || this.isArray) && this.reading.hasFailed
      ? ['upstream_truncated', 'upstream_error']
      : ['completed', null];
  }

  private close(ending: ExchangeOutcome['ending'], errorCode: string | null, then: () => void): void {
    const { attempt, entry, target, reading, isComplete } = this;
    const { contentType, contentEncoding } = this.head;
    const answer = { attempt, target, reading, isComplete, contentType, contentEncoding };
    const closing = { entry, ending, errorCode, ...answer };
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
    nameUploadsHere(headers, this.target, this.exchange.request);
    addAnswerHeaders(headers, this.entry, this.attempt.status >= 400 ? 'provider' : null);
    this.response.sendDate = !this.head.hasDate;
    try {
      this.response.writeHead(this.attempt.status, this.attempt.statusText || undefined, headers);
    } catch (error) {
      // A head that Node will not write, such as a status above 999. What was sent is nothing, so nothing is unclear.
      logger.warn({ err: error, id: this.entry.id }, 'the head of a response cannot be forwarded');
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

  /** The client is slow: the provider waits until it has read what there is. */
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

  /** The client knows the end of its answer by its length, or by the stream's own last word. */
  private isLast(chunk: Buffer): boolean {
    if (this.head.contentLength !== null) return this.entry.responseBody.bytes >= this.head.contentLength;
    if (this.meter?.isOver) return this.meter.isOver();
    if (!this.isStream) return false;
    const said = LAST_WORD.exec(chunk.toString('latin1', Math.max(0, chunk.length - LAST_WORD_BYTES)));
    return said !== null && (said[1] !== '' || this.isBetweenEvents);
  }

  private meterFor(): Meter | null {
    const { endpoint, trail } = this.entry;
    const { isStreamed, body } = trail;
    const reader = readerFor(endpoint, body);
    // Sound tells nothing of itself, and is large.
    if (!endpoint || !reader || this.head.isSound) return null;
    const encoding = this.head.contentEncoding;
    if (this.isArray) return meterArray(reader, encoding);
    if (!this.isStream) return meterAnswer(reader, encoding);
    const options = body?.stream_options as { include_usage?: unknown } | null | undefined;
    const isCertain = endpoint.usageInStreams === 'always' || options?.include_usage === true;
    return meterStream(reader, encoding, isStreamed && isCertain);
  }
}
