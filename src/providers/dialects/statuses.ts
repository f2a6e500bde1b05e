import type { Json } from '../endpoint.js';
import type { HubError } from '../translation.js';

/** OpenAI's type and code of an error. https://platform.openai.com/docs/guides/error-codes */
export type ErrorTexts = Pick<HubError, 'type' | 'code'>;

export const words = (type: string, code: string | null = null): ErrorTexts => ({ type, code });

/** The type and code of a status, if the provider sends none of its own. */
const STATUSES: ReadonlyMap<number, ErrorTexts> = new Map([
  [401, words('authentication_error', 'invalid_api_key')],
  [402, words('insufficient_quota', 'insufficient_quota')],
  [403, words('permission_error')],
  [404, words('not_found_error')],
  [408, words('timeout_error')],
  [413, words('invalid_request_error', 'request_too_large')],
  [429, words('rate_limit_error', 'rate_limit_exceeded')],
  [504, words('timeout_error')],
]);

export function wordsOfStatus(status: number): ErrorTexts {
  return (
    STATUSES.get(status) ?? words(status >= 400 && status < 500 ? 'invalid_request_error' : 'server_error')
  );
}

const MESSAGE_CHARS_MAX = 4_096;

/** Reads the message of an error; null or empty without one. */
export type MessageOf = (body: Json) => string | null;

/** Errors of a provider with a text and no type: the status determines the rest. `own` overrides a status. Never throws. */
export function textError(
  messageOf: MessageOf,
  name = 'The provider',
  own?: ReadonlyMap<number, ErrorTexts>,
) {
  return (status: number, body: Json | null): HubError => {
    const message = (body && messageOf(body)) || `${name} returned status ${status}.`;
    return {
      message: message.slice(0, MESSAGE_CHARS_MAX),
      ...(own?.get(status) ?? wordsOfStatus(status)),
      param: null,
    };
  };
}
