import { parseCookie, stringifySetCookie } from 'cookie';
import { AppError } from '../errors/app-error.js';
import {
  COOKIE_OVER_HTTP,
  COOKIE_OVER_HTTPS,
  DEVICE_OVER_HTTP,
  DEVICE_OVER_HTTPS,
  SIGN_ON_OVER_HTTP,
  SIGN_ON_OVER_HTTPS,
} from './session-cookie-names.js';

/** The format of a cookie: with `Secure` and the prefix if clients use https. */
class DashboardCookie {
  constructor(
    readonly name: string,
    private readonly isSecure: boolean,
  ) {}

  /**
   * The cookie that a request presents, or null. `header`: its `Cookie` header. A repeated name is `ambiguous_credentials`: over http, a
   * page on another port can set a second cookie for a longer path, which browsers send first, and so replace the user's session with its
   * own. https://www.rfc-editor.org/rfc/rfc6265#section-5.4
   */
  read(header: string | undefined): string | null {
    if (header === undefined || !header.includes(this.name)) return null;
    const pairs = header.split(';').filter((pair) => pair.split('=')[0]?.trim() === this.name);
    if (pairs.length > 1)
      throw new AppError('ambiguous_credentials', {
        detail: `the cookie ${this.name} is present ${pairs.length} times. Delete the cookies of this site and sign in again`,
      });
    return parseCookie(header)[this.name] || null;
  }

  /** Every value under the name, for a use in which a planted cookie does no harm. */
  readAll(header: string | undefined): readonly string[] {
    const pairs = (header ?? '').split(';').filter((pair) => pair.split('=')[0]?.trim() === this.name);
    return pairs.flatMap((pair) => parseCookie(pair)[this.name] || []);
  }

  /** `Set-Cookie` with this lifetime in seconds. */
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

/** Marks a browser in which a user has signed in before. It opens nothing. */
export class DeviceCookie extends DashboardCookie {
  constructor(isSecure: boolean) {
    super(isSecure ? DEVICE_OVER_HTTPS : DEVICE_OVER_HTTP, isSecure);
  }
}

/** Binds a sign-in at an identity provider to the browser that started it. */
export class SignOnCookie extends DashboardCookie {
  constructor(isSecure: boolean) {
    super(isSecure ? SIGN_ON_OVER_HTTPS : SIGN_ON_OVER_HTTP, isSecure);
  }
}
