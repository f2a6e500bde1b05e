import type { Json } from '../endpoint.js';
import type { HubError } from '../translation.js';

/** A kind of error in OpenAI's words. https://platform.openai.com/docs/guides/error-codes */
export type Words = Pick<HubError, 'type' | 'code'>;

export const words = (type: string, code: string | null = null): Words => ({ type, code });

/** What a status means where the provider does not say it in words of its own. */
const STATUSES: ReadonlyMap<number, Words> = new Map([
  [401, words('authentication_error', 'invalid_api_key')],
  [402, words('insufficient_quota', 'insufficient_quota')],
  [403, words('permission_error')],
  [404, words('not_found_error')],
  [408, words('timeout_error')],
  [413, words('invalid_request_error', 'request_too_large')],
  [429, words('rate_limit_error', 'rate_limit_exceeded')],
  [504, words('timeout_error')],
]);

export function wordsOfStatus(status: number): Words {
  return (
    STATUSES.get(status) ?? words(status >= 400 && status < 500 ? 'invalid_request_error' : 'server_error')
  );
}

const MESSAGE_CHARS_MAX = 4_096;

/** What reads the message of a refusal; null or empty where it has none. */
export type MessageOf = (body: Json) => string | null;

/**
 * Refusals of a provider that tells a text and no type: the status must say the rest. `own` wins over its meaning. Never
 * throws.
 */
export function textError(messageOf: MessageOf, name = 'The provider', own?: ReadonlyMap<number, Words>) {
  return (status: number, body: Json | null): HubError => {
    const said = (body && messageOf(body)) || `${name} returned status ${status}.`;
    return {
      message: said.slice(0, MESSAGE_CHARS_MAX),
      ...(own?.get(status) ?? wordsOfStatus(status)),
      param: null,
    };
  };
}
