import { LimitFault } from '../../gateway/ports.js';

/**
 * Sends one call about several counters. If the store rejects the call as a whole, without effect, each counter is sent separately, so that
 * one bad counter does not block the others. `isAboutCounter` distinguishes such a rejection from an unavailable store, for which this
 * rejects.
 */
export async function answerApart<Call, Answer>(
  calls: readonly Call[],
  send: (calls: readonly Call[]) => Promise<readonly Answer[]>,
  isAboutCounter: (error: unknown) => boolean,
): Promise<readonly (Answer | LimitFault)[]> {
  try {
    return await send(calls);
  } catch (error) {
    if (!isAboutCounter(error)) throw error;
    if (calls.length === 1) return [new LimitFault(error)];
  }
  const answers: (Answer | LimitFault)[] = [];
  for (const call of calls) answers.push(...(await answerApart([call], send, isAboutCounter)));
  return answers;
}
