import { AppError } from '../errors/app-error.js';

export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The one place that takes a form, because its protocol says so: https://openid.net/specs/openid-connect-backchannel-1_0.html#BCRequest */
const FORM_PATH = '/v1/auth/single-sign-on/back-channel-logout';
const FIELD = 'logout_token';

/** The field of the form that the protocol knows; others are to be ignored. Refuses forms elsewhere. */
export function parseFormBody(path: string | undefined, text: string): Readonly<Record<string, string>> {
  if (path !== FORM_PATH) throw new AppError('unsupported_media_type', { contentType: FORM_TYPE });
  const value = new URLSearchParams(text).get(FIELD);
  return value === null ? {} : { [FIELD]: value };
}
