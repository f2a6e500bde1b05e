import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import type { HubError } from '../../translation.js';

/** OpenAI's type and code of an Anthropic error: https://platform.openai.com/docs/guides/error-codes */
interface AnthropicErrorNames {
  readonly type: string;
  readonly code: string | null;
}

const words = (type: string, code: string | null = null): AnthropicErrorNames => ({ type, code });

/** https://platform.claude.com/docs/en/api/errors */
const TYPES: ReadonlyMap<unknown, AnthropicErrorNames> = new Map([
  ['invalid_request_error', words('invalid_request_error')],
  ['authentication_error', words('authentication_error', 'invalid_api_key')],
  ['billing_error', words('insufficient_quota', 'insufficient_quota')],
  ['permission_error', words('permission_error')],
  ['not_found_error', words('not_found_error')],
  ['conflict_error', words('conflict_error')],
  ['request_too_large', words('invalid_request_error', 'request_too_large')],
  ['rate_limit_error', words('rate_limit_error', 'rate_limit_exceeded')],
  ['timeout_error', words('timeout_error')],
  ['api_error', words('server_error')],
  ['overloaded_error', words('server_error', 'overloaded')],
]);

/** The error type of a status, for bodies without one. */
const STATUSES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [409, 'conflict_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
]);

const MESSAGE_CHARS_MAX = 4_096;

/** A prompt that is too long has no code of its own, and agents shorten their history on OpenAI's code. */
const TOO_LONG = /prompt is too long|exceeds? the context (window|limit)/i;

/** An Anthropic error: `{ type: "error", error: { type, message, details } }`. Never throws. */
export function anthropicError(status: number, body: Json | null): HubError {
  const error = isObject(body?.error) ? body.error : {};
  const message = typeof error.message === 'string' && error.message !== '' ? error.message : null;
  const { type, code } = TYPES.get(error.type) ?? TYPES.get(typeOf(status)) ?? words('server_error');
  return {
    message: (message ?? `Anthropic returned status ${status}.`).slice(0, MESSAGE_CHARS_MAX),
    type,
    code: codeOf(error, message) ?? code,
    param: null,
  };
}

/** An error inside a stream, which has no status of its own. */
export function anthropicStreamError(data: Json): HubError {
  return anthropicError(500, data);
}

function typeOf(status: number): string {
  return STATUSES.get(status) ?? (status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error');
}

function codeOf({ details }: Json, message: string | null): string | null {
  if (message !== null && TOO_LONG.test(message)) return 'context_length_exceeded';
  return isObject(details) && typeof details.error_code === 'string' ? details.error_code : null;
}
