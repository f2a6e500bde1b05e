import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../support/browser.js';
import { TestIdentityProvider } from '../../support/identity-provider.js';
import { CALLBACK, PROVIDERS, refusalIn, SignOnWorld } from '../../support/single-sign-on.js';

let world: SignOnWorld;
let other: TestIdentityProvider;
let provider = '';
beforeAll(async () => {
  world = await SignOnWorld.start();
  other = await TestIdentityProvider.start({ redirectUri: CALLBACK });
  provider = await world.aProvider({ create_users: true });
});
afterAll(async () => {
  await other.stop();
  await world.close();
});

/** A sign-in whose way to the provider, or back, somebody changed. */
async function tampered(
  there: (address: URL) => void,
  back: (address: URL) => void = () => undefined,
): Promise<{ refusal: string | null; browser: Browser }> {
  world.anAccount();
  const browser = new Browser(world.app);
  const address = await world.start(browser, provider);
  there(address);
  const answered = await world.directory.visit(address.href);
  back(answered);
  const { headers } = await world.back(browser, answered);
  return { refusal: refusalIn(String(headers['location'])), browser };
}
const asItIs = () => undefined;

describe('a response that was tampered with is refused', () => {
  it.each([
    [
      'of another nonce',
      (url: URL) => url.searchParams.set('nonce', 'theirs'),
      asItIs,
      'sso_response_invalid',
    ],
    ['of another state', asItIs, (url: URL) => url.searchParams.set('state', 'theirs'), 'sso_state_invalid'],
    ['without a state', asItIs, (url: URL) => url.searchParams.delete('state'), 'sso_state_invalid'],
    [
      'of another issuer',
      asItIs,
      (url: URL) => url.searchParams.set('iss', other.issuer),
      'sso_response_invalid',
    ],
    ['that names no issuer', asItIs, (url: URL) => url.searchParams.delete('iss'), 'sso_response_invalid'],
    [
      'with another code',
      asItIs,
      (url: URL) => url.searchParams.set('code', 'theirs'),
      'sso_response_invalid',
    ],
    [
      'of another proof key',
      (url: URL) => url.searchParams.set('code_challenge', 'A'.repeat(43)),
      asItIs,
      'sso_response_invalid',
    ],
  ])('%s', async (_, there, back, code) => {
    const { refusal, browser } = await tampered(there, back);
    expect(refusal).toBe(code);
    expect(browser.cookies).toEqual({});
  });

  it('from another provider that the organization has as well', async () => {
    const browser = new Browser(world.app);
    await world.aProvider({ name: 'Other', create_users: true }, other);
    const address = await world.start(browser, provider);
    other.accounts.set('mallory', { email: 'mallory@example.com', email_verified: true });
    other.account = 'mallory';
    address.searchParams.set('client_id', other.clientId);
    const answered = await other.visit(other.issuer + address.pathname + address.search);

    const { headers } = await world.back(browser, answered);
    expect(refusalIn(String(headers['location']))).toBe('sso_response_invalid');
  });

  it('with what the provider refused', async () => {
    const browser = new Browser(world.app);
    const { searchParams } = await world.start(browser, provider);
    const back = new URL(`${CALLBACK}/${provider}`);
    back.search = new URLSearchParams({
      ...{
        error: 'access_denied',
        error_description: '<script>alert(1)</script>',
        iss: world.directory.issuer,
      },
      state: searchParams.get('state') ?? '',
    }).toString();
    const { headers } = await world.back(browser, back);

    expect(String(headers['location'])).toMatch(/^\/ui\/sign-in\?error=sso_refused&request_id=[\w-]+$/);
  });
});

describe('a response counts once, in the browser that started the sign-in', () => {
  it('and is refused in another browser, also with the code of a user who is signed in there', async () => {
    world.anAccount();
    const [attacker, victim] = [new Browser(world.app), new Browser(world.app)];
    const answered = await world.directory.visit((await world.start(attacker, provider)).href);
    expect(refusalIn(String((await world.back(victim, answered)).headers['location']))).toBe(
      'sso_state_invalid',
    );
    await world.start(victim, provider);
    expect(refusalIn(String((await world.back(victim, answered)).headers['location']))).toBe(
      'sso_state_invalid',
    );
    expect(Object.keys(victim.cookies)).not.toContain('__Host-gatehouse');
  });

  it('and a second time not, even with the same cookie', async () => {
    world.anAccount();
    const browser = new Browser(world.app);
    const answered = await world.directory.visit((await world.start(browser, provider)).href);
    const cookies = { ...browser.cookies };
    expect((await world.back(browser, answered)).headers['location']).toBe('/ui/');
    browser.cookies = cookies;

    expect(refusalIn(String((await world.back(browser, answered)).headers['location']))).toBe(
      'sso_state_invalid',
    );
  });
});

describe('a provider', () => {
  it('may rotate its keys between two sign-ins', async () => {
    world.anAccount();
    await world.signedIn(provider);
    world.directory.rotate();
    expect((await world.signedIn(provider)).session.method).toBe('single_sign_on');
  });

  it('refuses a key that it does not publish', async () => {
    world.anAccount();
    const address = await world.start(new Browser(world.app), provider);
    expect(address.origin).toBe(world.directory.issuer);
    const foreign = JSON.stringify({ keys: [] });
    world.directory.intercept = ({ url }, response) => {
      if (url !== '/jwks') return false;
      response.setHeader('content-type', 'application/json').end(foreign);
      return true;
    };
    const { location } = await world.signIn(provider);
    world.directory.intercept = () => false;
    expect(refusalIn(location)).toBe('sso_response_invalid');
  });

  it('that is down, or returns nonsense, is reported as unavailable', async () => {
    const down = await TestIdentityProvider.start({ redirectUri: CALLBACK });
    const id = await world.aProvider({ name: 'Down' }, down);
    down.intercept = (_, response) => {
      response.statusCode = 502;
      response.end('<html>');
      return true;
    };
    const start = () => new Browser(world.app).call('GET', `/v1/auth/single-sign-on/start?provider=${id}`);
    expect(refusalIn(String((await start()).headers['location']))).toBe('sso_provider_unavailable');
    await down.stop();
    expect(refusalIn(String((await start()).headers['location']))).toBe('sso_provider_unavailable');
  });

  it('is reached by the rules for outgoing connections alone', async () => {
    const body = { ...world.directory.setting(), issuer: 'https://169.254.169.254' };
    const answer = await world.app.call('POST', PROVIDERS, { body });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('"issuer"') } },
    });
  });

  it('never shows its secret, and requires it again for another issuer', async () => {
    const path = `${PROVIDERS}/${provider}`;
    const shown = await world.app.call('GET', path);
    expect(shown.body.client_secret).toBe('***');
    expect((await world.app.call('PUT', path, { body: { issuer: other.issuer } })).status).toBe(400);
    const records = JSON.stringify(await world.app.audited());
    expect(records).not.toContain(world.directory.clientSecret);
    const rows = await world.app.dataSource.query(
      'SELECT identity_providers::text AS row FROM identity_providers',
    );
    expect(JSON.stringify(rows)).not.toContain(world.directory.clientSecret);
  });
});
