/**
 * Browsers accept the prefix `__Host-` only for cookies that are Secure, have the path `/` and no domain, so that no
 * other host of the domain can plant one: https://www.rfc-editor.org/rfc/rfc6265bis-20#section-4.1.3.2
 */
export const COOKIE_OVER_HTTPS = '__Host-gatehouse';
export const COOKIE_OVER_HTTP = 'gatehouse_session';
/** Cookie of a sign-in in progress at an identity provider. */
export const SIGN_ON_OVER_HTTPS = '__Host-gatehouse-sign-on';
export const SIGN_ON_OVER_HTTP = 'gatehouse_sign_on';
/** Cookie of a browser in which a user has signed in before. */
export const DEVICE_OVER_HTTPS = '__Host-gatehouse-device';
export const DEVICE_OVER_HTTP = 'gatehouse_device';

const NAMES = [
  ...[COOKIE_OVER_HTTPS, COOKIE_OVER_HTTP, SIGN_ON_OVER_HTTPS, SIGN_ON_OVER_HTTP],
  ...[DEVICE_OVER_HTTPS, DEVICE_OVER_HTTP],
];

/** Also matches a cookie without a name: browsers send its value unchanged, which then reads as name and value. */
const SESSION_COOKIE = new RegExp(`^[\\s=]*(?:${NAMES.join('|')})\\s*(?:=|;|$)`);

/** Whether a `Set-Cookie` sets or clears a cookie of the dashboard. */
export const setsSessionCookie = (setCookie: string): boolean => SESSION_COOKIE.test(setCookie);
