import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../support/browser.js';
import { PasskeyAuthenticator } from '../../support/passkey-authenticator.js';
import { ORIGIN, SignOnWorld } from '../../support/single-sign-on.js';

let world: SignOnWorld;
let provider = '';
beforeAll(async () => {
  world = await SignOnWorld.start();
  provider = await world.aProvider();
});
afterAll(() => world.close());

/** An account whose password and passkey were set by whoever had its invite, and their session. */
async function hijacked() {
  const user = await world.aUser();
  const attacker = new Browser(world.app);
  await attacker.signIn(user.email, user.password);
  const passkey = new PasskeyAuthenticator(ORIGIN, new URL(ORIGIN).hostname);
  const { body } = await attacker.call('POST', '/v1/auth/passkeys/creation-options');
  const added = { name: 'Theirs', credential: passkey.create(body.options) };
  expect((await attacker.call('POST', '/v1/auth/passkeys', { body: added })).status).toBe(200);
  return { ...user, attacker, passkey };
}

describe('the first sign-in of an existing user with a provider', () => {
  it('removes every credential that was set before, ends its sessions, and is recorded', async () => {
    const { id, email, password, attacker, passkey } = await hijacked();
    const { user, browser, sign_in_methods } = await world.signedIn(provider);
    expect(user.id).toBe(id);
    expect(sign_in_methods).toEqual({ password: false, totp: false, recovery_codes_left: 0, passkeys: 0 });

    expect((await attacker.call('GET', '/v1/auth/session')).body.error.code).toBe('session_ended');
    expect((await new Browser(world.app).signIn(email, password)).status).toBe(401);
    const { body } = await attacker.call('POST', '/v1/auth/passkeys/request-options');
    const credential = passkey.show(body.options);
    const shown = await attacker.call('POST', '/v1/auth/passkeys/sign-in', { body: { credential } });
    expect(shown.body.error.code).toBe('passkey_failed');
    const records = (await world.app.audited()).filter(({ target_id }) => target_id === id);
    expect(records.map(({ action }) => action)).toContain('sign_in_methods.delete');
    expect((await browser.me()).user.id).toBe(id);
  });

  it('keeps what the user proves by a session of the same browser', async () => {
    const { email, password, attacker: own } = await hijacked();
    await world.signedIn(provider, own);
    expect((await new Browser(world.app).signIn(email, password)).status).toBe(200);
  });

  it('removes nothing at later sign-ins', async () => {
    const user = await world.aUser();
    const { browser } = await world.signedIn(provider);
    await world.app.dataSource.query(
      `INSERT INTO user_credentials (user_id, organization_id, password_hash) SELECT id, organization_id, 'x' FROM users WHERE id = $1`,
      [user.id],
    );
    await world.signedIn(provider);
    expect((await browser.me()).sign_in_methods.password).toBe(true);
  });

  it('keeps those of an owner', async () => {
    const { id, email, password } = await hijacked();
    await world.app.dataSource.query("UPDATE users SET role = 'owner' WHERE id = $1", [id]);
    await world.signedIn(provider);
    expect((await new Browser(world.app).signIn(email, password)).status).toBe(200);
  });
});
