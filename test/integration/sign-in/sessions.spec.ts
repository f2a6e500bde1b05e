import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';
import { aUserWithPassword, Browser } from '../../support/browser.js';

let app: AdminApp;
let other: AdminApp;
beforeAll(async () => {
  app = await AdminApp.start();
  other = await app.another();
});
afterAll(async () => {
  await other.close();
  await app.close();
});

const HERE = { workspaces: [{ id: 'ws-default', role: 'manager' }] };

async function signedIn(more: object = HERE, on: AdminApp = app) {
  const user = await aUserWithPassword(app, more);
  const browser = new Browser(on);
  const answer = await browser.signIn(user.email, user.password);
  expect(answer.status, answer.text).toBe(200);
  return { ...user, browser, answer };
}

/** The same cookie at the other process. */
const at = (process: AdminApp, { cookies }: Browser): Browser => {
  const browser = new Browser(process);
  browser.cookies = { ...cookies };
  return browser;
};

describe('signing in', () => {
  it('opens a session whose cookie no script can read, and says who is signed in and what they may do', async () => {
    const { browser, answer, email, id } = await signedIn();

    expect(browser.lastSetCookie).toMatch(
      /^gatehouse_session=[0-9A-Za-z]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(answer.text).not.toContain(Object.values(browser.cookies)[0]);
    expect(answer.body).toMatchObject({
      object: 'signed-in',
      user: { id, email, first_name: 'Ada', last_name: 'Lovelace', role: 'member' },
      organisation: { id: app.first.organisation_id },
      workspaces: [{ id: app.first.workspace_id, slug: 'ws-default', role: 'manager' }],
      workspace_total: 1,
      csrf_header: 'x-gateway-csrf',
      sign_in_methods: { password: true },
      session: { method: 'password', is_current: true, ip: browser.address },
    });
    expect(answer.body.scopes_by_role.manager).toContain('virtual_keys.create');
    expect(answer.body.scopes).toEqual(answer.body.scopes_by_role.manager);
    const { session, ...mine } = answer.body;
    expect(await browser.me()).toMatchObject(mine);
    expect(session.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('stores neither the cookie nor the password', async () => {
    const { browser, password } = await signedIn();
    const stored = JSON.stringify(
      await app.dataSource.query('SELECT s, c, a FROM sessions s, user_credentials c, audit_records a'),
    );

    expect(stored).not.toContain(Object.values(browser.cookies)[0]);
    expect(stored).not.toContain(password);
  });

  it('is recorded, done and refused, as done by the user', async () => {
    const { id, email, browser } = await signedIn();
    expect((await app.audited()).at(-1)).toMatchObject({
      action: 'sessions.create',
      actor_kind: 'person',
      actor_name: email,
      user_id: id,
      outcome: 'success',
      ip: browser.address,
      request: { email, password: '***' },
    });
    await new Browser(app).signIn(email, 'not the password');
    expect((await app.audited()).at(-1)).toMatchObject({
      action: 'sessions.create',
      user_id: id,
      outcome: 'refused',
      status: 401,
      error_code: 'sign_in_failed',
    });
  });

  it('takes the address in upper and lower case as the same', async () => {
    const { email, password } = await aUserWithPassword(app);

    expect((await new Browser(app).signIn(email.toUpperCase(), password)).status).toBe(200);
  });

  it('ends the session that the browser had before', async () => {
    const { browser } = await signedIn();
    const copy = new Browser(app);
    copy.cookies = { ...browser.cookies };
    const next = await aUserWithPassword(app);
    await browser.signIn(next.email, next.password);

    expect((await browser.me()).user.email).toBe(next.email);
    expect((await copy.call('GET', '/v1/auth/session')).body.error.code).toBe('session_ended');
  });

  it('ends a session of another organization, too, that the browser had before', async () => {
    const { id, browser } = await signedIn();
    const { organizationId } = await app.anotherOrganization();
    const next = await aUserWithPassword(app);
    const copy = new Browser(app);
    copy.cookies = { ...browser.cookies };
    await app.dataSource.query('DELETE FROM workspace_members WHERE user_id = $1', [id]);
    await app.dataSource.query(
      `WITH moved AS (
         INSERT INTO users (id, organization_id, email, role) VALUES (gen_random_uuid(), $2, 'moved@example.com', 'member')
         RETURNING id)
       UPDATE sessions SET organization_id = $2, user_id = (SELECT id FROM moved) WHERE user_id = $1`,
      [id, organizationId],
    );
    expect((await copy.call('GET', '/v1/auth/session')).status).toBe(200);
    await browser.signIn(next.email, next.password);

    await expect
      .poll(async () => (await copy.call('GET', '/v1/auth/session')).status, { timeout: 20_000 })
      .toBe(401);
  });

  it('gives a new session id, whatever the browser presented before (session fixation)', async () => {
    const { email, password } = await aUserWithPassword(app);
    const { browser: attacker } = await signedIn();
    const victim = new Browser(app);
    victim.cookies = { gatehouse_session: 'x'.repeat(43) };
    await victim.signIn(email, password);
    expect(victim.cookies['gatehouse_session']).not.toBe('x'.repeat(43));
    victim.cookies = { ...attacker.cookies };
    await victim.signIn(email, password);

    expect(victim.cookies['gatehouse_session']).not.toBe(attacker.cookies['gatehouse_session']);
    expect((await attacker.call('GET', '/v1/auth/session')).body.error.code).toBe('session_ended');
    expect((await victim.me()).user.email).toBe(email);
  });
});

describe('a session', () => {
  it('is a caller like any other: same scopes, same tenant, same audit trail', async () => {
    const { browser, id } = await signedIn();
    const made = await browser.call('POST', '/v1/configs', {
      body: { name: 'Mine', config: { provider: 'openai' }, workspace_id: 'ws-default' },
    });

    expect(made.status, made.text).toBe(200);
    expect((await app.audited()).at(-1)).toMatchObject({
      action: 'configs.create',
      user_id: id,
      actor_id: id,
    });
    const refused = await browser.call('GET', '/v1/audit-logs');
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    expect((await browser.call('GET', '/v1/admin/me')).body).toMatchObject({ kind: 'person', user_id: id });
  });

  it('of a user of several workspaces names the workspace, and reaches no other', async () => {
    const second = await app.anotherWorkspace(`ws-second-${Date.now()}`);
    const third = await app.anotherWorkspace(`ws-third-${Date.now()}`);
    const roles = [
      { id: 'ws-default', role: 'member' },
      { id: second, role: 'manager' },
    ];
    const { browser } = await signedIn({ workspaces: roles });
    const list = (workspace?: string) =>
      browser.call('GET', '/v1/virtual-keys', {
        headers: workspace === undefined ? {} : { 'x-gateway-workspace': workspace },
      });

    expect(await list()).toMatchObject({ status: 400, body: { error: { code: 'workspace_required' } } });
    expect((await list('ws-default')).status).toBe(200);
    expect((await list(second)).status).toBe(200);
    for (const closed of [third, 'ws-nowhere', app.first.organisation_id])
      expect(await list(closed)).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    const me = await browser.me();
    expect(me.scopes).toEqual([]);
    expect(me.scopes_by_role.member).not.toContain('configs.create');
    expect(me.scopes_by_role.manager).toContain('configs.create');
  });

  it('of an administrator reaches every workspace, and one when it names one', async () => {
    const { browser } = await signedIn({ role: 'admin' });
    const me = await browser.me();

    expect(me.scopes).toContain('audit_logs.list');
    expect(me.workspaces.length).toBeGreaterThan(0);
    const headers = { 'x-gateway-workspace': 'ws-default' };
    expect((await browser.call('GET', '/v1/admin/me', { headers })).body.workspace_id).toBe(
      app.first.workspace_id,
    );
    expect((await browser.call('GET', '/v1/admin/me')).body.workspace_id).toBeNull();
  });

  it('of a user without a workspace can do nothing but look after itself', async () => {
    const { browser } = await signedIn({});

    expect(await browser.me()).toMatchObject({ workspaces: [], scopes: [], scopes_by_role: {} });
    expect((await browser.call('GET', '/v1/virtual-keys')).body.error.code).toBe('workspace_required');
    expect((await browser.call('POST', '/v1/auth/sign-out')).status).toBe(200);
  });

  it('is refused together with an API key or a signed token', async () => {
    const { browser } = await signedIn();
    const key = app.first.admin_api_key;
    const credentials: Record<string, string>[] = [
      { 'x-gateway-api-key': key },
      { authorization: `Bearer ${key}` },
      { 'x-api-key': key },
      { authorization: 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln' },
    ];
    for (const headers of credentials)
      expect(await browser.call('GET', '/v1/admin/me', { headers })).toMatchObject({
        status: 400,
        body: { error: { code: 'ambiguous_credentials' } },
      });
  });

  it.each(['', 'x', 'x'.repeat(43), 'x'.repeat(4000), '%00', "' OR 1=1"])(
    'is not one with the cookie "%s"',
    async (value) => {
      const browser = new Browser(app);
      browser.cookies = { gatehouse_session: value };

      expect((await browser.call('GET', '/v1/auth/session')).status).toBe(401);
    },
  );

  it('is not replaced by a second cookie of its name, which a page on another port sets for a longer path', async () => {
    const { browser } = await signedIn();
    const { browser: attacker } = await signedIn();
    const header = `${attacker.cookieHeader}; ${browser.cookieHeader}`;
    for (const cookie of [header, `${browser.cookieHeader}; ${browser.cookieHeader}`])
      expect(await new Browser(app).call('GET', '/v1/auth/session', { headers: { cookie } })).toMatchObject({
        status: 400,
        body: { error: { code: 'ambiguous_credentials' } },
      });
    expect((await browser.me()).object).toBe('signed-in');
  });

  it('is for itself: an API key cannot list, end or show sessions', async () => {
    for (const [method, path] of [
      ['GET', '/v1/auth/session'],
      ['GET', '/v1/auth/sessions'],
      ['DELETE', '/v1/auth/sessions'],
      ['POST', '/v1/auth/sign-out'],
    ] as const)
      expect((await app.call(method, path)).status).toBe(403);
  });
});

describe('a change by a session', () => {
  const CHANGE = ['POST', '/v1/auth/sign-out'] as const;

  it.each([
    ['from another origin', { 'sec-fetch-site': 'cross-site' }],
    ['from another host of the domain', { 'sec-fetch-site': 'same-site' }],
    ['without the header', { 'x-gateway-csrf': undefined }],
    ['by a form of another origin', { 'x-gateway-csrf': undefined, 'sec-fetch-site': 'cross-site' }],
    ['that does not say where it comes from', { 'sec-fetch-site': undefined }],
    [
      'from another origin, in an old browser',
      { 'sec-fetch-site': undefined, origin: 'https://evil.example' },
    ],
    ['from an opaque origin', { 'sec-fetch-site': undefined, origin: 'null' }],
    ['from another port', { 'sec-fetch-site': undefined, origin: 'http://localhost:81' }],
  ])('is refused %s, and nothing happens', async (_, changed) => {
    const { browser } = await signedIn();
    const headers = { 'sec-fetch-site': 'same-origin', 'x-gateway-csrf': '1', ...changed };
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    const answer = await app.call(...CHANGE, {
      key: '',
      from: browser.address,
      headers: { cookie: browser.cookieHeader, ...(sent as Record<string, string>) },
    });

    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'csrf_rejected' } } });
    expect((await browser.me()).object).toBe('signed-in');
  });

  it('is done from its own origin in a browser that sends no Sec-Fetch-Site', async () => {
    const { browser } = await signedIn();
    const answer = await app.call(...CHANGE, {
      key: '',
      headers: {
        cookie: browser.cookieHeader,
        'x-gateway-csrf': '1',
        origin: 'http://localhost:80',
        host: 'localhost',
      },
    });

    expect(answer.status, answer.text).toBe(200);
  });

  it('is refused as a sign-in from another origin, too: no one is signed in to a stranger’s account', async () => {
    const { email, password } = await aUserWithPassword(app);
    const answer = await new Browser(app).call('POST', '/v1/auth/sign-in', {
      body: { email, password },
      headers: { 'sec-fetch-site': 'cross-site' },
    });

    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'csrf_rejected' } } });
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe('a session ends', () => {
  const isOver = async (browser: Browser) => {
    for (const process of [app, other]) {
      const answer = await at(process, browser).call('GET', '/v1/auth/session');
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'session_ended' } } });
    }
  };

  it('in every process at once with the sign-out, and its cookie goes', async () => {
    const { browser } = await signedIn();
    const copy = at(app, browser);
    expect((await at(other, browser).me()).object).toBe('signed-in');
    expect((await browser.call('POST', '/v1/auth/sign-out')).status).toBe(200);

    expect(Object.keys(browser.cookies), 'the browser stays known').toEqual(['gatehouse_device']);
    await isOver(copy);
  });

  it.each([
    [
      'deactivated',
      (id: string) => app.call('PUT', `/v1/admin/users/${id}`, { body: { status: 'deactivated' } }),
    ],
    [
      'given another role',
      (id: string) => app.call('PUT', `/v1/admin/users/${id}`, { body: { role: 'admin' } }),
    ],
    [
      'made an owner',
      (id: string) =>
        app.call('POST', `/v1/admin/users/${id}/transfer-ownership`, { body: { step_down: false } }),
    ],
  ])('in every process when its user is %s', async (_, change) => {
    const { browser, id } = await signedIn();
    const changed = await change(id);
    expect(changed.status, changed.text).toBe(200);

    await isOver(browser);
  });

  it('with its user', async () => {
    const { browser, id, email } = await signedIn();
    expect((await app.call('DELETE', `/v1/admin/users/${id}`, { body: { email } })).status).toBe(200);

    await isOver(browser);
  });

  it('permanently: a user who is activated again signs in again', async () => {
    const { browser, id, email, password } = await signedIn();
    await app.call('PUT', `/v1/admin/users/${id}`, { body: { status: 'deactivated' } });
    expect((await new Browser(app).signIn(email, password)).status).toBe(401);
    await app.call('PUT', `/v1/admin/users/${id}`, { body: { status: 'active' } });

    await isOver(browser);
    expect((await new Browser(app).signIn(email, password)).status).toBe(200);
  });

  it.each([
    ['12 hours without a request', "last_seen_at = now() - interval '12 hours 1 second'"],
    ['7 days', "created_at = now() - interval '7 days 1 second'"],
  ])('after %s', async (_, change) => {
    const { browser, answer } = await signedIn();
    await app.dataSource.query(`UPDATE sessions SET ${change} WHERE id = $1`, [answer.body.session.id]);

    await isOver(browser);
  });

  it('not while it is used, and records that once a minute', async () => {
    const { browser, answer } = await signedIn();
    const { id } = answer.body.session;
    const lastSeen = async () =>
      (await app.dataSource.query('SELECT last_seen_at FROM sessions WHERE id = $1', [id]))[0].last_seen_at;
    await app.dataSource.query(
      "UPDATE sessions SET last_seen_at = now() - interval '11 hours 59 minutes' WHERE id = $1",
      [id],
    );
    await browser.me();
    const seen: Date = await lastSeen();
    expect(Date.now() - seen.getTime()).toBeLessThan(10_000);
    await browser.me();

    expect(await lastSeen()).toEqual(seen);
  });

  it('and its row goes with the next sign-in of its user', async () => {
    const { email, password, id } = await signedIn();
    await app.dataSource.query(
      "UPDATE sessions SET last_seen_at = now() - interval '13 hours' WHERE user_id = $1",
      [id],
    );
    await new Browser(app).signIn(email, password);

    expect(await app.dataSource.query('SELECT 1 FROM sessions WHERE user_id = $1', [id])).toHaveLength(1);
  });

  it('by its user from another session: one, or all others, and only their own', async () => {
    const { browser: first, email, password } = await signedIn();
    const { browser: stranger, answer: strangers } = await signedIn();
    const [second, third] = [new Browser(app), new Browser(app)];
    await second.signIn(email, password);
    await third.signIn(email, password);
    const listed = (await first.call('GET', '/v1/auth/sessions')).body;
    expect(listed.total).toBe(3);
    expect(listed.data.filter((each: { is_current: boolean }) => each.is_current)).toHaveLength(1);

    const { id } = (await second.me()).session;
    expect((await first.call('DELETE', `/v1/auth/sessions/${strangers.body.session.id}`)).status).toBe(404);
    expect((await first.call('DELETE', `/v1/auth/sessions/${id}`)).status).toBe(200);
    await isOver(second);
    expect((await first.call('DELETE', '/v1/auth/sessions')).status).toBe(200);
    await isOver(third);
    expect((await first.me()).object).toBe('signed-in');
    expect((await stranger.me()).object).toBe('signed-in');
  });
});
