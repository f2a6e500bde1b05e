import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';

/**
 * `logprobsResult` as the hub's `logprobs`; null without one. Chosen and top candidates are two lists of equal length.
 * https://ai.google.dev/api/generate-content#LogprobsResult
 */
export function logprobs(result: unknown): Json | null {
  if (!isObject(result)) return null;
  const top = list(result.topCandidates);
  const content = list(result.chosenCandidates).flatMap((chosen, position) => {
    const token = tokenOf(chosen);
    return token ? [{ ...token, top_logprobs: alternatives(top[position]) }] : [];
  });
  return content.length > 0 ? { content, refusal: null } : null;
}

const alternatives = (step: unknown): Json[] =>
  list(isObject(step) ? step.candidates : null)
    .map(tokenOf)
    .filter((token) => token !== null);

function tokenOf(candidate: unknown): Json | null {
  if (!isObject(candidate)) return null;
  const { token, logProbability } = candidate;
  if (typeof token !== 'string' || typeof logProbability !== 'number') return null;
  return { token, logprob: logProbability, bytes: [...Buffer.from(token)] };
}
