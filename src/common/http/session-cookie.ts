import { parseCookie, stringifySetCookie } from 'cookie';
import { COOKIE_OVER_HTTP, COOKIE_OVER_HTTPS } from './session-cookie-names.js';

/** How the cookie is written: `Secure` and with the prefix where clients reach the service over https. */
export class SessionCookie {
  readonly name: string;

  constructor(private readonly isSecure: boolean) {
    this.name = isSecure ? COOKIE_OVER_HTTPS : COOKIE_OVER_HTTP;
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
