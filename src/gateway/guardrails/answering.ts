import type { Entry } from '../recording/entry.js';
import type { AnswerFrames, EventFraming } from '../translation/framing/index.js';
import type { ActiveTranslation } from '../translation/outgoing.js';
import type { Content } from '../types/content.js';
import type { Attempt } from '../upstream/attempt.js';
import type { ResponseHead } from '../upstream/response-headers.js';
import { note, readerFor, type Reading } from '../recording/metering.js';
import type { GuardedRequest } from './guard-request.js';
import { StreamGuard } from './stream-guard.js';
import { ENDPOINT_TEXTS, WHOLE_EVENTS } from './texts/endpoint-texts.js';

/** An answer whose head has come. */
export interface PendingAnswer {
  readonly entry: Entry;
  /** The request that it answers. */
  readonly content: Content;
  readonly attempt: Attempt;
  readonly head: ResponseHead;
  readonly translated: ActiveTranslation | null;
  /** The client wants nothing in the answer that OpenAI's shape has not. */
  readonly isStrict: boolean;
}

/**
 * How an answer is framed that passes event by event, by its head; null for one that is held until it is whole, and whose bytes say what
 * it is (`wholeAnswer`). What the request asked for decides nothing, and a wrong content type costs time, not safety: a decoder takes
 * nothing but its own framing.
 */
export function passingFraming({ head, translated, entry, content }: PendingAnswer): EventFraming | null {
  if (translated) return translated.context.isStreamed && !head.isJson ? 'sse' : null;
  if (head.isEventStream) return 'sse';
  const isArray = head.isJson && content.isStreamed && entry.endpoint?.id === 'generate-content';
  return isArray ? 'json-array' : null;
}

export const textsOf = ({ endpoint }: Entry) => (endpoint ? ENDPOINT_TEXTS[endpoint.id] : undefined);

/** What a guard of a stream is given. */
interface GuardedFrames {
  readonly frames: AnswerFrames;
  /** What its meter fills; null where another one reads. */
  readonly reading: Reading | null;
}

/** The guard of an answer's stream. */
export function streamGuard(
  { guards, facts }: GuardedRequest,
  { entry, content }: PendingAnswer,
  { frames, reading }: GuardedFrames,
): StreamGuard {
  const reader = readerFor(entry.endpoint, content.json);
  return new StreamGuard({
    hooks: guards.output,
    texts: textsOf(entry)?.stream ?? WHOLE_EVENTS,
    facts,
    frames,
    onEvent: (json) => {
      if (!reading) return;
      reading.firstEventAt ??= performance.now();
      if (reader) note(reading, reader, json);
    },
  });
}
