import type { Json } from '../../endpoint.js';
import type { HeaderOf, HubError } from '../../translation.js';

/** OpenAI's type and code of an error: https://platform.openai.com/docs/guides/error-codes */
interface BedrockErrorNames {
  readonly type: string;
  readonly code: string | null;
}

const words = (type: string, code: string | null = null): BedrockErrorNames => ({ type, code });

const WRONG_CREDENTIAL = words('authentication_error', 'invalid_api_key');

/**
 * https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html, and those that every AWS service has:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/CommonErrors.html
 */
const TYPES: ReadonlyMap<string, BedrockErrorNames> = new Map([
  ['AccessDeniedException', words('permission_error')],
  ['ConflictException', words('conflict_error')],
  ['ExpiredTokenException', WRONG_CREDENTIAL],
  ['IncompleteSignature', WRONG_CREDENTIAL],
  ['InternalFailure', words('server_error')],
  ['InternalServerException', words('server_error')],
  ['InvalidSignatureException', WRONG_CREDENTIAL],
  ['MissingAuthenticationTokenException', WRONG_CREDENTIAL],
  ['ModelErrorException', words('server_error')],
  ['ModelNotReadyException', words('server_error', 'overloaded')],
  ['ModelStreamErrorException', words('server_error')],
  ['ModelTimeoutException', words('timeout_error')],
  ['ResourceNotFoundException', words('not_found_error')],
  ['ServiceQuotaExceededException', words('rate_limit_error', 'insufficient_quota')],
  ['ServiceUnavailableException', words('server_error', 'overloaded')],
  ['ThrottlingException', words('rate_limit_error', 'rate_limit_exceeded')],
  ['UnrecognizedClientException', WRONG_CREDENTIAL],
  ['ValidationException', words('invalid_request_error')],
]);

/** The error type of a status, for bodies without one. */
const STATUSES: ReadonlyMap<number, string> = new Map([
  [401, 'UnrecognizedClientException'],
  [403, 'AccessDeniedException'],
  [404, 'ResourceNotFoundException'],
  [408, 'ModelTimeoutException'],
  [409, 'ConflictException'],
  [424, 'ModelErrorException'],
  [429, 'ThrottlingException'],
  [503, 'ServiceUnavailableException'],
]);

const MESSAGE_CHARS_MAX = 4_096;

/** Prompts that are too long have no code of their own, and agents shorten their history on OpenAI's code. */
const TOO_LONG =
  /(input|prompt) is too long|too many input tokens|exceeds? the (maximum )?(context|model'?s? maximum)/i;

/** A wrong credential is a 403 like a missing permission; without a type, only the text distinguishes them. */
const CREDENTIAL =
  /security token included in the request|request signature we calculated|Signature expired/i;

/**
 * A Bedrock error: `{ "message" }`, with its type in a header, or in `__type` as set by a proxy or an old protocol. Never throws.
 * https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html#operation-error-serialization
 */
export function bedrockError(status: number, body: Json | null, header?: HeaderOf): HubError {
  const message = messageOf(body);
  const named = TYPES.get(typeName(header?.('x-amzn-errortype'))) ?? TYPES.get(typeName(body?.__type));
  const { type, code } = named ?? wordsOf(status, message);
  return {
    message: (message ?? `Bedrock returned status ${status}.`).slice(0, MESSAGE_CHARS_MAX),
    type,
    code: message !== null && TOO_LONG.test(message) ? 'context_length_exceeded' : code,
    param: null,
  };
}

/** An exception inside a stream: the event is its name, `throttlingException`. */
export function bedrockStreamError(event: string, data: Json | null): HubError {
  return bedrockError(500, { ...data, __type: event.charAt(0).toUpperCase() + event.slice(1) });
}

function wordsOf(status: number, message: string | null): BedrockErrorNames {
  if (status === 403 && message !== null && CREDENTIAL.test(message)) return WRONG_CREDENTIAL;
  const name = STATUSES.get(status) ?? (status >= 400 && status < 500 ? 'ValidationException' : '');
  return TYPES.get(name) ?? words('server_error');
}

/**
 * `com.amazonaws.bedrock#ThrottlingException:http://…` is one of its forms. https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html
 */
function typeName(given: unknown): string {
  if (typeof given !== 'string') return '';
  return given.slice(given.indexOf('#') + 1).split(':', 1)[0] ?? '';
}

function messageOf(body: Json | null): string | null {
  const message = [body?.message, body?.Message].find((text) => typeof text === 'string' && text !== '');
  return (message as string | undefined) ?? null;
}
