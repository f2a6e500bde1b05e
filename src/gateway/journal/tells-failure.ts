import type { Json } from '../../providers/endpoint.js';

/**
 * Whether an answer, or an event of a stream, is a report of failure, although its status was 200: in the words of chat completions and
 * Google (https://openrouter.ai/docs/api-reference/errors, https://cloud.google.com/apis/design/errors), of Anthropic
 * (https://docs.claude.com/en/docs/build-with-claude/streaming#error-events), and of responses
 * (https://platform.openai.com/docs/api-reference/responses-streaming/response/failed).
 */
export function tellsFailure({ error, type }: Json): boolean {
  return Boolean(error) || type === 'error' || type === 'response.failed';
}

/** Whether JSON may be such a report. Within a text of a model, the quote behind the word is escaped. */
export const mayTellFailure = (json: string | Buffer): boolean => json.includes('"error"');
