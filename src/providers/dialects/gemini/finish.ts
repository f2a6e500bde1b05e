import type { Json } from '../../endpoint.js';

/**
 * Gemini's reasons to stop that are not simply the end, in the hub's words. All others, failed calls
 * (`MALFORMED_FUNCTION_CALL` and the like) among them, are `stop`: the hub has no word for them.
 * https://ai.google.dev/api/generate-content#FinishReason and, for `MODEL_ARMOR`,
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#FinishReason
 */
const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
]);

/** Gemini says `STOP` after calls too. */
export function finishReason(reason: unknown, hasCalls: boolean): string {
  return REASONS.get(reason) ?? (hasCalls ? 'tool_calls' : 'stop');
}

/**
 * Why nothing was answered, in the provider's words where it has some: a blocked prompt has no candidates at all.
 * https://ai.google.dev/api/generate-content#PromptFeedback
 */
export function blocked({ blockReason, blockReasonMessage }: Json): string | null {
  if (typeof blockReason !== 'string') return null;
  if (typeof blockReasonMessage === 'string' && blockReasonMessage !== '') return blockReasonMessage;
  return `The prompt was blocked: ${blockReason}.`;
}
