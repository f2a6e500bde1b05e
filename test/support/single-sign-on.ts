import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { AdminApp, type Answer, type Json } from './admin-app.js';
import { aUserWithPassword, Browser } from './browser.js';
import { type AccountClaims, TestIdentityProvider } from './identity-provider.js';

export const ORIGIN = 'https://gateway.example.com';
/** The redirect address of each provider begins with it. */
export const CALLBACK = `${ORIGIN}/v1/auth/single-sign-on/callback`;
export const PROVIDERS = '/v1/admin/organisation/identity-providers';
export const SIGN_IN = '/v1/admin/organisation/sign-in';

/** The administration, a real provider beside it, and the account that signs in there next. */
export class SignOnWorld {
  private constructor(
    readonly app: AdminApp,
    readonly directory: TestIdentityProvider,
  ) {}

  static async start(): Promise<SignOnWorld> {
    const app = await AdminApp.start({
      GATEHOUSE_PUBLIC_URL: ORIGIN,
      GATEHOUSE_EGRESS_ALLOW: '127.0.0.1:*',
    });
    await app.app.listen(0, '127.0.0.1');
    const { port } = app.app.getHttpServer().address() as AddressInfo;
    const backChannelLogoutUri = `http://127.0.0.1:${port}/v1/auth/single-sign-on/back-channel-logout`;
    const directory = await TestIdentityProvider.start({ redirectUri: CALLBACK, backChannelLogoutUri });
    return new SignOnWorld(app, directory);
  }

  async close(): Promise<void> {
    await this.directory.stop();
    await this.app.close();
  }

  /** Another account at the provider, which signs in next. */
  anAccount(claims: AccountClaims = {}): { readonly subject: string; readonly email: string } {
    const subject = `sub-${randomBytes(6).toString('hex')}`;
    const email = `${subject}@example.com`;
    this.directory.accounts.set(subject, { email, email_verified: true, ...claims });
    this.directory.account = subject;
    return { subject, email };
  }

  /** Answers the id. */
  async aProvider(more: object = {}, directory = this.directory): Promise<string> {
    const answer = await this.app.call('POST', PROVIDERS, { body: directory.setting(more) });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body.id as string;
  }

  /** A user with a password whose account at the provider has the same address. */
  async aUser(more: object = {}, claims: AccountClaims = {}) {
    const user = await aUserWithPassword(this.app, more);
    return { ...user, ...this.anAccount({ email: user.email, ...claims }), email: user.email };
  }

  async start(browser: Browser, provider: string, query = ''): Promise<URL> {
    const answer = await browser.call('GET', `/v1/auth/single-sign-on/start?provider=${provider}${query}`);
    if (answer.status !== 302) throw new Error(answer.text);
    return new URL(String(answer.headers['location']));
  }

  back(browser: Browser, { pathname, search }: URL): Promise<Answer> {
    return browser.call('GET', pathname + search);
  }

  /** All of a sign-in; answers where the browser ends. */
  async signIn(
    provider: string,
    browser = new Browser(this.app),
    query = '',
    cookies = new Map<string, string>(),
  ) {
    const address = await this.start(browser, provider, query);
    const answer = await this.back(browser, await this.directory.visit(address.href, cookies));
    return { browser, answer, location: String(answer.headers['location']), cookies };
  }

  /** A sign-in that must succeed; answers who is signed in, and their browser. */
  async signedIn(provider: string, browser?: Browser): Promise<Json> {
    const done = await this.signIn(provider, browser);
    if (done.location !== '/ui/') throw new Error(done.location);
    return { ...(await done.browser.me()), browser: done.browser };
  }
}

/** The code of the refusal that the sign-in page is told. */
export const refusalIn = (location: string): string | null =>
  new URL(location, ORIGIN).searchParams.get('error');
