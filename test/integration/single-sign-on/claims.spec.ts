import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser } from '../../support/browser.js';
import { type AccountClaims, TestIdentityProvider } from '../../support/identity-provider.js';
import { CALLBACK, refusalIn, SignOnWorld } from '../../support/single-sign-on.js';

let world: SignOnWorld;
let provider = '';
beforeAll(async () => {
  world = await SignOnWorld.start();
  provider = await world.aProvider({ create_users: true });
});
afterAll(() => world.close());
beforeEach(() => {
  world.directory.intercept = () => false;
});

/** Signs in with these documents about one account, and returns the refusal or the address of the user. */
async function outcomeOf(idToken: AccountClaims, userInfo: AccountClaims): Promise<string> {
  const { subject } = world.anAccount();
  world.directory.idTokens.set(subject, idToken);
  world.directory.accounts.set(subject, userInfo);
  const { location, browser } = await world.signIn(provider);
  return refusalIn(location) ?? ((await browser.me()).user.email as string);
}

const [VICTIM, OWN] = ['victim@example.com', 'own@example.com'];

describe('an e-mail address and its verification', () => {
  it.each<[string, AccountClaims, AccountClaims]>([
    [
      'the ID token has the address, and userinfo another one that is verified',
      { email: VICTIM },
      { email: OWN, email_verified: true },
    ],
    [
      'the ID token says "verified" of no address, and userinfo denies it',
      { email_verified: true },
      { email: VICTIM, email_verified: false },
    ],
    [
      'the ID token says "verified" of no address, and userinfo says nothing',
      { email_verified: true },
      { email: VICTIM },
    ],
    [
      'the ID token says that the tenant owns the domain of no address',
      { xms_edov: true },
      { email: VICTIM },
    ],
    [
      'the ID token has the address, and userinfo the domain of the tenant',
      { email: VICTIM },
      { xms_edov: true },
    ],
    [
      'userinfo denies what the ID token says',
      { email: VICTIM, email_verified: true },
      { email_verified: false },
    ],
    [
      'the ID token denies what userinfo says',
      { email_verified: false },
      { email: VICTIM, email_verified: true },
    ],
    [
      'the provider denies that the tenant owns the domain',
      { email: VICTIM, email_verified: true, xms_edov: false },
      {},
    ],
  ])(
    'do not sign anybody in when they come from two documents or one denies them: %s',
    async (_, idToken, userInfo) => {
      expect(await outcomeOf(idToken, userInfo)).toBe('sso_email_unverified');
    },
  );

  it.each<[string, AccountClaims, AccountClaims]>([
    ['the ID token', { email: 'id@example.com', email_verified: true }, {}],
    ['userinfo', {}, { email: 'info@example.com', email_verified: true }],
    [
      'the ID token, beside another address in userinfo',
      { email: 'both@example.com', email_verified: true },
      { email: OWN },
    ],
  ])('sign in when both come from %s', async (_, idToken, userInfo) => {
    expect(await outcomeOf(idToken, userInfo)).toBe({ ...userInfo, ...idToken }['email']);
  });
});

describe('a subject', () => {
  it('of userinfo that differs from that of the ID token is refused', async () => {
    world.anAccount();
    world.directory.intercept = ({ url }, response) => {
      if (url !== '/me') return false;
      const claims = { sub: 'another', email: VICTIM, email_verified: true };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(claims));
      return true;
    };
    expect(refusalIn((await world.signIn(provider)).location)).toBe('sso_response_invalid');
  });
});

describe('an ID token', () => {
  it.each([
    ['with a subject', 'someone', null],
    ['with an empty subject', '', 'sso_response_invalid'],
    ['without a subject', undefined, 'sso_response_invalid'],
  ])('%s', async (_, sub, refusal) => {
    const browser = new Browser(world.app);
    const address = await world.start(browser, provider);
    const email = `ada-${String(sub)}@example.com`;
    const nonce = address.searchParams.get('nonce');
    await world.directory.claim({ nonce, sub, email, email_verified: true });
    const back = new URL(String(address.searchParams.get('redirect_uri')));
    const state = address.searchParams.get('state') ?? '';
    back.search = new URLSearchParams({ code: 'x', state, iss: world.directory.issuer }).toString();
    const { headers } = await world.back(browser, back);

    expect(refusalIn(String(headers['location']))).toBe(refusal);
  });
});

describe('the addresses in the metadata of a provider', () => {
  /** Another provider, whose metadata has these members. */
  async function announcing(more: (issuer: string) => object) {
    const directory = await TestIdentityProvider.start({ redirectUri: CALLBACK });
    const at = (path: string) => directory.issuer + path;
    const metadata = {
      ...{ issuer: directory.issuer, authorization_endpoint: at('/auth'), token_endpoint: at('/token') },
      ...{ jwks_uri: at('/jwks'), userinfo_endpoint: at('/me'), ...more(directory.issuer) },
    };
    directory.intercept = ({ url }, response) => {
      if (url !== '/.well-known/openid-configuration') return false;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
      return true;
    };
    const id = await world.aProvider({ name: 'Another', create_users: true }, directory);
    return { directory, id };
  }

  /** Signs in there, and returns the address at which the browser would sign out. */
  async function logoutUrlOf(endpoint: (issuer: string) => string): Promise<string | null> {
    const { directory, id } = await announcing((issuer) => ({ end_session_endpoint: endpoint(issuer) }));
    const browser = new Browser(world.app);
    directory.accounts.set('ada', { email: `ada-${id}@example.com`, email_verified: true });
    const answered = await directory.visit((await world.start(browser, id)).href);
    expect((await world.back(browser, answered)).headers['location']).toBe('/ui/');
    await directory.stop();
    return (await browser.call('POST', '/v1/auth/single-sign-on/sign-out')).body.logout_url as string | null;
  }

  it.each(['javascript:alert(1)', 'data:text/html,x', 'ms-settings:x'])(
    'send no browser to %s',
    async (address) => {
      expect(await logoutUrlOf(() => address)).toBeNull();
      const { directory, id } = await announcing(() => ({ authorization_endpoint: address }));
      const start = await new Browser(world.app).call('GET', `/v1/auth/single-sign-on/start?provider=${id}`);
      expect(refusalIn(String(start.headers['location']))).toBe('sso_provider_unavailable');
      const body = { identity_provider_id: id };
      const trial = await world.app.call('POST', '/v1/admin/organisation/sign-in-trials', { body });
      expect([trial.status, trial.body.error.code]).toEqual([503, 'sso_provider_unavailable']);
      await directory.stop();
    },
  );

  it('send it to a web address', async () => {
    expect(await logoutUrlOf((issuer) => `${issuer}/session/end`)).toMatch(/^http:.*\/session\/end\?/);
  });
});
