import { AppError } from '../../common/errors/app-error.js';
import type { Entry } from '../recording/entry.js';
import { nothingRead, noteWhole, readerFor } from '../recording/metering.js';
import type { Translated } from '../translation/outgoing.js';
import { translatedAnswer } from '../translation/translated-answer.js';
import type { Answer } from '../delivery/answer.js';
import type { Attempt } from '../upstream/attempt.js';
import { discard, FailedAttempt } from '../upstream/retry.js';
import type { Outcome } from './outcome.js';

/** Another target is tried: what this one said becomes a row, and its connection is freed. */
export async function giveUp(entry: Entry, { answer, thrown }: Outcome<Answer>): Promise<void> {
  if (answer) {
    const { attempt, target, judged, translated } = answer;
    attempt.recording?.drop();
    if (judged) attempt.partial = judged.reading;
    else await putAway(entry, attempt, translated);
    entry.addDiscarded(attempt, target, judged?.isDenied ? 'guardrail_denied' : null);
  } else if (thrown instanceof FailedAttempt) {
    const { attempt, error } = thrown;
    // It may have come to its end before it was judged, and who waits for its answer must not wait for the next target's.
    attempt.recording?.drop();
    if (attempt.target) entry.addDiscarded(attempt, attempt.target, error.code);
  }
}

/** Reads an answer that nobody gets: it may tell what it cost. */
export async function putAway(
  { endpoint, body: asked }: Entry,
  attempt: Attempt,
  translated: Translated | null = null,
): Promise<void> {
  const body = await discard(attempt);
  const reader = readerFor(endpoint, asked);
  if (!reader || body.length === 0 || attempt.partial) return;
  const reading = (attempt.partial = nothingRead());
  if (translated && attempt.status < 400) readTranslated(attempt, body, translated, reading);
  else noteWhole(reading, reader, body);
}

/** What cannot be read tells nothing: it is discarded all the same. */
function readTranslated(...told: Parameters<typeof translatedAnswer>): void {
  try {
    translatedAnswer(...told);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}
