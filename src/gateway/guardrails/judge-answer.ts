import { mapMaybePromise } from '../../common/maybe-promise.js';
import type { Json } from '../../providers/endpoint.js';
import type { ExchangeFacts } from '../types/exchange-facts.js';
import { note, noteWhole, nothingRead, readerFor, type Reading, UNREAD } from '../recording/reading.js';
import {
  errorOfProvider,
  reportedFailure,
  reportedStatus,
  ResponseFailure,
} from '../recording/reported-failure.js';
import { editedJson } from '../../common/json/edited-json.js';
import type { TranslatedBody } from '../translation/encode-body.js';
import { type EventFraming, framesOf, wholeResponse, type WholeAnswer } from '../framing/index.js';
import { translatedAnswer, unreadableAnswer } from '../translation/translated-answer.js';
import { TranslatedStream } from '../translation/translated-stream.js';
import { type PendingAnswer, passingFraming, streamGuard, textsOf } from './answering.js';
import { gathered } from './gathered-answer.js';
import { type GuardedRequest, judged } from './guard-request.js';
import { needsWhole, restoring } from './part-filters.js';
import type { Judgement, Matter } from './run-hooks.js';
import type { StreamGuard } from './stream-guard.js';
import { withoutLogprobs } from './stream-repeats.js';
import { judgedRefusal } from './judge-refusal.js';
import { type JudgedAnswer, withheld } from './judged-answer.js';
import { textsOfWholeBody } from './whole-texts.js';
import { rewriteTexts } from './texts/body-walk.js';
import { unread } from './texts/unread.js';

export const FAILED_STATUS = 246;
const JSON_TYPE = 'application/json; charset=utf-8';
const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** Whether a response must be held until it is whole, because of what guardrails may do with it. */
export function isJudgedWhole(
  { guards, hasFailed, facts }: GuardedRequest,
  answering: PendingAnswer,
): boolean {
  if (!hasAnswer(answering)) return false;
  const isOfConcern =
    guards.output.length > 0 || hasFailed || facts.placeholders.canRestore || !answering.isStrict;
  return isOfConcern && (passingFraming(answering) === null || needsWhole(guards.output));
}

const hasAnswer = ({ attempt: { status }, exchangeFacts }: PendingAnswer): boolean =>
  status >= 200 && status <= 299 && exchangeFacts.method !== 'HEAD';

/** Whether it is a stream that guardrails process while it passes. */
export function isGuardedStream(
  { guards, hasFailed, facts }: GuardedRequest,
  answering: PendingAnswer,
): boolean {
  return (
    hasAnswer(answering) &&
    passingFraming(answering) !== null &&
    (guards.output.length > 0 || hasFailed || facts.placeholders.canRestore)
  );
}

/** Reads a response to its end and judges it. Rejects with a `ResponseFailure` or an AppError when it cannot be passed on. */
export async function judgeAnswer(guarded: GuardedRequest, answering: PendingAnswer): Promise<JudgedAnswer> {
  const whole = await gathered(answering);
  const response = inClientsDialect(whole, answering);
  // The error of a stored object is not the failure of its retrieval.
  const mayFail =
    answering.exchangeFacts.method !== 'GET' && (answering.head.isJson || response.kind === 'json');
  const failure = mayFail ? reportedFailure(whole) : null;
  if (failure && response.kind !== 'events' && isFailedObject(failure, answering))
    return { ...(await judgedRefusal(response, guarded, answering)), reading: response.reading };
  if (failure) throw new ResponseFailure(errorOfProvider('answer'), UNREAD, reportedStatus(failure));
  const answer = await (response.kind === 'events'
    ? judgedStream(whole, response.framing, { guarded, answering })
    : judgedPlain(response, guarded, answering));
  return answer.isDenied ? withheld(answer, guarded, answering) : answer;
}

/**
 * An interaction or a response that failed is the object that the client created, and is passed like a refusal.
 * https://ai.google.dev/api/interactions-api and https://platform.openai.com/docs/api-reference/responses/object
 */
const isFailedObject = ({ id, status }: Json, { translated }: PendingAnswer): boolean =>
  translated === null && typeof id === 'string' && status === 'failed';

function judgedPlain(
  response: PlainAnswer,
  guarded: GuardedRequest,
  answering: PendingAnswer,
): JudgedAnswer | Promise<JudgedAnswer> {
  const { exchangeFacts } = answering;
  const { guards, facts } = guarded;
  const known = textsOf(exchangeFacts);
  const tree = known?.answer ?? null;
  const texts = tree ? textsOfWholeBody(response, known?.isPlain) : null;
  const matter: Matter = { side: 'output', facts, json: response.json, tree, texts };
  const judgement = judged(guards.output, matter, guarded.results.after_request_hooks);
  return mapMaybePromise(judgement, (one) => plainAnswer(response, one, { guarded, answering }));
}

interface JudgementInput {
  readonly guarded: GuardedRequest;
  readonly answering: PendingAnswer;
}

function plainAnswer(
  { json, contentType, bytes, reading, text }: PlainAnswer,
  { matter, isDenied, hasFailed, refusal }: Judgement,
  { guarded, answering }: JudgementInput,
): JudgedAnswer {
  const changed = withHookResults(matter.json && restored(matter, json), guarded, answering);
  const body = changed ? changedBody(bytes, { text, json, changed }) : changedText(bytes, text, matter);
  return {
    status: hasFailed || guarded.hasFailed ? FAILED_STATUS : answering.attempt.status,
    contentType,
    body,
    reading,
    isDenied,
    refusal,
    head: answering.head,
  };
}

interface ChangedAnswer extends Pick<PlainAnswer, 'json' | 'text'> {
  readonly changed: Json;
}

/** Drops a leading byte order mark. */
function changedBody(bytes: Buffer, { json, text, changed }: ChangedAnswer): Buffer {
  return changed === json || text === null ? bytes : editedJson(Buffer.from(text), json, changed);
}

function changedText(bytes: Buffer, text: string | null, { texts }: Matter): Buffer {
  const changed = texts?.unread ? undefined : texts?.every[0];
  return changed === undefined || changed === text ? bytes : Buffer.from(changed);
}

/** A plain response in the client's dialect. */
interface PlainAnswer extends TranslatedBody {
  readonly kind: 'json' | 'text';
  /** The body, parsed once for the meter and the checks; null if it is not an object. */
  readonly json: Json | null;
  /** Null if the bytes are not text. */
  readonly text: string | null;
  readonly reading: Reading;
}

/** The kind of a response, in the client's dialect: only this decides how its bytes are read. */
type AnswerContent = PlainAnswer | { readonly kind: 'events'; readonly framing: EventFraming };

function inClientsDialect(whole: Buffer, answering: PendingAnswer): AnswerContent {
  const { exchangeFacts, content, attempt, translated, head } = answering;
  const reading = nothingRead();
  if (translated && passingFraming(answering)) return { kind: 'events', framing: 'sse' };
  if (translated) {
    const { contentType, bytes } = translatedAnswer(attempt, whole, translated, reading);
    return { ...plain(wholeResponse(bytes)), contentType, bytes, reading };
  }
  const read = wholeResponse(whole);
  if (read.kind === 'events' && textsOf(exchangeFacts)?.answer) return read;
  const response = plain(read);
  meterPlain(response, whole, { exchangeFacts, content, reading });
  return { ...response, contentType: head.contentType ?? JSON_TYPE, bytes: whole, reading };
}

function meterPlain(
  { json }: Pick<PlainAnswer, 'json'>,
  whole: Buffer,
  {
    exchangeFacts,
    content,
    reading,
  }: Pick<PendingAnswer, 'exchangeFacts' | 'content'> & { readonly reading: Reading },
): void {
  const reader = readerFor(exchangeFacts.endpoint, content.json);
  if (reader && json) note(reading, reader, json);
  else if (reader) noteWhole(reading, reader, whole);
}

function plain(read: WholeAnswer): Pick<PlainAnswer, 'kind' | 'json' | 'text'> {
  if (read.kind === 'json') return { kind: 'json', json: read.json, text: read.text };
  return { kind: 'text', json: null, text: read.kind === 'text' ? read.text : null };
}

function withHookResults(
  json: Json | null,
  { results }: GuardedRequest,
  { isStrict }: PendingAnswer,
): Json | null {
  return json && !isStrict ? { ...json, hook_results: results } : json;
}

function restored({ json, tree, facts }: Matter, before: Json | null): Json | null {
  if (!json || !tree) return json;
  const changed = facts.placeholders.canRestore
    ? rewriteTexts(json, tree, ({ text }) => {
        const filter = restoring(facts);
        return filter.feed(text) + filter.end();
      })
    : json;
  return changed === before ? changed : withoutLogprobs(changed);
}

async function judgedStream(
  whole: Buffer,
  framing: EventFraming,
  { guarded, answering }: JudgementInput,
): Promise<JudgedAnswer> {
  const { exchangeFacts, attempt, translated, head } = answering;
  const reading = nothingRead();
  const guard = streamGuard(guarded, answering, {
    frames: framesOf(framing),
    reading: translated ? null : reading,
  });
  const stream = translated && new TranslatedStream(translated, reading);
  const body = stream ? Buffer.from(stream.feed(whole) + stream.end()) : whole;
  const passed = throughGuard(guard, body);
  if (stream?.error || reading.hasFailed) throw new ResponseFailure(errorOfProvider('stream'), reading);
  const judgement = await judgedTexts(guard, guarded, exchangeFacts);
  return {
    status: judgement.hasFailed || guarded.hasFailed ? FAILED_STATUS : attempt.status,
    contentType: typeOfStream(answering),
    body: Buffer.from(passed),
    reading,
    isDenied: guard.isDenied || judgement.isDenied,
    stoppedBy: guard.deniedBy,
    refusal: judgement.refusal,
    head,
  };
}

/** A stream keeps its provider's content type, right or wrong, because its framing is unchanged. */
function typeOfStream({ translated, head }: PendingAnswer): string {
  return translated || head.isEventStream ? EVENT_STREAM : (head.contentType ?? EVENT_STREAM);
}

function throughGuard(guard: StreamGuard, body: Buffer): string {
  try {
    return guard.feed(body) + guard.end();
  } catch {
    throw unreadableAnswer();
  }
}

/** The verdict on a stream that ended or was stopped. */
export function judgedTexts(
  guard: StreamGuard,
  { guards, facts, results }: GuardedRequest,
  exchangeFacts: ExchangeFacts,
) {
  const tree = textsOf(exchangeFacts)?.answer ?? null;
  const texts = guard.texts ?? unread('events');
  const matter: Matter = { side: 'output', facts, json: null, tree, texts };
  return judged(guards.output, matter, results.after_request_hooks);
}
