import { AppError, errorBody } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import { type Decoding, decoding } from '../journal/decoding.js';
import type { Entry } from '../journal/entry.js';
import { note, noteWhole, nothingRead, parsedObject, readerFor, type Reading } from '../journal/metering.js';
import { SseReader } from '../journal/sse-reader.js';
import { editedJson } from '../planning/edited-json.js';
import type { EncodedBody } from '../translating/encode-body.js';
import type { Translated } from '../translating/outgoing.js';
import { translatedAnswer } from '../translating/translated-answer.js';
import { TranslatedStream } from '../translating/translated-stream.js';
import type { Attempt } from '../upstream/attempt.js';
import type { ReplySink } from '../types/reply.js';
import type { ResponseHead } from '../upstream/response-headers.js';
import { reportedFailure, reportedStatus, saidAnError } from '../journal/reported-failure.js';
import { FailedAttempt } from '../upstream/retry.js';
import { denial, type Guarded, judged, resultsOf } from './guard-request.js';
import { needsWhole, restoring } from './part-filters.js';
import type { Judgement, Matter } from './run-hooks.js';
import { StreamGuard, withoutLogprobs } from './stream-guard.js';
import { ENDPOINT_TEXTS, NO_STREAM_TEXTS } from './texts/endpoint-texts.js';
import { rewriteTexts } from './texts/text-tree.js';

/** An answer that is judged as a whole is held as a whole, so it must be small enough. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;

export const FAILED_STATUS = 246;
export const DENIED_STATUS = 446;
const JSON_TYPE = 'application/json; charset=utf-8';
const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** An answer with the verdict on it, in the client's own dialect. */
export interface JudgedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly reading: Reading;
  readonly isDenied: boolean;
  /** Of the provider's own answer. */
  readonly head: ResponseHead;
}

/** An answer whose head has come. */
export interface Answering {
  readonly entry: Entry;
  readonly attempt: Attempt;
  readonly head: ResponseHead;
  readonly translated: Translated | null;
  /** The client wants nothing in the answer that OpenAI's shape has not. */
  readonly isStrict: boolean;
}

/** Whether an answer has to be held until it is whole, because of what guardrails may do with it. */
export function isJudgedWhole({ guards, hasFailed, facts }: Guarded, answering: Answering): boolean {
  if (answering.attempt.status < 200 || answering.attempt.status > 299) return false;
  const isOfConcern =
    guards.output.length > 0 || hasFailed || facts.placeholders.canRestore || !answering.isStrict;
  return isOfConcern && (!isEventStream(answering) || needsWhole(guards.output));
}

/** Whether it is a stream that guardrails have to do with while it passes. */
export function isGuardedStream({ guards, hasFailed, facts }: Guarded, answering: Answering): boolean {
  const { status } = answering.attempt;
  return (
    status >= 200 &&
    status <= 299 &&
    isEventStream(answering) &&
    (guards.output.length > 0 || hasFailed || facts.placeholders.canRestore)
  );
}

function isEventStream({ head, translated, entry }: Answering): boolean {
  if (translated) return translated.context.isStreamed && !head.isJson;
  return entry.isStreamed && head.isEventStream;
}

/** Reads an answer to its end and judges it. Rejects with the FailedAttempt when it does not come to its end. */
export async function judgeAnswer(guarded: Guarded, answering: Answering): Promise<JudgedAnswer> {
  const whole = await gathered(answering);
  const isStream = isEventStream(answering);
  const failure = answering.head.isJson && answering.attempt.status < 400 ? reportedFailure(whole) : null;
  if (failure) throw new FailedAttempt(answering.attempt, saidAnError('answer'), reportedStatus(failure));
  const judging = (isStream ? judgedStream : judgedPlain)(whole, guarded, answering);
  const answer = judging instanceof Promise ? await judging : judging;
  if (!answer.isDenied) return answer;
  const { entry } = answering;
  const body = { ...errorBody(denial(entry), entry.id), hook_results: entry.hookResults };
  return {
    ...answer,
    status: DENIED_STATUS,
    contentType: JSON_TYPE,
    body: Buffer.from(JSON.stringify(body)),
  };
}

function judgedPlain(
  whole: Buffer,
  guarded: Guarded,
  answering: Answering,
): JudgedAnswer | Promise<JudgedAnswer> {
  const { entry } = answering;
  const { guards, facts } = guarded;
  const said = inClientsDialect(whole, answering);
  const tree = textsOf(entry)?.answer ?? null;
  const matter: Matter = { side: 'output', facts, json: said.json, tree, texts: null };
  const judgement = judged(guards.output, matter, resultsOf(entry).after_request_hooks);
  return judgement instanceof Promise
    ? judgement.then((one) => plainAnswer(said, one, { guarded, answering }))
    : plainAnswer(said, judgement, { guarded, answering });
}

interface Judging {
  readonly guarded: Guarded;
  readonly answering: Answering;
}

function plainAnswer(
  { json, contentType, bytes, reading }: Said,
  { matter, isDenied, hasFailed }: Judgement,
  { guarded, answering }: Judging,
): JudgedAnswer {
  const changed = told(restored(matter, json), answering);
  return {
    status: hasFailed || guarded.hasFailed ? FAILED_STATUS : answering.attempt.status,
    contentType,
    body: editedJson(bytes, json, changed),
    reading,
    isDenied,
    head: answering.head,
  };
}

/** A plain answer in the client's dialect. */
interface Said extends EncodedBody {
  /** The body, parsed once for the meter and the checks; null for what is no object. */
  readonly json: Json | null;
  readonly reading: Reading;
}

function inClientsDialect(whole: Buffer, { entry, attempt, translated, head }: Answering): Said {
  const reading = nothingRead();
  if (translated) {
    const { contentType, bytes } = translatedOrFailed({ attempt, translated }, whole, reading);
    return { contentType, bytes, json: parsedObject(bytes.toString('utf8')), reading };
  }
  const json = parsedObject(whole.toString('utf8'));
  const reader = readerFor(entry.endpoint, entry.body);
  if (reader && json) note(reading, reader, json);
  else if (reader) noteWhole(reading, reader, whole);
  return { contentType: head.contentType ?? JSON_TYPE, bytes: whole, json, reading };
}

function translatedOrFailed(
  { attempt, translated }: { readonly attempt: Attempt; readonly translated: Translated },
  whole: Buffer,
  reading: Reading,
): EncodedBody {
  try {
    return translatedAnswer(attempt, whole, translated, reading);
  } catch (error) {
    throw new FailedAttempt(attempt, AppError.from(error));
  }
}

function told(json: Json | null, { entry, isStrict }: Answering): Json | null {
  return json && !isStrict ? { ...json, hook_results: entry.hookResults } : json;
}

function restored({ json, tree, facts }: Matter, before: Json | null): Json | null {
  if (!json || !tree) return json;
  const changed = facts.placeholders.canRestore
    ? rewriteTexts(json, tree, (text) => {
        const filter = restoring(facts);
        return filter.feed(text) + filter.end();
      })
    : json;
  return changed === before ? changed : withoutLogprobs(changed);
}

async function judgedStream(whole: Buffer, guarded: Guarded, answering: Answering): Promise<JudgedAnswer> {
  const { entry, attempt, translated } = answering;
  const reading = nothingRead();
  const guard = streamGuard(guarded, answering, translated ? null : reading);
  const stream = translated && new TranslatedStream(translated, reading);
  const body = stream ? Buffer.from(stream.feed(whole) + stream.end()) : whole;
  const passed = guard.feed(body) + guard.end();
  if (stream?.error || reading.hasFailed) {
    attempt.partial = reading;
    throw new FailedAttempt(attempt, saidAnError('stream'));
  }
  const judgement = await judgedTexts(guard, guarded, entry);
  return {
    status: judgement.hasFailed || guarded.hasFailed ? FAILED_STATUS : attempt.status,
    contentType: EVENT_STREAM,
    body: Buffer.from(passed),
    reading,
    isDenied: guard.isDenied || judgement.isDenied,
    head: answering.head,
  };
}

/** The guard of an answer's stream. `reading` is what its meter fills; null where another one reads. */
export function streamGuard(
  { guards, facts }: Guarded,
  { entry }: Answering,
  reading: Reading | null,
): StreamGuard {
  const reader = readerFor(entry.endpoint, entry.body);
  return new StreamGuard({
    hooks: guards.output,
    texts: textsOf(entry)?.stream ?? NO_STREAM_TEXTS,
    facts,
    onEvent: (json) => {
      if (!reading) return;
      reading.firstEventAt ??= performance.now();
      if (reader) note(reading, reader, json);
    },
  });
}

/** The verdict on a stream that has come to its end, or was stopped. */
export function judgedTexts({ texts }: StreamGuard, { guards, facts }: Guarded, entry: Entry) {
  const matter: Matter = { side: 'output', facts, json: null, tree: null, texts };
  return judged(guards.output, matter, resultsOf(entry).after_request_hooks);
}

const textsOf = ({ endpoint }: Entry) => (endpoint ? ENDPOINT_TEXTS[endpoint.id] : undefined);

function gathered(answering: Answering): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    answering.attempt.attach(new Gathering(answering, resolve, reject));
  });
}

/** What a stream that was cut off had reported, and its text so far. Null for a plain answer, of which a part says nothing. */
function readCut(arrived: Buffer, answering: Answering): Reading | null {
  const { entry, translated } = answering;
  const reader = readerFor(entry.endpoint, entry.body);
  if (!isEventStream(answering) || !reader || arrived.length === 0) return null;
  const reading = nothingRead();
  if (translated) new TranslatedStream(translated, reading).feed(arrived);
  else new SseReader((data) => note(reading, reader, parsedObject(data))).feed(arrived);
  return reading;
}

/** Takes an answer whole, in clear. */
class Gathering implements ReplySink {
  private readonly chunks: Buffer[] = [];
  private bytes = 0;
  private readonly decoder: Decoding | null;

  constructor(
    private readonly answering: Answering,
    private readonly resolve: (whole: Buffer) => void,
    private readonly reject: (failed: FailedAttempt) => void,
  ) {
    const { contentEncoding } = answering.head;
    this.decoder = decoding(contentEncoding, UNPACKED_BYTES_MAX, (chunk) => this.chunks.push(chunk));
  }

  onChunk(chunk: Buffer): boolean {
    this.bytes += chunk.length;
    if (!this.decoder || this.bytes > ANSWER_BYTES_MAX)
      this.answering.attempt.cancel(new AppError('upstream_protocol_error'));
    else this.decoder.write(chunk);
    return true;
  }

  onEnd(): void {
    if (!this.decoder) return this.onFail(new AppError('upstream_protocol_error'));
    this.decoder.end(() => {
      const { chunks } = this;
      this.resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
  }

  onFail(error: AppError): void {
    const { attempt } = this.answering;
    attempt.partial = readCut(Buffer.concat(this.chunks), this.answering);
    this.reject(new FailedAttempt(attempt, error));
  }
}
