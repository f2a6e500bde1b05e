import { AppError } from '../../common/errors/app-error.js';

/** Error fields of the two protocol libraries. */
interface ProtocolError extends Error {
  readonly code?: string;
  /** In an error response: https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
  readonly error?: string;
  readonly cause?: unknown;
}

const ANSWERED_REDIRECT = 'OAUTH_AUTHORIZATION_RESPONSE_ERROR';
const OURS = /^OAUTH_/;
const NETWORK: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
]);

export const unavailable = (detail: string | number | undefined): AppError =>
  new AppError('sso_provider_unavailable', { detail: detail ?? 'it could not be reached' });

/** The error for a failure between us and a provider. Excludes the provider's texts, because users see it. */
export function singleSignOnError(thrown: unknown): AppError {
  if (thrown instanceof AppError)
    return thrown.code.startsWith('sso_')
      ? thrown
      : unavailable('its address cannot be reached or is not allowed (GATEHOUSE_EGRESS_ALLOW)');
  const { name, code = '', error, message, cause } = thrown as ProtocolError;
  if (code === ANSWERED_REDIRECT) return new AppError('sso_refused', { detail: nameOf(error) });
  if (error !== undefined)
    return new AppError(
      'sso_response_invalid',
      { detail: `it returned "${nameOf(error)}"` },
      { cause: thrown },
    );
  if (NETWORK.has(code) || name === 'TimeoutError') return unavailable(detailOf(code, message));
  if (OURS.test(code))
    return new AppError('sso_response_invalid', { detail: detailOf(code, message) }, { cause });
  return new AppError('sso_provider_unavailable', { detail: 'it could not be reached' }, { cause: thrown });
}

const detailOf = (code: string, message: string): string =>
  code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT'
    ? 'it did not respond in time'
    : message.replace(/\.$/, '');

/** Only error codes that the protocol defines, never free text of the sender. */
const nameOf = (error: string | undefined): string =>
  /^[\w-]{1,60}$/.test(error ?? '') ? String(error) : 'an error';
