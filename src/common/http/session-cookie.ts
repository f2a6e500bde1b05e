import { parseCookie, stringifySetCookie } from 'cookie';

/**
 * Browsers accept the prefix `__Host-` only for cookies that are Secure, have the path `/` and no domain, so that no
 * other host of the domain can plant one: https://www.rfc-editor.org/rfc/rfc6265bis-20#section-4.1.3.2
 */
const OVER_HTTPS = '__Host-gatehouse';
const OVER_HTTP = 'gatehouse_session';

/** The names of the session cookie. The data plane drops a provider's `Set-Cookie` that bears one of them. */
export const SESSION_COOKIE_NAMES = [OVER_HTTPS, OVER_HTTP] as const;

/** How the cookie is written: `Secure` and with the prefix where clients reach the service over https. */
export class SessionCookie {
  readonly name: string;

  constructor(private readonly isSecure: boolean) {
    this.name = isSecure ? OVER_HTTPS : OVER_HTTP;
  }

  /** The session id that a request presents, or null. `header`: its `Cookie` header. */
  read(header: string | undefined): string | null {
    if (header === undefined || !header.includes(this.name)) return null;
    return parseCookie(header)[this.name] || null;
  }

  /** `Set-Cookie` for a session that lasts for so many seconds. */
  write(value: string, maxAge: number): string {
    return stringifySetCookie({
      name: this.name,
      value,
      maxAge,
      path: '/',
      httpOnly: true,
      secure: this.isSecure,
      sameSite: 'lax',
    });
  }

  /** `Set-Cookie` that removes the cookie from the browser. */
  clear(): string {
    return this.write('', 0);
  }
}
