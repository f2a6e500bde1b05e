import { parseSetCookie } from 'cookie';
import { hashPassword } from '../../src/admin/passwords/password.js';
import { Secret } from '../../src/common/settings/secret.js';
import type { AdminApp, Answer, Json } from './admin-app.js';

const ORIGIN = { 'sec-fetch-site': 'same-origin', 'x-gateway-csrf': '1' };

interface Visit {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of that of this browser. */
  readonly from?: string;
}

let addresses = 0;

/** A browser with the dashboard open: it keeps cookies as their attributes say and marks its requests as its own page's. */
export class Browser {
  cookies: Record<string, string> = {};
  /** The last `Set-Cookie` but that of the known device, as it was written. */
  lastSetCookie = '';
  readonly address: string;

  constructor(private readonly app: AdminApp) {
    addresses += 1;
    this.address = `10.9.${addresses >> 8}.${addresses & 255}`;
  }

  async call(method: string, path: string, { body, headers, from }: Visit = {}): Promise<Answer> {
    const cookie = this.cookieHeader;
    const answer = await this.app.call(method, path, {
      key: '',
      from: from ?? this.address,
      ...(body === undefined ? {} : { body }),
      headers: { ...ORIGIN, ...(cookie === '' ? {} : { cookie }), ...headers },
    });
    this.keep(answer.headers['set-cookie']);
    return answer;
  }

  signIn(email: string, password: string): Promise<Answer> {
    return this.call('POST', '/v1/auth/sign-in', { body: { email, password } });
  }

  /** Who is signed in; fails when nobody is. */
  async me(): Promise<Json> {
    const answer = await this.call('GET', '/v1/auth/session');
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body;
  }

  get cookieHeader(): string {
    return Object.entries(this.cookies)
      .map(([name, value]) => `${name}=${value}`)
      .join('; ');
  }

  private keep(header: unknown): void {
    for (const line of typeof header === 'string' ? [header] : ((header ?? []) as string[])) {
      const { name, value, maxAge } = parseSetCookie(line);
      if (!name.endsWith('device')) this.lastSetCookie = line;
      if (maxAge === 0) Reflect.deleteProperty(this.cookies, name);
      else this.cookies[name] = value ?? '';
    }
  }
}

const PASSWORD = 'purple-tractor-eats-moonlight';
/** Compared in no time: what a hash costs matters only to the tests that measure it. */
const PASSWORD_HASH = hashPassword(new Secret(PASSWORD), { ln: 4, r: 8, p: 1 });

/** A user who has accepted an invite and has a password. */
export async function aUserWithPassword(
  app: AdminApp,
  more: object = {},
): Promise<{ id: string; email: string; password: string }> {
  const { id, email } = await app.aPerson(more);
  await app.dataSource.query(
    `INSERT INTO user_credentials (user_id, organization_id, password_hash, password_changed_at)
      SELECT id, organization_id, $2, now() FROM users WHERE id = $1`,
    [id, await PASSWORD_HASH],
  );
  return { id, email, password: PASSWORD };
}
