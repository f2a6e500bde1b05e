import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { aUserWithPassword, Browser } from '../../support/browser.js';

let app: AdminApp;
beforeAll(async () => {
  app = await AdminApp.start();
});
afterAll(() => app.close());

async function signedIn(more: object = {}) {
  const user = await aUserWithPassword(app, more);
  const browser = new Browser(app);
  expect((await browser.signIn(user.email, user.password)).status).toBe(200);
  return { ...user, browser };
}

async function anOwner() {
  const owner = await signedIn();
  await app.dataSource.query("UPDATE users SET role = 'owner' WHERE id = $1", [owner.id]);
  return owner;
}

const isSignedIn = async ({ browser }: { browser: Browser }): Promise<boolean> =>
  (await browser.call('GET', '/v1/auth/session')).status === 200;
const pathOf = ({ id }: { id: string }, rest: string): string => `/v1/admin/users/${id}/${rest}`;
const sessionsOf = async (by: Browser, user: { id: string }): Promise<Json[]> =>
  (await by.call('GET', pathOf(user, 'sessions'))).body.data;

/** As if the person had confirmed an authenticator app and added a passkey. */
async function giveFactors({ id }: { id: string }): Promise<void> {
  await app.dataSource.query('UPDATE user_credentials SET totp_confirmed_at = now() WHERE user_id = $1', [
    id,
  ]);
  await app.dataSource.query(
    `INSERT INTO passkeys (id, organization_id, user_id, name, credential_id, public_key, counter, transports, is_backed_up)
     VALUES (gen_random_uuid(), $2, $1, 'Laptop', gen_random_uuid()::text, '', 0, '{}', false)`,
    [id, app.first.organisation_id],
  );
}
const methodsOf = async (by: Browser, user: { id: string }): Promise<Json> =>
  (await by.call('GET', pathOf(user, 'sign-in-methods'))).body;

describe('the sessions of another person', () => {
  it('are listed with where they come from, and none of them is the current one of the caller', async () => {
    const [admin, person] = [await signedIn({ role: 'admin' }), await signedIn()];

    expect(await sessionsOf(admin.browser, person)).toMatchObject([
      { object: 'session', method: 'password', ip: person.browser.address, is_current: false },
    ]);
  });

  it('end one by one and all at once, with the next request, and are recorded', async () => {
    const [admin, person] = [await signedIn({ role: 'admin' }), await signedIn()];
    const second = new Browser(app);
    await second.signIn(person.email, person.password);
    const [newest, oldest] = await sessionsOf(admin.browser, person);

    expect((await admin.browser.call('DELETE', pathOf(person, `sessions/${newest.id}`))).status).toBe(200);
    expect(await isSignedIn({ browser: second })).toBe(false);
    expect(await isSignedIn(person)).toBe(true);
    expect((await app.audited()).findLast(({ user_id }) => user_id === admin.id)).toMatchObject({
      action: 'organisation_users.update',
      target_id: person.id,
      outcome: 'success',
    });
    expect((await admin.browser.call('DELETE', pathOf(person, 'sessions'))).status).toBe(200);
    expect(await isSignedIn(person)).toBe(false);
    expect((await admin.browser.call('DELETE', pathOf(person, `sessions/${oldest.id}`))).status).toBe(404);
  });

  it('of the same or a higher rank stay, and no session ends through the path of another user', async () => {
    const [admin, peer, person] = [
      await signedIn({ role: 'admin' }),
      await signedIn({ role: 'admin' }),
      await signedIn(),
    ];
    const [session] = await sessionsOf(admin.browser, peer);

    expect((await admin.browser.call('DELETE', pathOf(peer, 'sessions'))).status).toBe(403);
    expect((await admin.browser.call('DELETE', pathOf(person, `sessions/${session.id}`))).status).toBe(404);
    expect(await isSignedIn(peer)).toBe(true);
  });
});

describe('the second factors of another person', () => {
  it('are counted, and removed by an owner together with the sessions', async () => {
    const [owner, person] = [await anOwner(), await signedIn()];
    await giveFactors(person);
    expect(await methodsOf(owner.browser, person)).toEqual({
      password: true,
      totp: true,
      recovery_codes_left: 0,
      passkeys: 1,
    });

    expect((await owner.browser.call('DELETE', pathOf(person, 'second-factors'))).status).toBe(200);
    expect(await methodsOf(owner.browser, person)).toMatchObject({
      password: true,
      totp: false,
      passkeys: 0,
    });
    expect(await isSignedIn(person)).toBe(false);
    expect((await new Browser(app).signIn(person.email, person.password)).status).toBe(200);
    const nothingLeft = await owner.browser.call('DELETE', pathOf(person, 'second-factors'));
    expect(nothingLeft.status).toBe(409);
  });

  it('are not removed by an admin, nor by an owner who has not proved who they are lately', async () => {
    const [owner, admin, person] = [await anOwner(), await signedIn({ role: 'admin' }), await signedIn()];
    await giveFactors(person);
    await app.dataSource.query(
      "UPDATE sessions SET authenticated_at = now() - interval '11 minutes' WHERE user_id = $1",
      [owner.id],
    );

    expect((await admin.browser.call('DELETE', pathOf(person, 'second-factors'))).status).toBe(403);
    expect((await owner.browser.call('DELETE', pathOf(person, 'second-factors'))).body.error.code).toBe(
      'step_up_required',
    );
    expect(await methodsOf(admin.browser, person)).toMatchObject({ totp: true, passkeys: 1 });
  });
});
