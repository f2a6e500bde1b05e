import { AppError } from '../../../common/errors/app-error.js';
import type { Json } from '../../endpoint.js';
import type { HubError } from '../../translation.js';

/** A status in OpenAI's words. https://platform.openai.com/docs/guides/error-codes */
const STATUSES: ReadonlyMap<number, Pick<HubError, 'type' | 'code'>> = new Map([
  [401, { type: 'authentication_error', code: 'invalid_api_key' }],
  [402, { type: 'insufficient_quota', code: 'insufficient_quota' }],
  [403, { type: 'permission_error', code: null }],
  [404, { type: 'not_found_error', code: null }],
  [408, { type: 'timeout_error', code: null }],
  [429, { type: 'rate_limit_error', code: 'rate_limit_exceeded' }],
  // A request or an answer had a token that Cohere's deny list has: https://docs.cohere.com/reference/chat
  [498, { type: 'invalid_request_error', code: 'content_filter' }],
  [504, { type: 'timeout_error', code: null }],
]);

const MESSAGE_CHARS_MAX = 4_096;

/** A refusal of Cohere: `{ message }`. Never throws. https://docs.cohere.com/v2/reference/errors */
export function cohereError(status: number, body: Json | null): HubError {
  const said = body?.message;
  const message =
    typeof said === 'string' && said !== '' ? said : `Cohere answered with the status ${status}.`;
  const known = STATUSES.get(status) ?? {
    type: status >= 400 && status < 500 ? 'invalid_request_error' : 'server_error',
    code: null,
  };
  return { message: message.slice(0, MESSAGE_CHARS_MAX), ...known, param: null };
}

/** What the hub knows and Cohere cannot do. */
export const unsupported = (parameter: string, detail: string): AppError =>
  new AppError('parameter_unsupported', { parameter, detail });
