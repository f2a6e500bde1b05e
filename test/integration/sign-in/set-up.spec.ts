import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuditSeal } from '../../../src/admin/audit/audit-seal.js';
import { verifyChain } from '../../../src/admin/audit/verify-chain.js';
import { postgresClient } from '../../../src/database/sessions/postgres-connections.js';
import type { Secret } from '../../../src/common/settings/secret.js';
import { newAdminKey } from '../../../src/cli/operator/create-admin-key-command.js';
import { asOperator } from '../../../src/cli/operator/operator-session.js';
import { newResetLink } from '../../../src/cli/operator/reset-password-command.js';
import { AdminApp } from '../../support/admin-app.js';
import { aUserWithPassword, Browser } from '../../support/browser.js';

const PASSWORD = 'seven-lanterns-in-quiet-harbour';

let app: AdminApp;
let other: AdminApp;
afterAll(async () => {
  await other.close();
  await app.close();
});
beforeAll(async () => {
  app = await AdminApp.start();
  other = await app.another();
});

const setUp = (browser: Browser, body: object) => browser.call('POST', '/v1/auth/set-up', { body });

/** As the command line is called on this machine. */
const environment = () => ({
  DATABASE_URL: app.url,
  GATEHOUSE_MASTER_KEY: (app.settings.masterKey as Secret).reveal(),
  GATEHOUSE_KEY_PEPPER: (app.settings.keyPepper as Secret).reveal(),
  GATEHOUSE_PUBLIC_URL: 'https://gateway.example.com/',
});
const resetLink = (email: string) => asOperator(environment(), (session) => newResetLink(session, email, {}));
const tokenOf = ({ link }: { link: string }) => link.slice(link.indexOf('#') + 1);

describe('a link that is open', () => {
  it('ends when the user changes the password', async () => {
    const { email, password } = await aUserWithPassword(app);
    const token = tokenOf(await resetLink(email));
    const browser = new Browser(app);
    await browser.signIn(email, password);
    const body = { current_password: password, new_password: 'seven-lanterns-in-quiet-harbour' };
    expect((await browser.call('POST', '/v1/auth/password', { body })).status).toBe(200);

    const used = await setUp(new Browser(app), { token, password: PASSWORD });
    expect(used).toMatchObject({ status: 410, body: { error: { code: 'sign_in_link_gone' } } });
  });
});

describe('the set-up link of the first start', () => {
  it('refuses sign-ins before, and sets address, name and password of the owner once', async () => {
    const token = app.first.setup_token ?? '';
    expect(token).toMatch(/^gw_setup_[0-9A-Za-z]{43}$/);
    for (const password of ['', 'password', token])
      expect((await new Browser(app).signIn('owner@localhost', password)).status).toBeGreaterThanOrEqual(400);

    const weak = await setUp(new Browser(app), {
      token,
      email: 'ada@example.com',
      password: 'passwordpassword',
    });
    expect(weak).toMatchObject({ status: 400, body: { error: { code: 'password_unacceptable' } } });
    const browser = new Browser(app);
    const body = { token, email: 'Ada@Example.com', name: 'Ada King Lovelace', password: PASSWORD };
    const answer = await setUp(browser, body);

    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      user: { email: 'ada@example.com', first_name: 'Ada', last_name: 'King Lovelace', role: 'owner' },
      session: { method: 'set_up_link' },
      sign_in_methods: { password: true },
    });
    expect((await browser.me()).user.role).toBe('owner');
    expect((await new Browser(other).signIn('ada@example.com', PASSWORD)).status).toBe(200);
    expect((await app.audited()).findLast(({ action }) => action === 'passwords.update')).toMatchObject({
      outcome: 'success',
      actor_kind: 'person',
      actor_name: 'ada@example.com',
      request: { email: 'Ada@Example.com', token: '***', password: '***' },
    });

    const again = await setUp(new Browser(other), { ...body, password: `${PASSWORD} again` });
    expect(again).toMatchObject({ status: 410, body: { error: { code: 'sign_in_link_gone' } } });
    expect((await new Browser(app).signIn('ada@example.com', PASSWORD)).status).toBe(200);
  });

  it('cannot be guessed: every mismatch gets the same response', async () => {
    for (const token of [
      '',
      'gw_setup_',
      `gw_setup_${'a'.repeat(43)}`,
      app.first.admin_api_key,
      '\u0000'.repeat(3),
    ]) {
      const answer = await setUp(new Browser(app), { token, password: PASSWORD });
      expect([400, 410]).toContain(answer.status);
      if (!token.includes('\u0000')) expect(answer.body.error.code).toBe('sign_in_link_gone');
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });
});

describe('a reset on the machine', () => {
  let user: { id: string; email: string; password: string };
  beforeEach(async () => void (user = await aUserWithPassword(app)));

  it('prints a link that sets another password once, and ends the sessions of the user in every process', async () => {
    const browser = new Browser(other);
    await browser.signIn(user.email, user.password);
    const link = await resetLink(user.email);
    expect(link.link).toMatch(/^https:\/\/gateway\.example\.com\/ui\/set-up#gw_reset_[0-9A-Za-z]{43}$/);
    expect((await browser.me()).user.email, 'until it is used nothing has changed').toBe(user.email);

    const answer = await setUp(new Browser(app), { token: tokenOf(link), password: PASSWORD });
    expect(answer.status, answer.text).toBe(200);
    expect((await browser.call('GET', '/v1/auth/session')).body.error.code).toBe('session_ended');
    expect((await new Browser(app).signIn(user.email, user.password)).status).toBe(401);
    expect((await new Browser(app).signIn(user.email, PASSWORD)).status).toBe(200);
    expect((await setUp(new Browser(app), { token: tokenOf(link), password: PASSWORD })).status).toBe(410);
  });

  it('changes neither the address nor the name', async () => {
    const token = tokenOf(await resetLink(user.email));
    const answer = await setUp(new Browser(app), {
      token,
      email: 'x@example.com',
      name: 'X',
      password: PASSWORD,
    });

    expect(answer.body.user).toMatchObject({ email: user.email, first_name: 'Ada', last_name: 'Lovelace' });
  });

  it('is used once by two at the same moment', async () => {
    const token = tokenOf(await resetLink(user.email));
    const answers = await Promise.all(
      [app, other, app, other].map((on, index) =>
        setUp(new Browser(on), { token, password: `${PASSWORD} number ${index}` }),
      ),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410]);
  });

  it('makes the links before it void', async () => {
    const [first, second] = [await resetLink(user.email), await resetLink(user.email)];

    expect((await setUp(new Browser(app), { token: tokenOf(first), password: PASSWORD })).status).toBe(410);
    expect((await setUp(new Browser(app), { token: tokenOf(second), password: PASSWORD })).status).toBe(200);
  });

  it.each([
    ['expired', "UPDATE sign_in_links SET expires_at = now() - interval '1 second' WHERE user_id = $1"],
    ['of a deactivated user', "UPDATE users SET status = 'deactivated' WHERE id = $1"],
  ])('prints a link that does nothing once it is %s', async (_, change) => {
    const token = tokenOf(await resetLink(user.email));
    await app.dataSource.query(change, [user.id]);

    expect((await setUp(new Browser(app), { token, password: PASSWORD })).body.error.code).toBe(
      'sign_in_link_gone',
    );
  });

  it('from a page of another origin is refused', async () => {
    const token = tokenOf(await resetLink(user.email));
    const answer = await new Browser(app).call('POST', '/v1/auth/set-up', {
      body: { token, password: PASSWORD },
      headers: { 'sec-fetch-site': 'cross-site' },
    });

    expect(answer.body.error.code).toBe('csrf_rejected');
    expect((await setUp(new Browser(app), { token, password: PASSWORD })).status, 'it is still open').toBe(
      200,
    );
  });

  it('is recorded as done by the operator, in a chain that holds', async () => {
    const { link } = await resetLink(user.email);
    const records = await app.audited();

    expect(records.at(-1)).toMatchObject({
      action: 'sign_in_links.create',
      actor_kind: 'operator',
      path: 'gatehouse user reset-password',
      target_id: user.id,
      outcome: 'success',
    });
    expect(JSON.stringify(records)).not.toContain(tokenOf({ link }));
    expect((await app.call('GET', '/v1/audit-logs')).body.records[0]).toMatchObject({
      actor_kind: 'operator',
    });
    const client = postgresClient('commands', {
      connectionString: app.url,
      application_name: 'chain of the test',
    });
    await client.connect();
    const seal = app.app.get(AuditSeal);
    const { problem } = await verifyChain({ client, seal, organizationId: app.first.organisation_id });
    await client.end();
    expect(problem).toBeNull();
  });

  it('reports that no user has the address', async () => {
    await expect(resetLink('nobody@example.com')).rejects.toThrow('no active user');
    await expect(resetLink('nobody')).rejects.toThrow('not an e-mail address');
  });

  it('is refused with the keys of another installation', async () => {
    const wrong = {
      ...environment(),
      GATEHOUSE_KEY_PEPPER: Buffer.from('another pepper for this test 32b').toString('base64'),
    };

    await expect(asOperator(wrong, (session) => newResetLink(session, user.email, {}))).rejects.toThrow(
      'KEY_PEPPER',
    );
  });
});

describe('an admin key made on the machine', () => {
  it('administers on the authority of an owner, and is recorded', async () => {
    const key = await asOperator(environment(), (session) =>
      newAdminKey(session, { name: 'Made on the machine' }),
    );

    expect((await app.call('GET', '/v1/admin/users', { key })).status).toBe(200);
    expect((await app.audited()).at(-1)).toMatchObject({
      action: 'organisation_service_api_keys.create',
      actor_kind: 'operator',
    });
  });

  it('can do no more than its user', async () => {
    const { email } = await aUserWithPassword(app);
    const key = await asOperator(environment(), (session) =>
      newAdminKey(session, { name: 'Of a member', user: email }),
    );

    expect((await app.call('GET', '/v1/admin/users', { key })).status).toBe(403);
  });
});
