import { AppError, errorBody } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import { decoding } from '../journal/decoding.js';
import type { Entry } from '../journal/entry.js';
import { note, nothingRead, parsedObject, type Reading } from '../journal/metering.js';
import type { EncodedBody } from '../translating/encode-body.js';
import type { Translated } from '../translating/outgoing.js';
import { translatedAnswer } from '../translating/translated-answer.js';
import { TranslatedStream } from '../translating/translated-stream.js';
import type { Attempt } from '../upstream/attempt.js';
import { readResponseHead } from '../upstream/response-headers.js';
import { FailedAttempt } from '../upstream/retry.js';
import { denial, type Guarded, judged, resultsOf } from './guard-request.js';
import { needsWhole, restoring } from './part-filters.js';
import type { Matter } from './run-hooks.js';
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
}

/** An answer whose head has come. */
export interface Answering {
  readonly entry: Entry;
  readonly attempt: Attempt;
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

function isEventStream({ attempt, translated, entry }: Answering): boolean {
  const { contentType } = readResponseHead(attempt.rawHeaders);
  if (translated) return translated.context.isStreamed && !contentType?.startsWith('application/json');
  return entry.isStreamed && (contentType?.startsWith('text/event-stream') ?? false);
}

/** Reads an answer to its end and judges it. Rejects with the FailedAttempt when it does not come to its end. */
export async function judgeAnswer(guarded: Guarded, answering: Answering): Promise<JudgedAnswer> {
  const whole = await gathered(answering.attempt);
  const judgement = isEventStream(answering)
    ? await judgedStream(whole, guarded, answering)
    : await judgedPlain(whole, guarded, answering);
  if (!judgement.isDenied) return judgement;
  const { entry } = answering;
  const body = { ...errorBody(denial(entry), entry.id), hook_results: entry.hookResults };
  return {
    ...judgement,
    status: DENIED_STATUS,
    contentType: JSON_TYPE,
    body: Buffer.from(JSON.stringify(body)),
  };
}

async function judgedPlain(whole: Buffer, guarded: Guarded, answering: Answering): Promise<JudgedAnswer> {
  const { entry, attempt } = answering;
  const { guards, facts } = guarded;
  const reading = nothingRead();
  const { contentType, bytes } = inClientsDialect(whole, answering, reading);
  const json = parsedObject(bytes.toString('utf8'));
  const tree = textsOf(entry)?.answer ?? null;
  const matter: Matter = { side: 'output', facts, json, tree, texts: null };
  const judgement = await judged(guards.output, matter, resultsOf(entry).after_request_hooks);
  const changed = told(restored(judgement.matter, json), answering);
  return {
    status: judgement.hasFailed || guarded.hasFailed ? FAILED_STATUS : attempt.status,
    contentType,
    body: changed === json ? bytes : Buffer.from(JSON.stringify(changed)),
    reading,
    isDenied: judgement.isDenied,
  };
}

function inClientsDialect(
  whole: Buffer,
  { entry, attempt, translated }: Answering,
  reading: Reading,
): EncodedBody {
  if (translated) return translatedAnswer(attempt, whole, translated, reading);
  if (entry.endpoint?.usage) note(reading, entry.endpoint.usage, parsedObject(whole.toString('utf8')));
  return { contentType: readResponseHead(attempt.rawHeaders).contentType ?? JSON_TYPE, bytes: whole };
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
  const body = translated ? throughTranslation(whole, translated, reading) : whole;
  const passed = guard.feed(body) + guard.end();
  const judgement = await judgedTexts(guard, guarded, entry);
  return {
    status: judgement.hasFailed || guarded.hasFailed ? FAILED_STATUS : attempt.status,
    contentType: EVENT_STREAM,
    body: Buffer.from(passed),
    reading,
    isDenied: guard.isDenied || judgement.isDenied,
  };
}

function throughTranslation(whole: Buffer, translated: Translated, reading: Reading): Buffer {
  const stream = new TranslatedStream(translated, reading);
  return Buffer.from(stream.feed(whole) + stream.end());
}

/** The guard of an answer's stream. `reading` is what its meter fills; null where another one reads. */
export function streamGuard(
  { guards, facts }: Guarded,
  { entry }: Answering,
  reading: Reading | null,
): StreamGuard {
  const usage = entry.endpoint?.usage;
  return new StreamGuard({
    hooks: guards.output,
    texts: textsOf(entry)?.stream ?? NO_STREAM_TEXTS,
    facts,
    onEvent: (json) => {
      if (!reading) return;
      reading.firstEventAt ??= performance.now();
      if (usage) note(reading, usage, json);
    },
  });
}

/** The verdict on a stream that has come to its end, or was stopped. */
export function judgedTexts({ texts }: StreamGuard, { guards, facts }: Guarded, entry: Entry) {
  const matter: Matter = { side: 'output', facts, json: null, tree: null, texts };
  return judged(guards.output, matter, resultsOf(entry).after_request_hooks);
}

const textsOf = ({ endpoint }: Entry) => (endpoint ? ENDPOINT_TEXTS[endpoint.id] : undefined);

function gathered(attempt: Attempt): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const fail = (error: AppError): void => reject(new FailedAttempt(attempt, error));
    const { contentEncoding } = readResponseHead(attempt.rawHeaders);
    const decoder = decoding(contentEncoding, UNPACKED_BYTES_MAX, (chunk) => chunks.push(chunk));
    attempt.attach({
      onChunk: (chunk) => {
        bytes += chunk.length;
        if (!decoder || bytes > ANSWER_BYTES_MAX) attempt.cancel(new AppError('upstream_protocol_error'));
        else decoder.write(chunk);
        return true;
      },
      onEnd: () => {
        if (decoder) decoder.end(() => resolve(Buffer.concat(chunks)));
        else fail(new AppError('upstream_protocol_error'));
      },
      onFail: fail,
    });
  });
}
