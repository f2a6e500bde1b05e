import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../support/browser.js';
import { CALLBACK, ORIGIN, refusalIn, SignOnWorld } from '../../support/single-sign-on.js';

let world: SignOnWorld;
let provider = '';
beforeAll(async () => {
  world = await SignOnWorld.start();
  provider = await world.aProvider({ create_users: true });
});
afterAll(() => world.close());

const lastAudited = async () => (await world.app.audited()).at(-1);

describe('a sign-in at the identity provider', () => {
  it('uses a code with PKCE, state and nonce, and a cookie that no other host can plant', async () => {
    const browser = new Browser(world.app);
    const { origin, searchParams } = await world.start(browser, provider);

    expect(origin).toBe(world.directory.issuer);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      scope: 'openid email profile',
      redirect_uri: `${CALLBACK}/${provider}`,
    });
    expect(browser.lastSetCookie).toMatch(
      /^__Host-gatehouse-sign-on=\S+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  });

  it('opens a session like any other, and is recorded', async () => {
    const { id, email } = await world.aUser({ role: 'admin' });
    const { user, session, browser } = await world.signedIn(provider);

    expect(user).toMatchObject({ id, email, role: 'admin' });
    expect(session.method).toBe('single_sign_on');
    expect((await browser.me()).identity_provider).toEqual({ id: provider, name: 'Directory' });
    expect(Object.keys(browser.cookies)).toEqual(['__Host-gatehouse', '__Host-gatehouse-device']);
    expect(await lastAudited()).toMatchObject({
      ...{ action: 'sessions.create', user_id: id, outcome: 'success', target_id: session.id },
      path: `/v1/auth/single-sign-on/callback/${provider}`,
    });
  });

  it('knows a linked user by the account, whatever address it has by now', async () => {
    const { id, subject } = await world.aUser();
    await world.signedIn(provider);
    world.directory.accounts.set(subject, { email: 'another@example.com', email_verified: false });

    expect((await world.signedIn(provider)).user.id).toBe(id);
  });

  it('makes a user with names where the organization enables that, and not where it does not', async () => {
    const { email } = world.anAccount({ given_name: 'Ada', family_name: 'Lovelace' });
    const closed = await world.aProvider({ name: 'Closed' });
    expect(refusalIn((await world.signIn(closed)).location)).toBe('sso_user_unknown');
    expect(await lastAudited()).toMatchObject({
      outcome: 'refused',
      error_code: 'sso_user_unknown',
      actor_name: email,
    });
    const { user } = await world.signedIn(provider);

    expect(user).toMatchObject({ email, first_name: 'Ada', last_name: 'Lovelace', role: 'member' });
    expect((await world.app.audited()).filter(({ user_id }) => user_id === user.id)).toMatchObject([
      { action: 'organisation_users.create', target_id: user.id },
      { action: 'sessions.create' },
    ]);
  });

  it.each([
    ['unverified', { email_verified: false }],
    ['not said to be verified', { email_verified: undefined }],
    ['no address', { email: 'ada at example' }],
    ['missing', { email: undefined }],
  ])('never links by an address that is %s', async (_, claims) => {
    const { email } = await world.aUser();
    world.anAccount({ email, ...claims });

    expect(refusalIn((await world.signIn(provider)).location)).toBe('sso_email_unverified');
  });

  it("takes Entra's word for the owner of the domain where there is no other", async () => {
    const { id } = await world.aUser({}, { email_verified: undefined, xms_edov: true });
    expect((await world.signedIn(provider)).user.id).toBe(id);
    await world.aUser({}, { email_verified: false, xms_edov: true });
    expect(refusalIn((await world.signIn(provider)).location)).toBe('sso_email_unverified');
  });

  it('does not let an address bring its user along to another account', async () => {
    const { email, id } = await world.aUser();
    await world.signedIn(provider);
    world.anAccount({ email });
    expect(refusalIn((await world.signIn(provider)).location)).toBe('sso_account_mismatch');
    const unlink = `/v1/admin/organisation/identity-providers/${provider}/accounts/${id}`;
    expect((await world.app.call('DELETE', unlink)).status).toBe(200);
    expect((await world.app.call('DELETE', unlink)).status).toBe(404);

    expect((await world.signedIn(provider)).user.id).toBe(id);
  });

  it('is refused to a deactivated user, linked or not', async () => {
    const { id } = await world.aUser();
    await world.app.call('PUT', `/v1/admin/users/${id}`, { body: { status: 'deactivated' } });
    const { location, browser } = await world.signIn(provider);

    expect(refusalIn(location)).toBe('sso_user_deactivated');
    expect(browser.cookies).toEqual({});
    expect(await lastAudited()).toMatchObject({ user_id: id, outcome: 'refused', action: 'sessions.create' });
  });

  it('is for addresses of the domains of the provider', async () => {
    const narrow = await world.aProvider({ name: 'Narrow', domains: ['Corp.Example'], create_users: true });
    world.anAccount();
    expect(refusalIn((await world.signIn(narrow)).location)).toBe('sso_domain_not_allowed');
    const { email } = world.anAccount({ email: 'grace@corp.example' });
    expect(email).toContain('@');
    expect((await world.signedIn(narrow)).user.email).toBe('grace@corp.example');
  });

  it('replaces the session that the browser had', async () => {
    await world.aUser();
    const { session, browser } = await world.signedIn(provider);
    const again = await world.signedIn(provider, browser);

    expect(again.session.id).not.toBe(session.id);
    expect((await browser.call('GET', '/v1/auth/sessions')).body.total).toBe(1);
  });

  it('counts as step-up verification from when the user last signed in to the provider', async () => {
    await world.aUser({ role: 'admin' });
    const cookies = new Map<string, string>();
    const first = await world.signIn(provider, undefined, '', cookies);
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const silent = await world.signIn(provider, first.browser, '', cookies);
    const { authenticated_at, session } = await silent.browser.me();
    expect(Date.parse(session.created_at) - Date.parse(authenticated_at)).toBeGreaterThan(1_000);
    const asked = await world.start(silent.browser, provider, '&reauthenticate=true');

    expect(Object.fromEntries(asked.searchParams)).toMatchObject({ prompt: 'login', max_age: '0' });
  });
});

describe('the account at the provider', () => {
  it('is suggested by the entered address, and can be chosen again after a refusal', async () => {
    const { browser } = await world.signIn(provider);
    const hint = `&login_hint=${encodeURIComponent('mia@acme.example')}`;
    const first = await world.start(browser, provider, hint);
    expect(first.searchParams.get('login_hint')).toBe('mia@acme.example');
    expect(first.searchParams.has('prompt')).toBe(false);
    const again = await world.start(browser, provider, `${hint}&select_account=true`);
    expect(again.searchParams.get('prompt')).toBe('select_account');
    expect(again.searchParams.has('max_age')).toBe(false);
    const forged = await world.start(browser, provider, '&login_hint=no%20address');
    expect(forged.searchParams.has('login_hint')).toBe(false);
  });
});

describe('the link to return to', () => {
  it.each(['/ui', '/ui/w/ws-default/logs?model=a%20b#tail', '/ui/?x=//evil.example'])(
    'may be %s',
    async (path) => {
      world.anAccount();
      const query = `&return_to=${encodeURIComponent(path)}`;
      expect((await world.signIn(provider, undefined, query)).location).toBe(path);
    },
  );

  it.each([
    'https://evil.example/ui/',
    '//evil.example/ui/',
    '/\\evil.example',
    '/ui\\..\\..\\evil',
    '/ui/../v1/auth/session',
    '/ui/%2e%2e/v1/logs',
    '/uix',
    '/ui/\tx',
    'javascript:alert(1)',
    '',
  ])('may not be %j', async (path) => {
    const query = `&return_to=${encodeURIComponent(path)}`;
    const answer = await new Browser(world.app).call(
      'GET',
      `/v1/auth/single-sign-on/start?provider=${provider}${query}`,
    );
    expect(refusalIn(String(answer.headers['location']))).toBe('invalid_request');
  });
});

describe('the sign-in page', () => {
  it('finds providers by the domain of an address, and reveals nothing else', async () => {
    const id = await world.aProvider({ name: 'By domain', domains: ['found.example'] });
    const find = (email: string) =>
      new Browser(world.app).call('POST', '/v1/auth/single-sign-on', { body: { email } });
    expect((await find('Ada@FOUND.example')).body).toEqual({
      object: 'list',
      total: 1,
      data: [
        {
          ...{ id, name: 'By domain', organisation_name: expect.any(String) },
          sign_in_url: `${ORIGIN}/v1/auth/single-sign-on/start?provider=${id}`,
        },
      ],
    });
    expect((await find('ada@sub.found.example')).body.total).toBe(0);
    await world.app.call('PUT', `/v1/admin/organisation/identity-providers/${id}`, {
      body: { enabled: false },
    });
    expect((await find('ada@found.example')).body.total).toBe(0);
  });
});
