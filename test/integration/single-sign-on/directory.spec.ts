import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUserWithPassword, Browser } from '../../support/browser.js';
import { PROVIDERS, refusalIn, SIGN_IN, SignOnWorld } from '../../support/single-sign-on.js';

let world: SignOnWorld;
beforeAll(async () => {
  world = await SignOnWorld.start();
});
afterAll(() => world.close());

const MAPPINGS = {
  role_mappings: [
    { value: 'admins', organisation_role: 'admin' },
    { value: 'search', workspace_id: 'ws-default', workspace_role: 'manager' },
    { value: 'gone', workspace_id: 'ws-not-there' },
  ],
};

describe('the groups of the directory', () => {
  it('give roles and workspaces to a user who is made', async () => {
    const provider = await world.aProvider({ ...MAPPINGS, create_users: true });
    world.anAccount({ groups: ['search', 'gone', 'others'] });
    const { user, workspaces } = await world.signedIn(provider);

    expect(user.role).toBe('member');
    expect(workspaces).toMatchObject([{ slug: 'ws-default', role: 'manager' }]);
  });

  it('are followed at each sign-in where the organization enables that, and end sessions of the former role', async () => {
    const provider = await world.aProvider({ ...MAPPINGS, create_users: true, roles_follow_directory: true });
    const { subject, email } = world.anAccount({ groups: ['admins'] });
    const first = await world.signedIn(provider);
    expect(first.user.role).toBe('admin');
    world.directory.accounts.set(subject, { email, email_verified: true, groups: ['search'] });
    const second = await world.signedIn(provider);

    expect(second.user.role).toBe('member');
    expect(second.workspaces).toMatchObject([{ slug: 'ws-default', role: 'manager' }]);
    expect((await first.browser.call('GET', '/v1/auth/session')).body.error.code).toBe('session_ended');
    world.directory.accounts.set(subject, { email, email_verified: true, groups: [] });
    expect((await world.signedIn(provider)).workspaces).toEqual([]);
    const changes = (await world.app.audited()).filter(
      ({ action }) => action === 'organisation_users.update',
    );
    expect(changes).toMatchObject([{ before: { role: 'admin' }, after: { role: 'member' } }, {}]);
  });

  it('change nothing of a known user otherwise, nor of workspaces that no mapping names', async () => {
    const keeping = await world.aProvider(MAPPINGS);
    const following = await world.aProvider({
      role_mappings: [{ value: 'x', workspace_id: 'ws-elsewhere' }],
      roles_follow_directory: true,
    });
    await world.app.anotherWorkspace('ws-elsewhere');
    const workspaces = [{ id: world.app.first.workspace_id, role: 'member' }];
    await world.aUser({ role: 'member', workspaces }, { groups: ['admins'] });
    for (const provider of [keeping, following])
      expect(await world.signedIn(provider)).toMatchObject({
        user: { role: 'member' },
        workspaces: [{ slug: 'ws-default', role: 'member' }],
      });
  });

  it('never take ownership, nor give it', async () => {
    const provider = await world.aProvider({ ...MAPPINGS, roles_follow_directory: true });
    const { id } = await world.aUser({}, { groups: [] });
    await world.app.dataSource.query("UPDATE users SET role = 'owner' WHERE id = $1", [id]);
    expect((await world.signedIn(provider)).user.role).toBe('owner');
    const mapping = { value: 'x', organisation_role: 'owner' };
    const body = world.directory.setting({ role_mappings: [mapping] });
    expect((await world.app.call('POST', PROVIDERS, { body })).status).toBe(400);
  });

  it('that are too many for a token are reported, and grant no wrong role', async () => {
    const provider = await world.aProvider({ ...MAPPINGS, create_users: true });
    world.anAccount({ _claim_names: { groups: 'src1' } });
    expect(refusalIn((await world.signIn(provider)).location)).toBe('sso_groups_overage');
  });
});

describe('a trial', () => {
  const trial = async (body: object) => {
    const started = await world.app.call('POST', '/v1/admin/organisation/sign-in-trials', { body });
    if (started.status !== 200) throw new Error(started.text);
    const path = `/v1/admin/organisation/sign-in-trials/${started.body.id}`;
    expect((await world.app.call('GET', path)).body).toMatchObject({ status: 'pending' });
    const back = await world.directory.visit(started.body.authorization_url);
    const browser = new Browser(world.app);
    const ended = await world.back(browser, back);
    return { result: (await world.app.call('GET', path)).body.result, browser, ended, back };
  };

  it('shows claims and roles before the provider is saved, and creates no session', async () => {
    const { email } = world.anAccount({ groups: ['admins', 'search'] });
    const before = (await world.app.audited()).length;
    const { result, browser, ended, back } = await trial(
      world.directory.setting({ ...MAPPINGS, create_users: true }),
    );

    expect(result).toMatchObject({
      ...{ email, action: 'create', role: 'admin' },
      claims: { groups: ['admins', 'search'] },
      workspaces: [{ workspace_id: 'ws-default', role: 'manager' }],
    });
    expect(ended.headers['location']).toBe('/ui/sign-in?trial=done');
    expect(browser.cookies).toEqual({});
    expect(refusalIn(String((await world.back(browser, back)).headers['location']))).toBe(
      'sso_state_invalid',
    );
    const users = await world.app.dataSource.query('SELECT 1 FROM users WHERE email = $1', [email]);
    expect(users).toEqual([]);
    expect((await world.app.audited()).slice(before)).toMatchObject([
      { action: 'organisation_settings.update' },
    ]);
  });

  it('explains why a sign-in would be refused, with the claims that show it', async () => {
    world.anAccount({ email_verified: false });
    const { result } = await trial(world.directory.setting());
    expect(result).toMatchObject({
      error: { code: 'sso_email_unverified' },
      claims: { email_verified: false },
    });
  });

  it('takes the secret of a saved provider, but sends it to no other issuer', async () => {
    const id = await world.aProvider();
    await world.aUser();
    expect((await trial({ identity_provider_id: id })).result).toMatchObject({
      action: 'link',
      role: 'member',
    });
    const body = { identity_provider_id: id, issuer: 'http://127.0.0.1:1' };
    expect((await world.app.call('POST', '/v1/admin/organisation/sign-in-trials', { body })).status).toBe(
      400,
    );
  });
});

describe('a sign-out', () => {
  it('at the provider ends the sessions from it, within 2 s', async () => {
    const provider = await world.aProvider();
    await world.aUser();
    const { browser, cookies } = await world.signIn(provider);
    expect((await browser.call('GET', '/v1/auth/session')).status).toBe(200);
    const before = Date.now();
    await world.directory.signOut(cookies);
    let status = 200;
    while (status === 200 && Date.now() - before < 2_000)
      status = (await browser.call('GET', '/v1/auth/session')).status;

    expect(status).toBe(401);
  });

  it('here returns where to sign out at the provider', async () => {
    const provider = await world.aProvider();
    await world.aUser();
    const { browser } = await world.signedIn(provider);
    const { body } = await browser.call('POST', '/v1/auth/single-sign-on/sign-out');
    const url = new URL(body.logout_url);

    expect(url.origin).toBe(world.directory.issuer);
    expect(url.searchParams.get('id_token_hint')).toMatch(/^ey/);
    expect((await fetch(url)).status).toBe(200);
    expect(Object.keys(browser.cookies)).toEqual(['__Host-gatehouse-device']);
  });

  it.each(['', 'no.token.here', 'eyJhbGciOiJub25lIn0.e30.AA'])(
    'refuses the logout token %j',
    async (token) => {
      const answer = await world.app.app.inject({
        method: 'POST',
        url: '/v1/auth/single-sign-on/back-channel-logout',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ logout_token: token }).toString(),
      });
      expect([answer.statusCode, answer.json().error.code]).toEqual([400, 'logout_token_invalid']);
    },
  );
});

describe('required single sign-on', () => {
  it('closes passwords, links and passwords of invites to all but break-glass owners', async () => {
    const owner = await aUserWithPassword(world.app, { role: 'admin' });
    await world.app.dataSource.query("UPDATE users SET role = 'owner' WHERE id = $1", [owner.id]);
    const user = await world.aUser();
    const unlinked = await aUserWithPassword(world.app);
    const signedIn = new Browser(world.app);
    await signedIn.signIn(user.email, user.password);
    const provider = await world.aProvider();
    const set = (single_sign_on_required: boolean, break_glass_user_ids: string[]) =>
      world.app.call('PUT', SIGN_IN, { body: { single_sign_on_required, break_glass_user_ids } });
    expect((await set(true, [])).status, 'without a way back in').toBe(409);
    expect((await set(true, [user.id])).status, 'of a member').toBe(400);
    expect((await set(true, [owner.id])).status).toBe(200);

    // One response, so that it confirms no password.
    for (const password of [user.password, 'a wrong password']) {
      const refused = await new Browser(world.app).signIn(user.email, password);
      expect([refused.status, refused.body.error.code]).toEqual([401, 'sign_in_failed']);
    }
    const reasons = (await world.app.audited()).slice(-2).map(({ error_code }) => error_code);
    expect(reasons).toEqual(['single_sign_on_required', 'sign_in_failed']);
    expect((await signedIn.call('GET', '/v1/auth/session')).body.error.code).toBe('session_ended');
    const invite = await world.app.call('POST', '/v1/admin/users/invites', {
      body: { email: 'invited@example.com', role: 'member', workspaces: [] },
    });
    const token = invite.body.invite_link.split('#')[1];
    const accepted = await world.app.call('POST', '/v1/admin/invites/accept', {
      key: '',
      body: { token, first_name: 'Ada', last_name: 'Lovelace', password: user.password },
    });
    expect(accepted.body.error.code, 'of an invite').toBe('single_sign_on_required');
    expect((await new Browser(world.app).signIn(owner.email, owner.password)).status).toBe(200);
    world.directory.account = user.subject;
    expect((await world.signedIn(provider)).user.id).toBe(user.id);

    await world.app.dataSource.query("UPDATE users SET role = 'admin' WHERE id = $1", [owner.id]);
    expect((await new Browser(world.app).signIn(owner.email, owner.password)).status).toBe(401);
    expect((await set(false, [])).status).toBe(200);
    expect((await new Browser(world.app).signIn(unlinked.email, unlinked.password)).status).toBe(200);
  });
});
