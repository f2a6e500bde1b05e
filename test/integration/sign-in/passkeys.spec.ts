import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';
import { aUserWithPassword, Browser } from '../../support/browser.js';
import { type Misbehaviour, PasskeyAuthenticator } from '../../support/passkey-authenticator.js';

const ORIGIN = 'https://gateway.example.com';
const HOST = 'gateway.example.com';

let app: AdminApp;
let other: AdminApp;
beforeAll(async () => {
  app = await AdminApp.start({ GATEHOUSE_PUBLIC_URL: `${ORIGIN}/` });
  other = await app.another();
});
afterAll(async () => {
  await other.close();
  await app.close();
});

async function signedIn() {
  const user = await aUserWithPassword(app, { role: 'admin' });
  const browser = new Browser(app);
  expect((await browser.signIn(user.email, user.password)).status).toBe(200);
  return { ...user, browser };
}

const creationOptions = async (browser: Browser) =>
  (await browser.call('POST', '/v1/auth/passkeys/creation-options')).body.options;
const requestOptions = async (browser: Browser) =>
  (await browser.call('POST', '/v1/auth/passkeys/request-options')).body.options;
const add = (browser: Browser, credential: object) =>
  browser.call('POST', '/v1/auth/passkeys', { body: { name: 'Laptop', credential } });
const show = (browser: Browser, credential: object) =>
  browser.call('POST', '/v1/auth/passkeys/sign-in', { body: { credential } });

async function withPasskey() {
  const user = await signedIn();
  const authenticator = new PasskeyAuthenticator(ORIGIN, HOST);
  const added = await add(user.browser, authenticator.create(await creationOptions(user.browser)));
  expect(added.status, added.text).toBe(200);
  return { ...user, authenticator, passkey: added.body };
}

const WRONG: [string, Misbehaviour][] = [
  ['made on another page', { origin: 'https://evil.example' }],
  ['made on another port', { origin: `${ORIGIN}:8443` }],
  ['made for another host', { rpId: 'evil.example' }],
  ['without fingerprint or PIN', { isUserVerified: false }],
  ['of another ceremony', { type: 'webauthn.other' }],
  ['for a challenge of its own', { challenge: Buffer.alloc(54, 7).toString('base64url') }],
  ['for no challenge', { challenge: '' }],
];

describe('a passkey', () => {
  it('signs in over https with a cookie that no other host can plant', async () => {
    const { email, id, authenticator, passkey } = await withPasskey();
    expect(passkey).toMatchObject({ object: 'passkey', name: 'Laptop', last_used_at: null });
    const browser = new Browser(other);
    const answer = await show(browser, authenticator.show(await requestOptions(browser)));

    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      user: { id, email },
      session: { method: 'passkey' },
      sign_in_methods: { password: true, passkeys: 1 },
    });
    expect(browser.lastSetCookie).toMatch(
      /^__Host-gatehouse=\w{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect((await browser.me()).user.id).toBe(id);
    expect((await app.audited()).at(-1)).toMatchObject({
      action: 'sessions.create',
      user_id: id,
      outcome: 'success',
      request: { credential: '***' },
    });
    const listed = (await browser.call('GET', '/v1/auth/passkeys')).body;
    expect(listed.data[0].last_used_at).not.toBeNull();
  });

  it('is added once, whoever has it already', async () => {
    const { browser, authenticator } = await withPasskey();
    const stranger = (await signedIn()).browser;
    for (const by of [browser, stranger]) {
      const again = await add(by, authenticator.create(await creationOptions(by)));
      expect(again).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    }
    expect((await stranger.call('GET', '/v1/auth/passkeys')).body.total).toBe(0);
  });

  it.each(WRONG)('is not added %s', async (_, wrong) => {
    const { browser } = await signedIn();
    const authenticator = new PasskeyAuthenticator(ORIGIN, HOST);
    const answer = await add(browser, authenticator.create(await creationOptions(browser), wrong));

    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'passkey_failed' } } });
    expect((await browser.call('GET', '/v1/auth/passkeys')).body.total).toBe(0);
  });

  it.each(WRONG)('refuses the sign-in %s', async (_, wrong) => {
    const { authenticator } = await withPasskey();
    const browser = new Browser(app);
    const answer = await show(browser, authenticator.show(await requestOptions(browser), wrong));

    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'passkey_failed' } } });
    expect(browser.cookies).toEqual({});
  });

  it('refuses the sign-in when another key signed', async () => {
    const { authenticator } = await withPasskey();
    const browser = new Browser(app);
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

    expect((await show(browser, authenticator.show(await requestOptions(browser), { key }))).status).toBe(
      403,
    );
  });

  it('accepts a challenge once, in all processes together', async () => {
    const { authenticator } = await withPasskey();
    const browser = new Browser(app);
    const credential = authenticator.show(await requestOptions(browser));
    const answers = await Promise.all([app, other, app].map((on) => show(new Browser(on), credential)));

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403]);
    expect((await show(new Browser(other), credential)).status).toBe(403);
  });

  it('is refused once its count goes back, as a copy would', async () => {
    const { authenticator } = await withPasskey();
    const browser = new Browser(app);
    const attempt = async (counter: number) =>
      (await show(browser, authenticator.show(await requestOptions(browser), { counter }))).status;

    expect(await attempt(10)).toBe(200);
    expect(await attempt(10)).toBe(403);
    expect(await attempt(3)).toBe(403);
    expect(await attempt(11)).toBe(200);
  });

  it('of an authenticator that does not count serves again and again', async () => {
    const { authenticator } = await withPasskey();
    const browser = new Browser(app);
    for (let round = 0; round < 3; round++) {
      const credential = authenticator.show(await requestOptions(browser), { counter: 0 });
      expect((await show(browser, credential)).status).toBe(200);
    }
  });

  it('is added by its user alone: a challenge of another user, or for signing in, does not work', async () => {
    const [mine, theirs] = [await signedIn(), await signedIn()];
    const authenticator = new PasskeyAuthenticator(ORIGIN, HOST);
    const stolen = await creationOptions(theirs.browser);
    expect((await add(mine.browser, authenticator.create(stolen))).status).toBe(403);
    expect((await add(mine.browser, authenticator.create(await requestOptions(mine.browser)))).status).toBe(
      403,
    );
    const own = authenticator.create(await creationOptions(mine.browser));
    expect((await add(mine.browser, own)).status).toBe(200);
    expect((await add(mine.browser, own)).status, 'nor twice').toBeGreaterThanOrEqual(400);
  });

  it('replaces the password in a step-up, and that of another user does not', async () => {
    const [mine, theirs] = [await withPasskey(), await withPasskey()];
    const stepUp = async (authenticator: PasskeyAuthenticator) =>
      mine.browser.call('POST', '/v1/auth/passkeys/step-up', {
        body: { credential: authenticator.show(await requestOptions(mine.browser)) },
      });
    const { session } = await mine.browser.me();
    await app.dataSource.query(
      "UPDATE sessions SET authenticated_at = now() - interval '1 hour' WHERE id = $1",
      [session.id],
    );
    expect((await mine.browser.call('POST', '/v1/auth/passkeys/creation-options')).body.error.code).toBe(
      'step_up_required',
    );
    expect((await stepUp(theirs.authenticator)).body.error.code).toBe('passkey_failed');
    expect((await stepUp(mine.authenticator)).status).toBe(200);
    expect((await mine.browser.call('POST', '/v1/auth/passkeys/creation-options')).status).toBe(200);
  });

  it('refuses the sign-in once it is removed, or its user deactivated', async () => {
    const [removed, deactivated] = [await withPasskey(), await withPasskey()];
    const path = `/v1/auth/passkeys/${removed.passkey.id}`;
    expect((await deactivated.browser.call('DELETE', path)).status, "not somebody else's").toBe(404);
    expect((await removed.browser.call('DELETE', path)).status).toBe(200);
    await app.call('PUT', `/v1/admin/users/${deactivated.id}`, { body: { status: 'deactivated' } });
    for (const { authenticator } of [removed, deactivated]) {
      const browser = new Browser(app);
      const answer = await show(browser, authenticator.show(await requestOptions(browser)));
      expect(answer.body.error.code).toBe('passkey_failed');
    }
  });

  it.each([{}, { id: 1 }, { id: 'Zm9v' }, { id: 'Zm9v', rawId: 'Zm9v', type: 'public-key', response: null }])(
    'is not %o',
    async (credential) => {
      expect((await show(new Browser(app), credential)).status).toBe(403);
      const { browser } = await signedIn();
      expect((await add(browser, credential)).status).toBe(403);
    },
  );

  it('needs a host name', async () => {
    const byAddress = await AdminApp.start({ GATEHOUSE_PUBLIC_URL: 'https://192.0.2.7/' });
    const answer = await byAddress.call('POST', '/v1/auth/passkeys/request-options', { key: '' });
    await byAddress.close();

    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'passkeys_unavailable' } } });
  });
});
