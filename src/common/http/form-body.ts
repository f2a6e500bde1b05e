import { AppError } from '../errors/app-error.js';

export const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * The only path that accepts a form, as required by its protocol: https://openid.net/specs/openid-connect-backchannel-1_0.html#BCRequest
 */
const FORM_PATH = '/v1/auth/single-sign-on/back-channel-logout';
const FIELD = 'logout_token';

/** The form field defined by the protocol; others are ignored. Refuses forms on other paths. */
export function parseFormBody(path: string | undefined, text: string): Readonly<Record<string, string>> {
  if (path !== FORM_PATH) throw new AppError('unsupported_media_type', { contentType: FORM_TYPE });
  const value = new URLSearchParams(text).get(FIELD);
  return value === null ? {} : { [FIELD]: value };
}
