import type { Json } from '../../endpoint.js';

/**
 * Gemini's finish reasons other than an ordinary end, in the hub's format. All others, including failed calls (`MALFORMED_FUNCTION_CALL`
 * and the like), are `stop`: the hub has no counterpart. https://ai.google.dev/api/generate-content#FinishReason and, for `MODEL_ARMOR`,
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

/** Gemini reports `STOP` after calls too. */
export function fromGeminiFinishReason(reason: unknown, hasCalls: boolean): string {
  return REASONS.get(reason) ?? (hasCalls ? 'tool_calls' : 'stop');
}

/**
 * The reason for a blocked prompt, in the provider's words if there are any: such a response has no candidates.
 * https://ai.google.dev/api/generate-content#PromptFeedback
 */
export function promptBlockReason({ blockReason, blockReasonMessage }: Json): string | null {
  if (typeof blockReason !== 'string') return null;
  if (typeof blockReasonMessage === 'string' && blockReasonMessage !== '') return blockReasonMessage;
  return `The prompt was blocked: ${blockReason}.`;
}
