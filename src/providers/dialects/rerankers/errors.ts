import { AppError } from '../../../common/errors/app-error.js';
import type { Json } from '../../endpoint.js';
import { isObject, list, textOf } from '../../endpoints/reading.js';
import type { HubError } from '../../translation.js';

/** A status in OpenAI's words. https://platform.openai.com/docs/guides/error-codes */
const STATUSES: ReadonlyMap<number, Pick<HubError, 'type' | 'code'>> = new Map([
  [401, { type: 'authentication_error', code: 'invalid_api_key' }],
  [402, { type: 'insufficient_quota', code: 'insufficient_quota' }],
  [403, { type: 'permission_error', code: null }],
  [404, { type: 'not_found_error', code: null }],
  [408, { type: 'timeout_error', code: null }],
  [429, { type: 'rate_limit_error', code: 'rate_limit_exceeded' }],
  [504, { type: 'timeout_error', code: null }],
]);

const MESSAGE_CHARS_MAX = 4_096;

/**
 * A refusal of Jina or Voyage: `{ detail }`, at Jina with the fields that are wrong in `errors[]`. Neither documents it;
 * seen in https://github.com/infiniflow/ragflow/issues/11614 and
 * https://github.com/diegosouzapw/OmniRoute/issues/7809. Never throws.
 */
export function detailError(status: number, body: Json | null): HubError {
  const { detail, message, errors } = body ?? {};
  const said = [textOf(detail) || textOf(message), ...list(errors).map(fieldError)].filter(
    (text) => text !== '',
  );
  const known = STATUSES.get(status) ?? {
    type: status >= 400 && status < 500 ? 'invalid_request_error' : 'server_error',
    code: null,
  };
  const told = said.length > 0 ? said.join('; ') : `The provider answered with the status ${status}.`;
  return { message: told.slice(0, MESSAGE_CHARS_MAX), ...known, param: null };
}

function fieldError(error: unknown): string {
  if (!isObject(error)) return '';
  return [textOf(error.field), textOf(error.message)].filter((text) => text !== '').join(': ');
}

/** What the hub knows and the provider cannot do. */
export const unsupported = (parameter: string, detail: string): AppError =>
  new AppError('parameter_unsupported', { parameter, detail });
