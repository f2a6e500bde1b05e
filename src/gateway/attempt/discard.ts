import { AppError } from '../../common/errors/app-error.js';
import type { UsageReader } from '../../providers/endpoint.js';
import type { DiscardedAttempt } from '../recording/attempt-reservation.js';
import { noteWhole, nothingRead, readerFor, type Reading, UNREAD } from '../recording/reading.js';
import type { ActiveTranslation } from '../translation/outgoing.js';
import { translatedAnswer } from '../translation/translated-answer.js';
import type { Answer } from './answer.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import type { AnsweredAttempt } from '../types/attempt-outcome.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { ExchangeFacts } from '../types/exchange-facts.js';
import type { Reply } from '../types/reply.js';

/** A discarded response is read to its end, so that the connection can be reused; a longer or slower one is cut off. */
const DISCARDED_BYTES_MAX = 64 * 1024;
const DISCARDED_MS_MAX = 500;

/** Records a try that is not passed on, and drops its response from the cache. Does nothing for a try that is recorded. */
export function settleDiscarded(
  { attempt, reservation, cacheFill }: StartedAttempt,
  trail: AttemptTrail,
  discarded: DiscardedAttempt,
): void {
  cacheFill?.release();
  reservation.settleDiscarded(attempt, trail, discarded);
}

/** Ends a response that is not passed on, records it, and frees its connection before another target is tried. */
export async function discardAnswer(
  { endpoint }: Pick<ExchangeFacts, 'endpoint'>,
  { answer, trail }: AnsweredAttempt<Answer>,
): Promise<void> {
  const { content, judged, translated } = answer;
  answer.cacheFill?.release();
  const reading = judged
    ? judged.reading
    : await readDiscarded(answer, readerFor(endpoint, content.json), translated);
  const errorCode = judged?.isDenied ? 'guardrail_denied' : null;
  settleDiscarded(answer, trail, { errorCode, reading });
}

/** Reads a discarded response, because it may report usage. */
export async function readDiscarded(
  { attempt, reservation }: Pick<StartedAttempt, 'attempt' | 'reservation'>,
  reader: UsageReader | null,
  translated: ActiveTranslation | null = null,
): Promise<Reading> {
  const body = await discard(attempt);
  if (!reader || body.length === 0 || reservation.partial !== UNREAD) return reservation.partial;
  const reading = nothingRead();
  if (translated && attempt.status < 400) readTranslated(attempt, body, translated, reading);
  else noteWhole(reading, reader, body);
  return reading;
}

/** An unreadable response reports no usage. */
function readTranslated(...answer: Parameters<typeof translatedAnswer>): void {
  try {
    translatedAnswer(...answer);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}

/** Reads a discarded response up to a limit of size and time. */
function discard(reply: Reply): Promise<Buffer> {
  return new Promise((resolve) => {
    let bytes = 0;
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => reply.cancel(), DISCARDED_MS_MAX);
    const done = (): void => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    };
    reply.attach({
      onChunk: (chunk) => {
        bytes += chunk.length;
        if (bytes <= DISCARDED_BYTES_MAX) chunks.push(chunk);
        else reply.cancel();
        return true;
      },
      onEnd: done,
      onFail: done,
    });
  });
}
