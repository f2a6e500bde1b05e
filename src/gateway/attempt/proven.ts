import type { ClientResponse } from '../../common/http/messages.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, Json, UsageReader } from '../../providers/endpoint.js';
import { type AnswerDecoder, decoding } from '../recording/decoding.js';
import { reportedFailure, reportedStatus, saidAnError } from '../recording/reported-failure.js';
import { tellsEnd, tellsFailure } from '../recording/tells-failure.js';
import { note, nothingRead, parsedObject, readerFor, type Reading } from '../recording/metering.js';
import { SseReader } from '../recording/sse-reader.js';
import { isReadable, unreadableAnswer } from '../translation/translated-answer.js';
import { TranslatedStream } from '../translation/translated-stream.js';
import type { HoldRule } from '../types/plan.js';
import type { ReplySink } from '../types/reply.js';
import { readResponseHead, type ResponseHead } from '../upstream/response-headers.js';
import { FailedAttempt } from '../upstream/failed-attempt.js';
import { movesOn } from '../routing/outcome.js';
import type { Answer } from './answer.js';

/** What is held back at most. */
const EVENTS_MAX = 64;
const BYTES_MAX = 256 * 1024;

/**
 * The answer, once it may be passed on: a stream when its first useful token has come, a plain answer when it is whole, readable and
 * no error; or when the bounds of holding back are reached. What was held is given back, so that nothing is lost. Rejects with the
 * FailedAttempt when the provider fails before that, by an error, by breaking off or by an answer that cannot be read, and
 * the rule lets such a failure be replaced: the client has seen nothing of it.
 */
export function proven(
  answer: Answer,
  endpoint: Endpoint | null,
  hold: HoldRule,
  response: ClientResponse,
): Promise<Answer> {
  const trial = answer.status < 400 && !answer.judged ? trialOf(answer, endpoint, hold.onStatuses) : null;
  if (!trial) return Promise.resolve(answer);
  const { attempt } = answer;
  return new Promise((resolve, reject) => {
    const onLeft = (): void => attempt.cancel();
    response.once('close', onLeft);
    const timer = setTimeout(() => trial.pass(), hold.holdMs);
    trial.whenOver = (failed) => {
      clearTimeout(timer);
      response.off('close', onLeft);
      if (failed) reject(failed);
      else resolve(answer);
    };
    attempt.attach(trial);
  });
}

/** Null for what is not looked at: answers of endpoints that the gateway does not read, and encodings that it cannot. */
function trialOf(
  answer: Answer,
  endpoint: Endpoint | null,
  onStatuses: HoldRule['onStatuses'],
): Trial | null {
  const reader = readerFor(endpoint, answer.content.json);
  const head = readResponseHead(answer.attempt.rawHeaders);
  if (isPlain(answer, head))
    return reader || answer.translated ? new Trial(answer, null, { head, onStatuses }) : null;
  if (!reader || !isStream(answer, head)) return null;
  const trial = new Trial(answer, reader, { head, onStatuses });
  return trial.isReadable ? trial : null;
}

/** A translation reads plain answers as JSON, whatever they say that they are. */
function isPlain({ translated }: Answer, { isJson }: ResponseHead): boolean {
  return isJson || (translated !== null && !translated.context.isStreamed);
}

function isStream({ translated }: Answer, { isEventStream }: ResponseHead): boolean {
  return translated ? translated.context.isStreamed : isEventStream;
}

interface TrialRule extends Pick<HoldRule, 'onStatuses'> {
  readonly head: ResponseHead;
}

/** Takes the beginning of an answer and judges it. */
class Trial implements ReplySink {
  whenOver: (failed: FailedAttempt | null) => void = () => undefined;
  private readonly taken: Buffer[] = [];
  /** Of a plain answer, in clear. */
  private readonly clear: Buffer[] = [];
  private bytes = 0;
  private events = 0;
  /** The provider said that its stream is complete. */
  private hasEnd = false;
  private isOver = false;
  /** What a stream has reported, which is billed even if it is put away. */
  private readonly told: Reading = nothingRead();
  private readonly translation: TranslatedStream | null;
  private readonly reader: SseReader | null;
  private readonly decoder: AnswerDecoder | null;

  /** `usage` reads the events of a stream as the client gets them; null for a plain answer. */
  constructor(
    private readonly answer: Answer,
    usage: UsageReader | null,
    private readonly given: TrialRule,
  ) {
    const { translated } = answer;
    this.translation = usage && translated ? new TranslatedStream(translated, this.told) : null;
    this.reader = usage && new SseReader((data) => this.judge(data, usage));
    this.decoder = decoding(given.head.contentEncoding, BYTES_MAX, (chunk) => {
      if (usage) this.read(chunk);
      else this.clear.push(chunk);
    });
    if (usage) answer.attempt.partial = this.told;
  }

  /** False for a stream in an encoding that cannot be decoded here. */
  get isReadable(): boolean {
    return this.decoder !== null;
  }

  onChunk(chunk: Buffer): boolean {
    this.taken.push(chunk);
    this.bytes += chunk.length;
    this.decoder?.write(chunk);
    if (this.bytes > BYTES_MAX) this.pass();
    return !this.isOver;
  }

  /** A stream that ends in order has said what it had to say, if it said anything. */
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
    this.over(new FailedAttempt(this.answer.attempt, error));
  }

  pass(): void {
    if (this.isOver) return;
    this.answer.attempt.detach(this.taken);
    this.over(null);
  }

  private judgeWhole(): void {
    if (this.isOver) return;
    const { attempt, translated } = this.answer;
    const whole = Buffer.concat(this.clear);
    const failure = reportedFailure(whole);
    if (failure) this.fail(saidAnError('answer'), failure);
    else if (translated && !isReadable(attempt, whole, translated)) this.fail(unreadableAnswer());
    else this.pass();
  }

  /** A failure that no other target may replace is the client's to see. `report` is what the provider says of it. */
  private fail(error: AppError, report: Json | null = null): void {
    if (this.isOver) return;
    const { attempt } = this.answer;
    const failed = new FailedAttempt(attempt, error, report && reportedStatus(report));
    if (!movesOn({ answer: null, thrown: failed }, this.given.onStatuses)) return this.pass();
    this.over(failed);
    attempt.cancel();
  }

  private over(failed: FailedAttempt | null): void {
    if (this.isOver) return;
    this.isOver = true;
    this.whenOver(failed);
  }

  /** Bytes of the stream in clear; null at its end. */
  private read(chunk: Buffer | null): void {
    if (this.isOver) return;
    if (!this.translation) {
      if (chunk) this.reader?.feed(chunk);
      return;
    }
    const text = chunk ? this.translation.feed(chunk) : this.translation.end();
    this.reader?.feed(Buffer.from(text));
    if (this.translation.error) this.fail(saidAnError('stream'));
  }

  private judge(data: string, usage: UsageReader): void {
    if (this.isOver) return;
    this.events += 1;
    const event = parsedObject(data);
    if (!this.translation) note(this.told, usage, event);
    if (event && tellsEnd(event)) this.hasEnd = true;
    if (event && tellsFailure(event)) this.fail(saidAnError('stream'), event);
    else if (!event || this.events >= EVENTS_MAX || usage.outputText(event) !== '') this.pass();
  }
}
