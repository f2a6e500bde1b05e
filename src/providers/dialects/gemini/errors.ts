import type { Json } from '../../endpoint.js';
import { isObject, list, objectOf, textOrNull } from '../../endpoints/reading.js';
import type { HubError } from '../../translation.js';

/**
 * Error types by Google's status, https://cloud.google.com/apis/design/errors#handling_errors, or by the HTTP status if the body has none.
 */
const TYPES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  ['INVALID_ARGUMENT', 'invalid_request_error'],
  ['FAILED_PRECONDITION', 'invalid_request_error'],
  ['OUT_OF_RANGE', 'invalid_request_error'],
  ['UNAUTHENTICATED', 'authentication_error'],
  ['PERMISSION_DENIED', 'permission_error'],
  ['NOT_FOUND', 'not_found_error'],
  ['ABORTED', 'conflict_error'],
  ['ALREADY_EXISTS', 'conflict_error'],
  ['RESOURCE_EXHAUSTED', 'rate_limit_error'],
  ['DEADLINE_EXCEEDED', 'timeout_error'],
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [409, 'conflict_error'],
  [413, 'invalid_request_error'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
]);

/** Reasons that are more specific than the status: a wrong key is an `INVALID_ARGUMENT`. https://ai.google.dev/gemini-api/docs/api-key */
const TYPES_BY_REASON: ReadonlyMap<unknown, string> = new Map([
  ['API_KEY_INVALID', 'authentication_error'],
  ['API_KEY_SERVICE_BLOCKED', 'permission_error'],
]);

/**
 * A Google error, a `google.rpc.Status`, in the hub's format. `code` is the reason in Google's details, or else the name of its status; a
 * prompt that is too long has OpenAI's code for it, which clients look for. https://cloud.google.com/apis/design/errors
 */
export function googleError(status: number, body: Json | null): HubError {
  const error = objectOf(body?.error);
  const details = list(error.details).filter(isObject);
  const reason = first(details.map((detail) => detail.reason));
  const message = textOrNull(error.message) ?? `The provider returned status ${status}.`;
  return {
    message,
    type: TYPES_BY_REASON.get(reason) ?? TYPES.get(error.status) ?? TYPES.get(status) ?? 'server_error',
    code: isTooLong(message) ? 'context_length_exceeded' : (reason ?? textOrNull(error.status)),
    param: fieldOf(details),
  };
}

/** https://github.com/google-gemini/gemini-cli/issues/6678 */
const isTooLong = (message: string): boolean => /input token count.{0,40}exceeds the maximum/i.test(message);

/** The first field in a `google.rpc.BadRequest`. */
function fieldOf(details: readonly Json[]): string | null {
  const violations = details.flatMap((detail) => list(detail.fieldViolations)).filter(isObject);
  return first(violations.map(({ field }) => field));
}

const first = (values: readonly unknown[]): string | null =>
  values.map(textOrNull).find((value) => value !== null) ?? null;

/** Google's names of statuses. https://cloud.google.com/apis/design/errors#handling_errors */
const STATUS_NAMES: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [402, 'FAILED_PRECONDITION'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [408, 'DEADLINE_EXCEEDED'],
  [409, 'ABORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [500, 'INTERNAL'],
  [501, 'UNIMPLEMENTED'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
]);

const DETAIL = 'type.googleapis.com/google.rpc.';

/** An error of the gateway for clients of Google's API. */
export interface StatusError {
  readonly status: number;
  /** The gateway's own code. */
  readonly code: string;
  readonly message: string;
  readonly requestId: string;
  /** Seconds; null if waiting does not help, or if the wait is unknown. */
  readonly retryAfter: number | null;
}

/**
 * The same in Google's format. Clients read the wait from `RetryInfo`, and the gateway's code from `ErrorInfo`.
 * https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
 */
export function googleStatusError({ status, code, message, requestId, retryAfter }: StatusError): Json {
  const info = {
    '@type': `${DETAIL}ErrorInfo`,
    reason: code.toUpperCase(),
    domain: 'gatehouse',
    metadata: { code, request_id: requestId },
  };
  const wait = { '@type': `${DETAIL}RetryInfo`, retryDelay: `${retryAfter}s` };
  const name = STATUS_NAMES.get(status) ?? (status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL');
  return {
    error: { code: status, message, status: name, details: retryAfter === null ? [info] : [info, wait] },
  };
}
