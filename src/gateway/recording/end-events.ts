import type { Json } from '../../providers/endpoint.js';

/**
 * Whether a response, or an event of a stream, reports a failure although its status was 200: in the format of chat completions and Google
 * (https://openrouter.ai/docs/api-reference/errors, https://cloud.google.com/apis/design/errors), of Anthropic
 * (https://docs.claude.com/en/docs/build-with-claude/streaming#error-events), and of responses
 * (https://platform.openai.com/docs/api-reference/responses-streaming/response/failed).
 */
export function reportsFailure({ error, type }: Json): boolean {
  return Boolean(error) || type === 'error' || type === 'response.failed';
}

/** Whether JSON may be such a report. Inside a model's text, the quote after the word is escaped. */
export const mayReportFailure = (json: string | Buffer): boolean => json.includes('"error"');

/** Events that end a stream: https://docs.claude.com/en/docs/build-with-claude/streaming, https://docs.cohere.com/docs/streaming */
const ENDS: ReadonlySet<unknown> = new Set(['message_stop', 'message-end']);
/** https://platform.openai.com/docs/api-reference/responses-streaming, and its streams of images and audio. */
const ENDS_OF_OPENAI =
  /^(?:response|image_generation|image_edit)\.(?:completed|incomplete)$|^(?:transcript\.text|speech\.audio)\.done$/;

/** Whether an event of a stream marks the response as complete. */
export function marksEnd({ type, choices, candidates, done }: Json): boolean {
  if (ENDS.has(type) || done === true) return true;
  if (typeof type === 'string' && ENDS_OF_OPENAI.test(type)) return true;
  return hasReason(choices, 'finish_reason') || hasReason(candidates, 'finishReason');
}

const hasReason = (choices: unknown, name: string): boolean =>
  Array.isArray(choices) &&
  choices.some((choice: Json | null) => typeof choice?.[name] === 'string' && choice[name] !== '');
