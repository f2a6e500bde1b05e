import type { ClientResponse } from '../../common/fast-path/messages.js';
import { AppError } from '../../common/errors/app-error.js';
import type { UsageReader } from '../../providers/endpoint.js';
import { type Decoding, decoding } from '../journal/decoding.js';
import type { Entry } from '../journal/entry.js';
import { reportedFailure, saidAnError } from '../journal/reported-failure.js';
import { tellsFailure } from '../journal/tells-failure.js';
import { note, nothingRead, parsedObject, readerFor, type Reading } from '../journal/metering.js';
import { SseReader } from '../journal/sse-reader.js';
import { TranslatedStream } from '../translating/translated-stream.js';
import type { ReplySink } from '../types/reply.js';
import { readResponseHead, type ResponseHead } from '../upstream/response-headers.js';
import { FailedAttempt } from '../upstream/retry.js';
import type { Answer } from '../types/answer.js';

/** What is held back at most. */
const EVENTS_MAX = 64;
const BYTES_MAX = 256 * 1024;

/**
 * The answer, once it may be passed on: a stream when its first useful token has come, a plain answer when it is whole and no error; or when
 * the bounds of holding back are reached. What was held is given back, so that nothing is lost. Rejects with the FailedAttempt
 * when the provider says an error or breaks off before that: the client has seen nothing of it.
 */
export function proven(
  answer: Answer,
  entry: Entry,
  holdMs: number,
  response: ClientResponse,
): Promise<Answer> {
  const trial = answer.status < 400 && !answer.judged ? trialOf(answer, entry) : null;
  if (!trial) return Promise.resolve(answer);
  const { attempt } = answer;
  return new Promise((resolve, reject) => {
    const onLeft = (): void => attempt.clientLeft();
    response.once('close', onLeft);
    const timer = setTimeout(() => trial.pass(), holdMs);
    trial.whenOver = (error) => {
      clearTimeout(timer);
      response.off('close', onLeft);
      if (error) reject(new FailedAttempt(attempt, error));
      else resolve(answer);
    };
    attempt.attach(trial);
  });
}

/** Null for what is not looked at: answers of endpoints that the gateway does not read, and encodings that it cannot. */
function trialOf(answer: Answer, { endpoint, body }: Entry): Trial | null {
  const reader = readerFor(endpoint, body);
  if (!reader) return null;
  const head = readResponseHead(answer.attempt.rawHeaders);
  if (head.isJson) return new Trial(answer, null, head.contentEncoding);
  if (!isStream(answer, head)) return null;
  const trial = new Trial(answer, reader, head.contentEncoding);
  return trial.isReadable ? trial : null;
}

function isStream({ translated }: Answer, { isEventStream }: ResponseHead): boolean {
  return translated ? translated.context.isStreamed : isEventStream;
}

/** Takes the beginning of an answer and judges it. */
class Trial implements ReplySink {
  whenOver: (error: AppError | null) => void = () => undefined;
  private readonly taken: Buffer[] = [];
  /** Of a plain answer, in clear. */
  private readonly clear: Buffer[] = [];
  private bytes = 0;
  private events = 0;
  private isOver = false;
  /** What a stream has told, which is billed even if it is put away. */
  private readonly told: Reading = nothingRead();
  private readonly translation: TranslatedStream | null;
  private readonly reader: SseReader | null;
  private readonly decoder: Decoding | null;

  /** `usage` reads the events of a stream as the client gets them; null for a plain answer. */
  constructor(
    private readonly answer: Answer,
    usage: UsageReader | null,
    contentEncoding: string | null,
  ) {
    const { translated } = answer;
    this.translation = usage && translated ? new TranslatedStream(translated, this.told) : null;
    this.reader = usage && new SseReader((data) => this.judge(data, usage));
    this.decoder = decoding(contentEncoding, BYTES_MAX, (chunk) => {
      if (usage) this.read(chunk);
      else this.clear.push(chunk);
    });
    if (usage) answer.attempt.partial = this.told;
  }

  /** False for a stream in an encoding that nobody here can undo. */
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
      if (this.events > 0) this.pass();
      else this.fail(new AppError('upstream_error', { detail: 'the stream ended before it began' }));
    });
  }

  onFail(error: AppError): void {
    this.over(error);
  }

  pass(): void {
    if (this.isOver) return;
    this.answer.attempt.detach(this.taken);
    this.over(null);
  }

  private judgeWhole(): void {
    if (!this.isOver && reportedFailure(Buffer.concat(this.clear))) this.fail(saidAnError('answer'));
    else this.pass();
  }

  private fail(error: AppError): void {
    if (this.isOver) return;
    this.over(error);
    this.answer.attempt.cancel();
  }

  private over(error: AppError | null): void {
    if (this.isOver) return;
    this.isOver = true;
    this.whenOver(error);
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
    if (event && tellsFailure(event)) this.fail(saidAnError('stream'));
    else if (!event || this.events >= EVENTS_MAX || usage.outputText(event) !== '') this.pass();
  }
}
