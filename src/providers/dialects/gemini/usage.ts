import type { Json } from '../../endpoint.js';
import { count, countOfModality, isObject } from '../../endpoints/reading.js';

/**
 * `usageMetadata` as the hub's `usage`; undefined where the provider told none. Tokens of the prompt contain cached
 * ones; what tools added to the prompt is counted beside it, and thoughts beside the answer. Should a total show that
 * thoughts are inside already, they are not added again.
 * https://ai.google.dev/api/generate-content#UsageMetadata
 */
export function usage(metadata: unknown): Json | undefined {
  if (!isObject(metadata)) return undefined;
  const prompt = count(metadata.promptTokenCount);
  if (prompt === null) return undefined;
  const input = prompt + tokens(metadata.toolUsePromptTokenCount);
  const answer = tokens(metadata.candidatesTokenCount);
  const thoughts = tokens(metadata.thoughtsTokenCount);
  const isInside = thoughts <= answer && metadata.totalTokenCount === input + answer;
  const output = isInside ? answer : answer + thoughts;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: tokens(metadata.cachedContentTokenCount),
      audio_tokens: countOfModality(metadata.promptTokensDetails, 'AUDIO'),
    },
    completion_tokens_details: {
      reasoning_tokens: thoughts,
      audio_tokens: countOfModality(metadata.candidatesTokensDetails, 'AUDIO'),
    },
  };
}

const tokens = (value: unknown): number => count(value) ?? 0;
