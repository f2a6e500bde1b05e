import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { OpaqueTokens } from '../../common/crypto/opaque-tokens.js';
import { DeviceCookie } from '../../common/http/session-cookie.js';

const ID_BYTES = 16;
const DAY_MS = 24 * 60 * 60_000;
const LASTS_MS = 180 * DAY_MS;
/** A browser sends one. Over http, other pages of the host can plant more. */
const MOST_READ = 3;

/**
 * Browsers in which an account has signed in before. Guesses from elsewhere do not use up their attempts, so nobody can lock the user out of
 * them: https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies. The cookie opens nothing. It is a random id,
 * its expiry, and the server's MAC of both and of the account; nothing is stored here.
 */
@Injectable()
export class KnownDevices {
  constructor(
    private readonly tokens: OpaqueTokens,
    private readonly cookie: DeviceCookie,
  ) {}

  /** `Set-Cookie` for a browser in which this account has just signed in. `account`: its normalized email address. */
  cookieOf(account: string): string {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const ends = (Date.now() + LASTS_MS).toString(36);
    return this.cookie.write(`${id}.${ends}.${this.macOf(account, id, ends)}`, LASTS_MS / 1_000);
  }

  /** The id of the device if the account has signed in there; null otherwise. */
  find(cookies: string | undefined, account: string): string | null {
    for (const value of this.cookie.readAll(cookies).slice(0, MOST_READ)) {
      const [id = '', ends = '', mac = ''] = value.split('.');
      if (isSame(mac, this.macOf(account, id, ends)) && Number.parseInt(ends, 36) > Date.now()) return id;
    }
    return null;
  }

  private macOf(account: string, id: string, ends: string): string {
    return this.tokens.hashOf('known device', `${id} ${ends} ${account}`).toString('base64url');
  }
}

function isSame(text: string, expected: string): boolean {
  const [presented, own] = [Buffer.from(text), Buffer.from(expected)];
  return presented.length === own.length && timingSafeEqual(presented, own);
}
