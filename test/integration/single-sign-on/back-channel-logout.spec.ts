import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Browser } from '../../support/browser.js';
import { SignOnWorld } from '../../support/single-sign-on.js';

let world: SignOnWorld;
let provider = '';
beforeAll(async () => {
  world = await SignOnWorld.start();
  provider = await world.aProvider({ create_users: true });
});
afterAll(() => world.close());

let sub = '';
let browser: Browser;
const signIn = async (): Promise<void> => {
  ({ browser } = await world.signedIn(provider));
};
beforeEach(async () => {
  sub = world.anAccount().subject;
  await signIn();
});

/** The code of the refusal, or null. */
async function send(logoutToken: string): Promise<string | null> {
  const answer = await world.app.app.inject({
    method: 'POST',
    url: '/v1/auth/single-sign-on/back-channel-logout',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ logout_token: logoutToken }).toString(),
  });
  return answer.statusCode === 200 ? null : answer.json().error.code;
}

const isSignedIn = async (): Promise<boolean> =>
  (await browser.call('GET', '/v1/auth/session')).status === 200;

describe('a logout token of the provider', () => {
  it('ends the session of its subject', async () => {
    expect(await send(await world.directory.logoutToken({ sub }))).toBeNull();
    expect(await isSignedIn()).toBe(false);
  });

  it('counts once: sent again, it does not end the next session', async () => {
    const token = await world.directory.logoutToken({ sub });
    expect(await send(token)).toBeNull();
    await signIn();
    expect(await send(token)).toBe('logout_token_invalid');
    expect(await isSignedIn()).toBe(true);
  });

  it('counts once by its "jti", also with another signature', async () => {
    const jti = 'the-same';
    expect(await send(await world.directory.logoutToken({ sub, jti }))).toBeNull();
    await signIn();
    expect(await send(await world.directory.logoutToken({ sub, jti, sid: 'x' }))).toBe(
      'logout_token_invalid',
    );
    expect(await isSignedIn()).toBe(true);
  });

  it.each([
    ['for another client', { aud: 'another-client' }],
    ['without an audience', { aud: undefined }],
    ['of another issuer', { iss: 'https://login.example.com' }],
    ['with a nonce, as an ID token has', { nonce: 'n-1' }],
    ['without a "jti"', { jti: undefined }],
    ['without the event of a logout', { events: { 'https://example.com/other': {} } }],
    ['that names neither a subject nor a session', { sub: undefined }],
  ])('%s is refused, and ends no session', async (_, claims) => {
    expect(await send(await world.directory.logoutToken({ sub, ...claims }))).toBe('logout_token_invalid');
    expect(await isSignedIn()).toBe(true);
  });
});
