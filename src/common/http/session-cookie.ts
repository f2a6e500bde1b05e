import { parseCookie, stringifySetCookie } from 'cookie';
import {
  COOKIE_OVER_HTTP,
  COOKIE_OVER_HTTPS,
  SIGN_ON_OVER_HTTP,
  SIGN_ON_OVER_HTTPS,
} from './session-cookie-names.js';

/** How a cookie is written: `Secure` and with the prefix where clients reach the service over https. */
class DashboardCookie {
  constructor(
    readonly name: string,
    private readonly isSecure: boolean,
  ) {}

  /** What a request presents, or null. `header`: its `Cookie` header. */
  read(header: string | undefined): string | null {
    if (header === undefined || !header.includes(this.name)) return null;
    return parseCookie(header)[this.name] || null;
  }

  /** `Set-Cookie` for so many seconds. */
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

export class SessionCookie extends DashboardCookie {
  constructor(isSecure: boolean) {
    super(isSecure ? COOKIE_OVER_HTTPS : COOKIE_OVER_HTTP, isSecure);
  }
}

/** Binds a sign-in at an identity provider to the browser that began it. */
export class SignOnCookie extends DashboardCookie {
  constructor(isSecure: boolean) {
    super(isSecure ? SIGN_ON_OVER_HTTPS : SIGN_ON_OVER_HTTP, isSecure);
  }
}
