import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUserWithPassword, Browser } from '../../support/browser.js';
import { PasskeyAuthenticator } from '../../support/passkey-authenticator.js';
import { ORIGIN, SIGN_IN, SignOnWorld } from '../../support/single-sign-on.js';

let world: SignOnWorld;
let provider = '';
let breakGlass: { id: string; email: string; password: string };
const require = (single_sign_on_required: boolean) =>
  world.app.call('PUT', SIGN_IN, {
    body: { single_sign_on_required, break_glass_user_ids: [breakGlass.id] },
  });
beforeAll(async () => {
  world = await SignOnWorld.start();
  provider = await world.aProvider();
  breakGlass = await aUserWithPassword(world.app, { role: 'admin' });
  await world.app.dataSource.query("UPDATE users SET role = 'owner' WHERE id = $1", [breakGlass.id]);
});
afterAll(() => world.close());

const NEW = 'seven-lanterns-in-quiet-harbour';
const authenticator = new PasskeyAuthenticator(ORIGIN, new URL(ORIGIN).hostname);
const requestOptions = async (browser: Browser) =>
  (await browser.call('POST', '/v1/auth/passkeys/request-options')).body.options;

/** Every request of a session in which a password, code or passkey counts, or which adds one. */
const PATHS: Readonly<Record<string, (browser: Browser, password: string) => Promise<object>>> = {
  'POST /v1/auth/step-up': async (_, password) => ({ password }),
  'POST /v1/auth/password': async (_, current_password) => ({ current_password, new_password: NEW }),
  'POST /v1/auth/passkeys/step-up': async (browser) => ({
    credential: authenticator.show(await requestOptions(browser)),
  }),
  'POST /v1/auth/passkeys/creation-options': async () => ({}),
  'POST /v1/auth/passkeys': async () => ({ name: 'Laptop', credential: { id: 'x' } }),
  'POST /v1/auth/totp': async () => ({}),
  'POST /v1/auth/totp/confirm': async () => ({ code: '123456' }),
  'POST /v1/auth/recovery-codes': async () => ({}),
};

describe('required single sign-on', () => {
  it.each(Object.entries(PATHS))(
    'closes %s to a session, with the right proof, too',
    async (path, bodyOf) => {
      await require(false);
      const user = await world.aUser();
      const own = new Browser(world.app);
      await own.signIn(user.email, user.password);
      world.directory.account = user.subject;
      // The browser's session proves the password, so the first link keeps it.
      const { browser } = await world.signedIn(provider, own);
      expect((await require(true)).status).toBe(200);
      const [method = '', address = ''] = path.split(' ');
      const answer = await browser.call(method, address, { body: await bodyOf(browser, user.password) });

      expect([answer.status, answer.body.error.code]).toEqual([403, 'single_sign_on_required']);
    },
  );

  it('leaves another sign-in at the provider as the step-up', async () => {
    await require(true);
    const user = await world.aUser();
    const { browser } = await world.signedIn(provider);
    await world.app.dataSource.query(
      "UPDATE sessions SET authenticated_at = now() - interval '1 hour' WHERE user_id = $1",
      [user.id],
    );
    const { location } = await world.signIn(provider, browser, '&reauthenticate=true');
    expect(location).toBe('/ui/');
    const { authenticated_at } = await browser.me();
    expect(Date.now() - Date.parse(authenticated_at as string)).toBeLessThan(9 * 60_000);
  });

  it('leaves break-glass owners all of it', async () => {
    await require(true);
    const browser = new Browser(world.app);
    const { email, password } = breakGlass;
    expect((await browser.signIn(email, password)).status).toBe(200);
    expect((await browser.call('POST', '/v1/auth/step-up', { body: { password } })).status).toBe(200);
    expect((await browser.call('POST', '/v1/auth/totp')).status).toBe(200);
  });
});
