import type { ClientRequest } from '../../common/http/messages.js';
import type { ExchangeFacts } from '../types/exchange-facts.js';
import type { AnswerFrames, EventFraming } from '../framing/index.js';
import type { ActiveTranslation } from '../translation/outgoing.js';
import type { RequestContent } from '../types/content.js';
import type { Attempt } from '../upstream/attempt.js';
import type { ResponseHead } from '../upstream/forwarded-headers.js';
import { note, readerFor, type Reading } from '../recording/reading.js';
import type { GuardedRequest } from './guard-request.js';
import { StreamGuard } from './stream-guard.js';
import { coverageOf } from './covered/coverage.js';
import { WHOLE_EVENTS } from './texts/endpoint-texts.js';
import type { EndpointTexts } from './texts/text-tree.js';

/** A response whose head has arrived. */
export interface PendingAnswer {
  readonly request: ClientRequest;
  readonly exchangeFacts: ExchangeFacts;
  /** The request that it belongs to. */
  readonly content: RequestContent;
  readonly attempt: Attempt;
  readonly head: ResponseHead;
  readonly translated: ActiveTranslation | null;
  /** The client accepts only OpenAI's own fields in the response. */
  readonly isStrict: boolean;
}

/**
 * The framing of a response that passes event by event, by its head; null for one that is held until it is whole and examined by its bytes
 * (`wholeAnswer`). The request's parameters do not decide this. A wrong content type costs time, not safety: a decoder accepts only its own
 * framing.
 */
export function passingFraming({
  head,
  translated,
  exchangeFacts,
  content,
}: PendingAnswer): EventFraming | null {
  if (translated) return translated.context.isStreamed && !head.isJson ? 'sse' : null;
  if (head.isEventStream) return 'sse';
  const isArray = head.isJson && content.isStreamed && exchangeFacts.endpoint?.id === 'generate-content';
  return isArray ? 'json-array' : null;
}

/** The places of a response's texts; absent where it is not read. */
export const textsOf = (exchangeFacts: ExchangeFacts): EndpointTexts | undefined =>
  coverageOf(exchangeFacts).texts;

/** Input of a stream's guard. */
interface GuardedFrames {
  readonly frames: AnswerFrames;
  /** Filled by its meter; null when another one reads. */
  readonly reading: Reading | null;
}

/** The guard of a streamed response. */
export function streamGuard(
  { guards, facts }: GuardedRequest,
  { exchangeFacts, content, translated, head }: PendingAnswer,
  { frames, reading }: GuardedFrames,
): StreamGuard {
  const reader = readerFor(exchangeFacts.endpoint, content.json);
  const { texts, isListing = false } = coverageOf(exchangeFacts);
  return new StreamGuard({
    hooks: guards.output,
    texts: texts?.stream ?? WHOLE_EVENTS,
    isListing,
    facts,
    frames,
    contentType: translated ? null : head.contentType,
    onEvent: (json) => {
      if (!reading) return;
      reading.firstEventAt ??= performance.now();
      if (reader) note(reading, reader, json);
    },
  });
}
