import type { Json } from '../../endpoint.js';
import { isObject, list, textOf, textOrNull } from '../../endpoints/reading.js';
import type { HubError } from '../../translation.js';
import { textError } from '../statuses.js';

const errorText = textError(({ detail }) =>
  isObject(detail) ? textOrNull(detail.message) : textOf(detail) || list(detail).map(fieldError).join('; '),
);

/**
 * An error: `{ detail: { status, message } }`, or `{ detail: [{ loc, msg }] }` for invalid fields. Never throws.
 * https://elevenlabs.io/docs/developers/resources/error-messages
 */
export function elevenLabsError(status: number, body: Json | null): HubError {
  const error = errorText(status, body);
  const detail = isObject(body?.detail) ? body.detail : {};
  return { ...error, code: textOrNull(detail.code) ?? textOrNull(detail.status) ?? error.code };
}

function fieldError(error: unknown): string {
  if (!isObject(error)) return '';
  const place = list(error.loc).filter((part) => typeof part === 'string' || typeof part === 'number');
  return `${place.join('.')}: ${textOf(error.msg)}`;
}
