import type { Json } from '../../endpoint.js';
import type { HubError } from '../../translation.js';

/** Anthropic's error types by status. https://platform.claude.com/docs/en/api/errors */
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

/** The same by the hub's type, for streams, whose errors have no status. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['invalid_request_error', 'invalid_request_error'],
  ['authentication_error', 'authentication_error'],
  ['permission_error', 'permission_error'],
  ['not_found_error', 'not_found_error'],
  ['conflict_error', 'conflict_error'],
  ['budget_error', 'billing_error'],
  ['insufficient_quota', 'billing_error'],
  ['rate_limit_error', 'rate_limit_error'],
  ['timeout_error', 'timeout_error'],
]);

/** An error in the format of Anthropic's clients. */
export function messagesError({ message }: HubError, status: number): Json {
  const isClients = status >= 400 && status < 500;
  return body(STATUSES.get(status) ?? (isClients ? 'invalid_request_error' : 'api_error'), message);
}

/** The error that ends a stream, in the format of Anthropic's clients. */
export function messagesStreamError({ message, type, code }: HubError): Json {
  return body(code === 'overloaded' ? 'overloaded_error' : (TYPES.get(type) ?? 'api_error'), message);
}

function body(type: string, message: string): Json {
  return { type: 'error', error: { type, message } };
}
