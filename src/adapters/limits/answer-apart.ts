import { LimitFault } from '../../gateway/ports.js';

/**
 * Sends a call about several counters. Where the store refuses the call and has done nothing of it, each counter is asked about alone, so that
 * one that fails does not keep the others from an answer. `isAboutCounter` tells such a refusal from a store that is unavailable,
 * for which this rejects.
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
