import { AppError } from '../../common/errors/app-error.js';
import type { UsageReader } from '../../providers/endpoint.js';
import type { Entry } from '../recording/entry.js';
import { nothingRead, noteWhole, readerFor } from '../recording/metering.js';
import type { ActiveTranslation } from '../translation/outgoing.js';
import { translatedAnswer } from '../translation/translated-answer.js';
import type { Answer } from './answer.js';
import type { Attempt } from '../upstream/attempt.js';
import type { AnsweredAttempt } from '../types/attempt-outcome.js';
import type { Reply } from '../types/reply.js';

/** A discarded response is read to its end, so that the connection can be reused; a longer or slower one is cut off. */
const DISCARDED_BYTES_MAX = 64 * 1024;
const DISCARDED_MS_MAX = 500;

/** Ends a response that is not passed on, records it, and frees its connection before another target is tried. */
export async function discardAnswer(entry: Entry, { answer, trail }: AnsweredAttempt<Answer>): Promise<void> {
  const { attempt, target, content, judged, translated } = answer;
  attempt.recording?.drop();
  if (judged) attempt.partial = judged.reading;
  else await readDiscarded(attempt, readerFor(entry.endpoint, content.json), translated);
  const errorCode = judged?.isDenied ? 'guardrail_denied' : null;
  entry.addDiscarded(attempt, { target, trail }, { errorCode });
}

/** Reads a discarded response, because it may report usage. */
export async function readDiscarded(
  attempt: Attempt,
  reader: UsageReader | null,
  translated: ActiveTranslation | null = null,
): Promise<void> {
  const body = await discard(attempt);
  if (!reader || body.length === 0 || attempt.partial) return;
  const reading = (attempt.partial = nothingRead());
  if (translated && attempt.status < 400) readTranslated(attempt, body, translated, reading);
  else noteWhole(reading, reader, body);
}

/** An unreadable response reports no usage. */
function readTranslated(...told: Parameters<typeof translatedAnswer>): void {
  try {
    translatedAnswer(...told);
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
