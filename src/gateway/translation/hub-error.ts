import type { Json } from '../../providers/endpoint.js';
import type { HubError } from '../../providers/translation.js';

const MESSAGE_CHARS_MAX = 4_096;

/** OpenAI's error types by status. https://platform.openai.com/docs/guides/error-codes */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
};

/** The refusal of a provider that uses the hub's own format, as far as it adheres to it. */
export function hubErrorOf(status: number, body: Json | null): HubError {
  const { error: given, detail } = body ?? {};
  const error = (typeof given === 'object' && given !== null ? given : (body ?? {})) as Json;
  const message = [error.message, given, detail].map(text).find((text) => text !== null);
  return {
    message: (message ?? `The provider returned status ${status}.`).slice(0, MESSAGE_CHARS_MAX),
    type: text(error.type) ?? TYPES[status] ?? 'server_error',
    code: text(error.code),
    param: text(error.param),
  };
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
