import { parseSetCookie } from 'cookie';
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
  /** The last `Set-Cookie`, as it was written. */
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
      this.lastSetCookie = line;
      if (maxAge === 0) Reflect.deleteProperty(this.cookies, name);
      else this.cookies[name] = value ?? '';
    }
  }
}

/** A user who has accepted an invite with a password. */
export async function aUserWithPassword(
  app: AdminApp,
  more: object = {},
): Promise<{ id: string; email: string; password: string }> {
  const email = `u-${Math.random().toString(36).slice(2)}@example.com`;
  const password = 'purple-tractor-eats-moonlight';
  const invite = await app.call('POST', '/v1/admin/users/invites', {
    body: { email, role: 'member', workspaces: [], ...more },
  });
  if (invite.status !== 200) throw new Error(invite.text);
  const token = invite.body.invite_link.split('#')[1];
  const accepted = await app.call('POST', '/v1/admin/invites/accept', {
    key: '',
    body: { token, first_name: 'Ada', last_name: 'Lovelace', password },
  });
  if (accepted.status !== 200) throw new Error(accepted.text);
  return { id: accepted.body.user_id, email, password };
}
