import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';
import { aUserWithPassword, Browser } from '../../support/browser.js';
import { PasskeyAuthenticator } from '../../support/passkey-authenticator.js';

const ORIGIN = 'https://gateway.example.com';

let app: AdminApp;
beforeAll(async () => {
  app = await AdminApp.start({ GATEHOUSE_PUBLIC_URL: ORIGIN });
});
afterAll(() => app.close());
beforeEach(() => app.dataSource.query('DELETE FROM sign_in_brakes'));

const NEW = 'seven-lanterns-in-quiet-harbour';

async function signedIn() {
  const user = await aUserWithPassword(app);
  const browser = new Browser(app);
  expect((await browser.signIn(user.email, user.password)).status).toBe(200);
  return { ...user, browser };
}

/** As many wrong guesses as an account allows, from ten addresses. */
async function lockOut(email: string): Promise<void> {
  for (let from = 0; from < 10; from++) {
    const attacker = new Browser(app);
    await Promise.all(Array.from({ length: 10 }, () => attacker.signIn(email, 'a guess')));
  }
}

describe('wrong guesses from elsewhere', () => {
  it('lock an account out for browsers that it never used, and for no verified one', async () => {
    const { browser, email, password } = await signedIn();
    const known = new Browser(app);
    await known.signIn(email, password);
    await known.call('POST', '/v1/auth/sign-out');
    await lockOut(email);

    expect((await new Browser(app).signIn(email, password)).status, 'an unknown browser').toBe(429);
    expect((await known.signIn(email, password)).status, 'a known browser').toBe(200);
    const stepUp = await browser.call('POST', '/v1/auth/step-up', { body: { password } });
    expect(stepUp.status, 'a step-up').toBe(200);
    const change = { current_password: password, new_password: NEW };
    expect((await browser.call('POST', '/v1/auth/password', { body: change })).status).toBe(200);
  });

  it('from the address of the user do not stop their known browser, nor their step-up', async () => {
    const { browser, email, password } = await signedIn();
    const from = browser.address;
    for (let account = 0; account < 4; account++) {
      const { email: other } = await aUserWithPassword(app);
      const body = { email: other, password: 'a guess' };
      const guess = () => new Browser(app).call('POST', '/v1/auth/sign-in', { body, from });
      await Promise.all(Array.from({ length: 8 }, guess));
    }
    const unknown = await new Browser(app).call('POST', '/v1/auth/sign-in', {
      body: { email, password },
      from,
    });
    expect(unknown.status).toBe(429);
    expect((await browser.call('POST', '/v1/auth/step-up', { body: { password } })).status).toBe(200);
    expect((await browser.signIn(email, password)).status).toBe(200);
  });
});

describe('the cookie of a known browser', () => {
  const deviceOf = ({ cookies }: Browser): string => cookies['__Host-gatehouse-device'] ?? '';

  it('allows ten failures of its own, and then no further guess', async () => {
    const { browser, email, password } = await signedIn();
    for (let round = 0; round < 10; round++)
      expect((await browser.signIn(email, `guess ${round}`)).status).toBe(401);

    expect((await browser.signIn(email, password)).status).toBe(429);
    expect((await new Browser(app).signIn(email, password)).status, 'elsewhere').toBe(200);
  });

  it.each([
    ['of another account', async () => deviceOf((await signedIn()).browser)],
    ['with another id', async (own: string) => own.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))],
    ['with a later end', async (own: string) => own.replace(/\.(.)/, '.z$1')],
    ['without a MAC', async (own: string) => own.slice(0, own.lastIndexOf('.') + 1)],
    ['of nonsense', async () => '..'],
  ])('%s changes nothing', async (_, changed) => {
    const { browser, email, password } = await signedIn();
    const thief = new Browser(app);
    thief.cookies = { '__Host-gatehouse-device': await changed(deviceOf(browser)) };
    for (let round = 0; round < 10; round++) await thief.signIn(email, `guess ${round}`);
    Reflect.deleteProperty(thief.cookies, '__Host-gatehouse-device');

    expect((await thief.signIn(email, password)).status, 'counted for address and account').toBe(429);
  });

  it('opens nothing, is not readable by scripts, and stays at the sign-out', async () => {
    const { browser } = await signedIn();
    const device = deviceOf(browser);
    await browser.call('POST', '/v1/auth/sign-out');
    expect(deviceOf(browser)).toBe(device);
    expect((await browser.call('GET', '/v1/auth/session')).status).toBe(401);
  });
});

describe('requests that a page of another site can cause', () => {
  it.each([
    ['callbacks of single sign-on', 'GET', '/v1/auth/single-sign-on/callback/x?state=x', undefined],
    ['callbacks of trials', 'GET', '/v1/auth/single-sign-on/callback/x?state=trial.x', undefined],
    [
      'back-channel logouts',
      'POST',
      '/v1/auth/single-sign-on/back-channel-logout',
      { logout_token: 'a.b.c' },
    ],
  ] as const)(
    'do not keep anybody behind the same address from signing in: %s',
    async (_, method, path, body) => {
      const { email, password } = await aUserWithPassword(app);
      const browser = new Browser(app);
      for (let round = 0; round < 40; round++)
        await app.call(method, path, {
          key: '',
          from: browser.address,
          ...(body && { body }),
          headers: { 'sec-fetch-site': 'cross-site' },
        });

      expect((await browser.signIn(email, password)).status).toBe(200);
      expect(await app.dataSource.query('SELECT 1 FROM sign_in_brakes WHERE failures > 0')).toEqual([]);
    },
  );
});

describe('attempts with a passkey', () => {
  const options = async (browser: Browser) =>
    (await browser.call('POST', '/v1/auth/passkeys/request-options')).body.options;
  const show = (browser: Browser, credential: object) =>
    browser.call('POST', '/v1/auth/passkeys/sign-in', { body: { credential } });

  it('are stopped after 30 failures from one address, apart from passwords', async () => {
    const { email, password } = await aUserWithPassword(app);
    const browser = new Browser(app);
    const stranger = new PasskeyAuthenticator(ORIGIN, new URL(ORIGIN).hostname);
    const statuses: number[] = [];
    for (let round = 0; round < 31; round++)
      statuses.push((await show(browser, stranger.show(await options(browser)))).status);

    expect(statuses).toEqual([...Array<number>(30).fill(403), 429]);
    expect((await browser.signIn(email, password)).status).toBe(200);
  });

  it('do not count when they succeed', async () => {
    const { browser } = await signedIn();
    const own = new PasskeyAuthenticator(ORIGIN, new URL(ORIGIN).hostname);
    const creation = await browser.call('POST', '/v1/auth/passkeys/creation-options');
    const body = { name: 'Laptop', credential: own.create(creation.body.options) };
    expect((await browser.call('POST', '/v1/auth/passkeys', { body })).status).toBe(200);
    for (let round = 0; round < 3; round++)
      expect((await show(browser, own.show(await options(browser)))).status).toBe(200);
    const counted = () => app.dataSource.query('SELECT 1 FROM sign_in_brakes WHERE failures > 0');
    await expect.poll(counted, { timeout: 30_000 }).toEqual([]);
  });
});
