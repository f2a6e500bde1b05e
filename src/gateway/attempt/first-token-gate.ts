import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, Json, UsageReader } from '../../providers/endpoint.js';
import { type AnswerDecoder, decoding } from '../recording/metering.js';
import {
  errorOfProvider,
  reportedFailure,
  reportedStatus,
  ResponseFailure,
} from '../recording/reported-failure.js';
import type { Exchange } from '../recording/exchange.js';
import {
  marksEnd,
  note,
  nothingRead,
  parsedObject,
  readerFor,
  type Reading,
  reportsFailure,
} from '../recording/reading.js';
import { skipLongLines, SseParser } from '../framing/index.js';
import { isReadable, unreadableAnswer } from '../translation/translated-answer.js';
import { TranslatedStream } from '../translation/translated-stream.js';
import type { HoldRule } from '../types/plan.js';
import type { ReplySink } from '../types/reply.js';
import { readResponseHead, type ResponseHead } from '../upstream/forwarded-headers.js';
import { mayBeReplaced } from '../routing/outcome.js';
import type { Answer } from './answer.js';

/** Maximum that is held back. */
const EVENTS_MAX = 64;
const BYTES_MAX = 256 * 1024;

/**
 * Resolves once the response may be passed on: a stream after its first useful token; a plain response when it is whole, readable
 * and reports no error; or either when a limit of holding back is reached. Held bytes are delivered first, so that nothing is lost. Rejects
 * with a `ResponseFailure` when the provider fails before that (an error, a broken or an unreadable response) and the rule lets another
 * target replace it: the client has received nothing.
 */
export function passGate(
  answer: Answer,
  { facts, signal }: Pick<Exchange, 'facts' | 'signal'>,
  hold: HoldRule,
): Promise<void> | undefined {
  const isHeld = hold.holdMs > 0 && answer.status < 400 && !answer.judged;
  const gate = isHeld ? gateOf(answer, facts.endpoint, hold.onStatuses) : null;
  if (!gate) return undefined;
  const { attempt } = answer;
  return new Promise((resolve, reject) => {
    const onLeft = (): void => attempt.cancel();
    // After a client that left before, an attempt that is set to finish goes on.
    if (!signal.isCancelled) signal.onCancel(onLeft);
    const timer = setTimeout(() => gate.pass(), hold.holdMs);
    gate.whenOver = (failed) => {
      clearTimeout(timer);
      signal.offCancel(onLeft);
      if (failed) reject(failed);
      else resolve();
    };
    attempt.attach(gate);
  });
}

/** Null when the response is not examined: its endpoint is not parsed, or its encoding is not supported. */
function gateOf(
  answer: Answer,
  endpoint: Endpoint | null,
  onStatuses: HoldRule['onStatuses'],
): FirstTokenGate | null {
  const reader = readerFor(endpoint, answer.content.json);
  const head = readResponseHead(answer.attempt.rawHeaders);
  if (isPlain(answer, head))
    return reader || answer.translated ? new FirstTokenGate(answer, null, { head, onStatuses }) : null;
  if (!reader || !isStream(answer, head)) return null;
  const gate = new FirstTokenGate(answer, reader, { head, onStatuses });
  return gate.isReadable ? gate : null;
}

/** A translation reads plain responses as JSON, whatever their content type. */
function isPlain({ translated }: Answer, { isJson }: ResponseHead): boolean {
  return isJson || (translated !== null && !translated.context.isStreamed);
}

function isStream({ translated }: Answer, { isEventStream }: ResponseHead): boolean {
  return translated ? translated.context.isStreamed : isEventStream;
}

interface GateRule extends Pick<HoldRule, 'onStatuses'> {
  readonly head: ResponseHead;
}

/** Examines the beginning of a response. */
class FirstTokenGate implements ReplySink {
  whenOver: (failed: ResponseFailure | null) => void = () => undefined;
  private readonly taken: Buffer[] = [];
  /** Decoded bytes of a plain response. */
  private readonly clear: Buffer[] = [];
  private bytes = 0;
  private events = 0;
  /** The provider has sent the stream's completion event. */
  private hasEnd = false;
  private hasEnded = false;
  /** Usage that a stream has reported, which is billed even if the stream is discarded. */
  private readonly reading: Reading = nothingRead();
  private readonly translation: TranslatedStream | null;
  private readonly reader: SseParser | null;
  private readonly decoder: AnswerDecoder | null;

  /** `usage` reads the events of a stream as the client receives them; null for a plain response. */
  constructor(
    private readonly answer: Answer,
    usage: UsageReader | null,
    private readonly rule: GateRule,
  ) {
    const { translated } = answer;
    this.translation = usage && translated ? new TranslatedStream(translated, this.reading) : null;
    this.reader = usage && new SseParser((data) => this.judge(data, usage), skipLongLines());
    this.decoder = decoding(rule.head.contentEncoding, BYTES_MAX, (chunk) => {
      if (usage) this.read(chunk);
      else this.clear.push(chunk);
    });
    if (usage) answer.reservation.partial = this.reading;
  }

  /** False for a stream in an encoding that is not supported. */
  get isReadable(): boolean {
    return this.decoder !== null;
  }

  onChunk(chunk: Buffer): boolean {
    this.taken.push(chunk);
    this.bytes += chunk.length;
    this.decoder?.write(chunk);
    if (this.bytes > BYTES_MAX) this.pass();
    return !this.hasEnded;
  }

  /** A stream that ends properly is complete even without a token. */
  onEnd(): void {
    if (!this.decoder) return this.pass();
    this.decoder.end(() => {
      if (!this.reader) return this.judgeWhole();
      if (this.translation) this.read(null);
      this.reader.end();
      if (this.hasEnd) this.pass();
      else this.fail(new AppError('upstream_error', { detail: 'the stream ended before its first token' }));
    });
  }

  onFail(error: AppError): void {
    this.over(new ResponseFailure(error, this.answer.reservation.partial));
  }

  pass(): void {
    if (this.hasEnded) return;
    this.answer.attempt.detach(this.taken);
    this.over(null);
  }

  private judgeWhole(): void {
    if (this.hasEnded) return;
    const { attempt, translated } = this.answer;
    const whole = Buffer.concat(this.clear);
    const failure = reportedFailure(whole);
    if (failure) {
      // A reported failure is not billed.
      this.reading.hasFailed = true;
      this.answer.reservation.partial = this.reading;
      this.fail(errorOfProvider('answer'), failure);
    } else if (translated && !isReadable(attempt, whole, translated)) this.fail(unreadableAnswer());
    else this.pass();
  }

  /** A failure that no other target may replace is passed to the client. `report` is the provider's error event or body. */
  private fail(error: AppError, report: Json | null = null): void {
    if (this.hasEnded) return;
    const { attempt, reservation } = this.answer;
    const failed = new ResponseFailure(error, reservation.partial, report && reportedStatus(report));
    if (!mayBeReplaced(failed, this.rule.onStatuses)) return this.pass();
    this.over(failed);
    attempt.cancel();
  }

  private over(failed: ResponseFailure | null): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.whenOver(failed);
  }

  /** Decoded bytes of the stream; null at its end. */
  private read(chunk: Buffer | null): void {
    if (this.hasEnded) return;
    if (!this.translation) {
      if (chunk) this.reader?.feed(chunk);
      return;
    }
    const text = chunk ? this.translation.feed(chunk) : this.translation.end();
    this.reader?.feed(Buffer.from(text));
    if (this.translation.error) this.fail(errorOfProvider('stream'));
  }

  private judge(data: string, usage: UsageReader): void {
    if (this.hasEnded) return;
    this.events += 1;
    const event = parsedObject(data);
    if (!this.translation) note(this.reading, usage, event);
    if (event && marksEnd(event)) this.hasEnd = true;
    if (event && reportsFailure(event)) this.fail(errorOfProvider('stream'), event);
    else if (!event || this.events >= EVENTS_MAX || usage.outputText(event) !== '') this.pass();
  }
}
