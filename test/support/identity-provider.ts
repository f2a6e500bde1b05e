import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPrivateKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { listenOnOneOf } from './upstreams/listen.js';
import Provider, { type Configuration, type JWK } from 'oidc-provider';

/** What the provider says of an account besides its subject. */
export type AccountClaims = Readonly<Record<string, unknown>>;

interface Told {
  readonly redirectUri: string;
  /** The first free one is taken; any free port without it. */
  readonly ports?: readonly number[];
  readonly backChannelLogoutUri?: string;
}

const aKey = (kid: string): JWK => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
};

/** A certified OpenID provider on this machine, whose sign-in page lets whoever comes be `account`. */
export class TestIdentityProvider {
  readonly clientId = `client-${randomUUID()}`;
  readonly clientSecret = randomBytes(24).toString('base64url');
  account = 'ada';
  readonly accounts = new Map<string, AccountClaims>();
  /** What the ID token of an account holds besides its subject. Without an entry only userinfo describes it. */
  readonly idTokens = new Map<string, AccountClaims>();
  /** The redirect addresses registered for the client; null for every address below `redirectUri`. */
  registered: ReadonlySet<string> | null = null;
  /** Takes requests in the provider's place; answers whether it did. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  readonly asked: string[] = [];
  private provider: Provider | null = null;
  private keys = [aKey('first')];
  private readonly server: Server = createServer((request, response) => void this.serve(request, response));

  private constructor(private readonly told: Told) {}

  static async start(told: Told): Promise<TestIdentityProvider> {
    const one = new TestIdentityProvider(told);
    await listenOnOneOf(one.server, told.ports ?? [0]);
    one.make();
    return one;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** New keys in place of the old ones. Nobody is signed in any more. */
  rotate(): void {
    this.keys = [aKey(randomUUID())];
    this.make();
  }

  /** What an owner enters to use it. */
  setting(more: object = {}): object {
    return {
      ...{
        name: 'Directory',
        issuer: this.issuer,
        client_id: this.clientId,
        client_secret: this.clientSecret,
      },
      ...more,
    };
  }

  /** Discovery and responses without `iss`, as of providers older than RFC 9207. */
  omitIssuer(): void {
    this.intercept = ({ url }, response) => {
      if (url !== '/.well-known/openid-configuration') return false;
      const at = (path: string) => this.issuer + path;
      const metadata = {
        ...{ issuer: this.issuer, authorization_endpoint: at('/auth'), token_endpoint: at('/token') },
        ...{ jwks_uri: at('/jwks'), userinfo_endpoint: at('/me') },
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
      return true;
    };
  }

  /** Goes where a browser is sent, signs in, and answers the address that leads back. */
  async visit(address: string, cookies = new Map<string, string>()): Promise<URL> {
    let next = address;
    for (let hops = 0; hops < 12; hops++) {
      if (next.startsWith(this.told.redirectUri)) return new URL(next);
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
      for (const line of answer.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
      }
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`${next}: ${answer.status} ${await answer.text()}`);
      next = new URL(location, next).href;
    }
    throw new Error('The provider sends the browser in circles.');
  }

  /** Signs the browser out at the provider, which then tells the clients. */
  async signOut(cookies: Map<string, string>): Promise<void> {
    const header = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const page = await fetch(`${this.issuer}/session/end`, { headers: { cookie: header() } });
    for (const line of page.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const xsrf = /name="xsrf" value="(\w+)"/.exec(await page.text())?.[1] ?? '';
    const answer = await fetch(`${this.issuer}/session/end/confirm`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: header(), 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ xsrf, logout: 'yes' }).toString(),
    });
    if (answer.status >= 400) throw new Error(await answer.text());
  }

  /**
   * A logout token with the signature of this provider. By default it is sound; `claims` replace its own, and undefined
   * removes one.
   */
  async logoutToken(claims: AccountClaims): Promise<string> {
    const [key] = this.keys;
    if (!key) throw new Error('The provider has no key.');
    const payload = {
      ...{ iss: this.issuer, aud: this.clientId, jti: randomUUID() },
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      ...claims,
    };
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', kid: key.kid, typ: 'logout+jwt' })
      .setIssuedAt()
      .setExpirationTime('2m')
      .sign(createPrivateKey({ key: { ...key } as JsonWebKey, format: 'jwk' }));
  }

  /** Answers the next token requests with these claims, whatever the code, and userinfo with the same subject. */
  async claim(claims: AccountClaims): Promise<void> {
    const [key] = this.keys;
    if (!key) throw new Error('The provider has no key.');
    const id_token = await new SignJWT({ iss: this.issuer, aud: this.clientId, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: key.kid })
      .setIssuedAt()
      .setExpirationTime('2m')
      .sign(createPrivateKey({ key: { ...key } as JsonWebKey, format: 'jwk' }));
    const answers: Readonly<Record<string, object>> = {
      '/token': { access_token: 'a', token_type: 'bearer', id_token },
      '/me': { sub: claims['sub'] },
    };
    this.intercept = ({ url = '' }, response) => {
      const answer = answers[url];
      if (answer) response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
      return answer !== undefined;
    };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private make(): void {
    const { redirectUri, backChannelLogoutUri } = this.told;
    const configuration: Configuration = {
      clients: [
        {
          client_id: this.clientId,
          client_secret: this.clientSecret,
          redirect_uris: [redirectUri],
          post_logout_redirect_uris: [new URL('/ui/sign-in', redirectUri).href],
          ...(backChannelLogoutUri === undefined
            ? {}
            : { backchannel_logout_uri: backChannelLogoutUri, backchannel_logout_session_required: true }),
        },
      ],
      // Its own would not call this machine.
      fetch: (url, { method, headers, body, signal } = {}) => fetch(url, { method, headers, body, signal }),
      jwks: { keys: this.keys },
      cookies: { keys: [randomUUID()] },
      claims: {
        openid: ['sub', 'sid', 'auth_time'],
        email: ['email', 'email_verified', 'xms_edov'],
        profile: ['given_name', 'family_name', 'groups', '_claim_names'],
      },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: { enabled: true },
      },
      conformIdTokenClaims: false,
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, id) => ({
        accountId: id,
        claims: async (use) => ({ sub: id, ...(use === 'id_token' ? this.idTokens : this.accounts).get(id) }),
      }),
      loadExistingGrant: async ({ oidc }) => {
        const { provider, client, session } = oidc;
        const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    };
    const provider = new Provider(this.issuer, configuration);
    provider.Client.prototype.redirectUriAllowed = (uri: string) =>
      this.registered?.has(uri) ?? uri.startsWith(redirectUri);
    this.provider = provider;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.asked.push(`${request.method} ${request.url?.split('?')[0]}`);
    const { provider } = this;
    if (this.intercept(request, response) || !provider) return;
    if (!request.url?.startsWith('/interaction/')) {
      await provider.callback()(request, response);
      return;
    }
    const login = { accountId: this.account, remember: true };
    await provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false });
  }
}
