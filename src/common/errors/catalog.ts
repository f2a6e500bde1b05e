import type { ErrorSpec } from './error-spec.js';
import { SIGN_IN_ERRORS } from './sign-in-errors.js';

/** Every error of the gateway: code, status, and message. */
export const ERRORS = {
  invalid_request: { status: 400, type: 'invalid_request_error', message: '{detail}' },
  invalid_json: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request body is not valid JSON: {detail}.',
  },
  path_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request path is invalid: {detail}.',
  },
  header_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The header "{header}" is invalid: {detail}.',
  },
  config_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The config is invalid: {detail}.',
  },
  no_target: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request meets no condition of its config, and the config names no default target.',
  },
  header_duplicate: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The header "{header}" was sent more than once. Send it once.',
  },
  body_not_allowed: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A {method} request must not have a body. Send it without one.',
  },
  custom_host_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The custom host or other URL is invalid: {detail}.',
  },
  provider_missing: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'No provider was chosen{hint}. Send x-gateway-virtual-key, or x-gateway-provider with Authorization, or a model written as "@virtual-key/model".',
  },
  provider_unknown: {
    status: 400,
    type: 'invalid_request_error',
    message: 'There is no provider "{provider}"{hint}. GET /v1/provider-catalog lists all {count}.',
  },
  credential_required: { status: 400, type: 'invalid_request_error', message: '{detail}' },
  credential_missing: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'The target {target} of the config names the provider "{provider}" without a key, and it is not clear that the key of the request is for that provider. Give the target a virtual key or a key of its own, or send x-gateway-provider.',
  },
  gateway_key_in_authorization: {
    status: 400,
    type: 'invalid_request_error',
    message:
      "Authorization carries a gateway key where the provider's own key belongs. It was not sent on. Put the gateway key into x-gateway-api-key and the provider's key into Authorization.",
  },
  confirmation_required: { status: 400, type: 'invalid_request_error', message: '{detail}' },
  scope_unknown: {
    status: 400,
    type: 'invalid_request_error',
    message: 'There is no scope "{scope}"{hint}.',
  },
  parameter_unsupported: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The parameter "{parameter}" cannot be used here: {detail}.',
    elsewhere: true,
  },
  endpoint_unsupported: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The provider "{provider}" has no {endpoint}. {detail}',
    elsewhere: true,
  },
  websocket_unsupported: {
    status: 426,
    type: 'invalid_request_error',
    message: 'This WebSocket cannot be opened. {detail} Send the request over HTTP, as POST {path}.',
    elsewhere: true,
  },
  unauthenticated: {
    status: 401,
    type: 'authentication_error',
    message: '{problem}. Send a valid key, which begins with gw_, in the header x-gateway-api-key.',
  },
  api_key_ended: {
    status: 401,
    type: 'authentication_error',
    message: 'This API key {ended}. Ask an administrator for a new one.',
  },
  provider_key_misplaced: {
    status: 401,
    type: 'authentication_error',
    message:
      "The header {header} holds a provider's key. Send a gateway key there, which begins with gw_, and the provider's key in Authorization.",
  },
  budget_exceeded: {
    status: 402,
    type: 'budget_error',
    message:
      'The budget of {subject} has {left} left, and this request may use up to {needed}. Lower max_tokens, or raise the budget.',
  },
  price_unknown: {
    status: 402,
    type: 'budget_error',
    message:
      'The model "{model}" has no known price, so it cannot be used with the dollar budget of {subject}. Add a price for it, or use a token budget.',
  },
  usage_unknown: {
    status: 402,
    type: 'budget_error',
    message:
      'The gateway cannot measure what {detail} uses, which {reader} requires. Use a credential without dollar or token limits.',
  },
  forbidden: {
    status: 403,
    type: 'permission_error',
    message: 'This credential does not allow the request: {detail}.',
  },
  custom_host_blocked: {
    status: 403,
    type: 'permission_error',
    message:
      'This gateway may not call {address}. Public addresses are open over https on ports 80 and 443. For another, ask the operator to add it to GATEHOUSE_EGRESS_ALLOW.',
  },
  provider_not_allowed: {
    status: 403,
    type: 'permission_error',
    message:
      'This organization does not allow the provider "{provider}". An owner can change that in its settings.',
  },
  model_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: '{request} is not allowed for this credential{hint}. GET /v1/models lists the allowed models.',
  },
  not_found: { status: 404, type: 'not_found_error', message: 'There is no such {resource}.' },
  not_built: { status: 501, type: 'server_error', message: '{detail}', doNotRetry: true },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'The method {method} is not allowed here. Allowed: {allowed}.{hint}',
  },
  request_timeout: {
    status: 408,
    type: 'timeout_error',
    message: 'The provider{where} did not respond within {timeoutMs} ms ({phase}).',
    elsewhere: true,
  },
  ...SIGN_IN_ERRORS,
  body_search_unavailable: {
    status: 409,
    type: 'conflict_error',
    message: 'Bodies cannot be searched: {detail}.',
  },
  conflict: { status: 409, type: 'conflict_error', message: '{detail}' },
  last_owner: {
    status: 409,
    type: 'conflict_error',
    message: 'The last owner of an organization cannot be removed. Make another user owner first.',
  },
  invite_gone: {
    status: 410,
    type: 'not_found_error',
    message: 'This invite is used, cancelled or expired. Ask the user who invited you for another one.',
  },
  precondition_failed: {
    status: 412,
    type: 'conflict_error',
    message: 'The resource was changed after you read it. Read it again, and send its ETag in If-Match.',
  },
  precondition_required: { status: 428, type: 'conflict_error', message: '{detail}' },
  body_too_large: {
    status: 413,
    type: 'invalid_request_error',
    message: 'The request body is larger than {limitBytes} bytes, the limit of this endpoint.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    message: 'The content type "{contentType}" is not supported here; send application/json.',
  },
  body_unreadable: {
    status: 415,
    type: 'invalid_request_error',
    message: 'The request body cannot be read, which {reader} requires: {detail}.',
  },
  idempotency_key_reused: {
    status: 422,
    type: 'invalid_request_error',
    message: 'This Idempotency-Key was used for another request. Send a new one for each different request.',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    message: 'The rate limit of {subject} is reached{rate}.',
  },
  concurrency_limited: {
    status: 429,
    type: 'rate_limit_error',
    message:
      'The concurrency limit of {subject} is reached: {limit} requests are running. Try again when one has finished.',
  },
  headers_too_large: {
    status: 431,
    type: 'invalid_request_error',
    message:
      'The request headers exceed 16 KiB or 1,000 fields. Shorten them, and save a large config to send its slug instead.',
  },
  guardrail_denied: {
    status: 446,
    type: 'hooks_failed',
    message: 'The guardrail "{guardrail}" denied the {side}. The results of its checks are in hook_results.',
  },
  guardrail_inapplicable: {
    status: 403,
    type: 'permission_error',
    message:
      'The guardrail "{guardrail}" checks text, and {what} cannot be checked, so the request is refused.',
  },
  internal_error: {
    status: 500,
    type: 'server_error',
    message: 'The gateway failed. Give the request id to the operator, whose log has the cause.',
  },
  credential_unusable: {
    status: 500,
    type: 'server_error',
    message: 'The stored credential of this virtual key cannot be decrypted. Enter it again.',
    elsewhere: true,
    doNotRetry: true,
  },
  secret_unusable: {
    status: 500,
    type: 'server_error',
    message:
      'The secret reference "{reference}" cannot be used: {detail}. Correct the reference or the secret that it names.',
    elsewhere: true,
    doNotRetry: true,
  },
  workload_identity_address_refused: {
    status: 403,
    type: 'permission_error',
    message:
      'The identity of the machine must not be sent to {address}. Ask the operator to add the address to GATEHOUSE_WORKLOAD_IDENTITY_ADDRESSES.',
    elsewhere: true,
  },
  workload_identity_refused: {
    status: 403,
    type: 'permission_error',
    message:
      'This organization must not use the identity of the machine. Ask the operator to add it to GATEHOUSE_WORKLOAD_IDENTITY_ORGANIZATIONS.',
    elsewhere: true,
  },
  upstream_error: {
    status: 502,
    type: 'upstream_error',
    message: 'The request to the provider{where} failed: {detail}.',
    elsewhere: true,
  },
  upstream_protocol_error: {
    status: 502,
    type: 'upstream_error',
    message:
      'The provider{where} sent a response that is not valid HTTP. Try again, or contact the provider if it persists.',
    elsewhere: true,
  },
  overloaded: {
    status: 503,
    type: 'server_error',
    message: 'The gateway is overloaded. Try again in a few seconds.',
  },
  query_timeout: {
    status: 503,
    type: 'server_error',
    message:
      'The query took longer than {seconds} s. Use a shorter time range, or leave out what is not pre-aggregated: filters by cost, time, tokens or trace, other metadata keys, and orders by percentile.',
    doNotRetry: true,
  },
  auth_unavailable: {
    status: 503,
    type: 'server_error',
    message: 'The key cannot be checked because the database is unavailable. Try again in a few seconds.',
  },
  secret_unavailable: {
    status: 503,
    type: 'server_error',
    message:
      'The secret reference "{reference}" has no value yet, because {detail}. Try again in a few seconds.',
    elsewhere: true,
  },
  limits_unavailable: {
    status: 503,
    type: 'server_error',
    message:
      'The limits of {subject} cannot be checked, because their store is unavailable. Try again in a few seconds.',
  },
  audit_unavailable: {
    status: 503,
    type: 'server_error',
    message:
      'The change was not made, because the audit log could not record it. Try again in a few seconds.',
  },
  log_capacity_exhausted: {
    status: 503,
    type: 'server_error',
    message:
      'The request log is full, and this organization requires complete logs. Ask the operator to free disk space.',
  },
  log_inbox_full: {
    status: 503,
    type: 'server_error',
    message:
      'Too many ingested logs wait for the background process ({detail}). Nothing of this request was stored. Send it again later.',
  },
  database_unavailable: {
    status: 503,
    type: 'server_error',
    message: 'The administration needs the database, which is unavailable. Try again in a few seconds.',
  },
  database_busy: {
    status: 503,
    type: 'server_error',
    message:
      'All database connections of this process are in use by other requests. Try again in a few seconds.',
  },
  bucket_unavailable: {
    status: 503,
    type: 'server_error',
    message: 'Object storage is unavailable. Try again in a few seconds.',
  },
  administration_unavailable: {
    status: 503,
    type: 'server_error',
    message: 'The administration is unavailable: {detail}.',
  },
  draining: {
    status: 503,
    type: 'server_error',
    message: 'This instance is shutting down. Try again; another instance will serve it.',
  },
  upstream_timeout: {
    status: 504,
    type: 'timeout_error',
    message: 'The provider{where} did not respond within {timeoutMs} ms ({phase}).',
    elsewhere: true,
  },
  loop_detected: {
    status: 508,
    type: 'invalid_request_error',
    message:
      'The request already passed through this gateway: the base URL of the provider leads back to it.',
  },
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS);
