import { AppError } from '../../common/errors/app-error.js';
import type { UsageReader } from '../../providers/endpoint.js';
import type { Entry } from '../recording/entry.js';
import type { Trail } from '../recording/trail.js';
import { nothingRead, noteWhole, readerFor } from '../recording/metering.js';
import type { ActiveTranslation } from '../translation/outgoing.js';
import { translatedAnswer } from '../translation/translated-answer.js';
import type { Answer } from './answer.js';
import type { Attempt } from '../upstream/attempt.js';
import { FailedAttempt } from '../upstream/failed-attempt.js';
import type { Outcome } from '../routing/outcome.js';
import type { Reply } from '../types/reply.js';

/** A discarded response is read to its end, so that the connection can be reused; a longer or slower one is cut off. */
const DISCARDED_BYTES_MAX = 64 * 1024;
const DISCARDED_MS_MAX = 500;

/** Records a failed attempt as a row and frees its connection before another target is tried. */
export async function giveUp(entry: Entry, trail: Trail, { answer, thrown }: Outcome<Answer>): Promise<void> {
  if (answer) {
    const { attempt, target, content, judged, translated } = answer;
    attempt.recording?.drop();
    if (judged) attempt.partial = judged.reading;
    else await readDiscarded(attempt, readerFor(entry.endpoint, content.json), translated);
    const errorCode = judged?.isDenied ? 'guardrail_denied' : null;
    entry.addDiscarded(attempt, { target, trail }, { errorCode });
  } else if (thrown instanceof FailedAttempt) {
    const { attempt, error } = thrown;
    // The recording may have ended before the response was judged. Requests that wait for it must not wait for the next target's.
    attempt.recording?.drop();
    const { target } = attempt;
    if (target) entry.addDiscarded(attempt, { target, trail }, { errorCode: error.code });
  }
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
