import { readFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../support/admin-app.js';
import { aUserWithPassword, Browser } from '../../support/browser.js';
import { type Misbehaviour, PasskeyAuthenticator } from '../../support/passkey-authenticator.js';
import { ORIGIN, SignOnWorld } from '../../support/single-sign-on.js';

let world: SignOnWorld;
let provider = '';
beforeAll(async () => {
  world = await SignOnWorld.start();
  provider = await world.aProvider();
});
afterAll(() => world.close());
beforeEach(() => world.app.dataSource.query('DELETE FROM sign_in_brakes'));

/** An event that leaves an audit record, as docs/audit-log.md lists it. */
interface SecurityEvent {
  readonly event: string;
  readonly action: string;
  readonly outcome: 'success' | 'refused';
  readonly error_code: string | null;
  /** Causes it, and returns further columns of the record. */
  readonly cause: () => Promise<object>;
}

async function signedIn() {
  const workspaces = [{ id: world.app.first.workspace_id, role: 'member' }];
  const user = await aUserWithPassword(world.app, { workspaces });
  const browser = new Browser(world.app);
  await browser.signIn(user.email, user.password);
  return { ...user, browser };
}

const show = async (browser: Browser, own: PasskeyAuthenticator, wrong?: Misbehaviour) => {
  const { body } = await browser.call('POST', '/v1/auth/passkeys/request-options');
  const credential = own.show(body.options, wrong);
  return browser.call('POST', '/v1/auth/passkeys/sign-in', { body: { credential } });
};

async function badPasskey(wrong: Misbehaviour, failed_check: string): Promise<object> {
  const { id, browser } = await signedIn();
  const own = new PasskeyAuthenticator(ORIGIN, new URL(ORIGIN).hostname);
  const { body } = await browser.call('POST', '/v1/auth/passkeys/creation-options');
  const credential = own.create(body.options);
  const added = await browser.call('POST', '/v1/auth/passkeys', { body: { name: 'Laptop', credential } });
  own.counter = 10;
  expect((await show(new Browser(world.app), own)).status).toBe(200);
  expect((await show(new Browser(world.app), own, wrong)).status).toBe(403);
  return { user_id: id, target_id: added.body.id, after: { passkey_id: added.body.id, failed_check } };
}

const otherKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

async function throttled(): Promise<object> {
  const { id, email, password } = await aUserWithPassword(world.app);
  const attacker = new Browser(world.app);
  for (let round = 0; round < 15; round++) await attacker.signIn(email, 'a guess');
  expect((await attacker.signIn(email, password)).status).toBe(429);
  return { user_id: id };
}

const EVENTS: readonly SecurityEvent[] = [
  {
    ...{ event: 'wrong password of a user', action: 'sessions.create', outcome: 'refused' },
    error_code: 'sign_in_failed',
    cause: async () => {
      const { id, email } = await aUserWithPassword(world.app);
      await new Browser(world.app).signIn(email, 'a guess');
      return { user_id: id };
    },
  },
  {
    ...{ event: 'sign-in refused by the throttle', action: 'sessions.create', outcome: 'refused' },
    error_code: 'rate_limited',
    cause: throttled,
  },
  {
    ...{ event: 'passkey with a forged signature', action: 'sessions.create', outcome: 'refused' },
    error_code: 'passkey_failed',
    cause: () => badPasskey({ key: otherKey() }, 'signature'),
  },
  {
    ...{ event: 'passkey whose counter shows a copy', action: 'sessions.create', outcome: 'refused' },
    error_code: 'passkey_failed',
    cause: () => badPasskey({ counter: 11 }, 'counter'),
  },
  {
    ...{ event: 'wrong password at a step-up', action: 'sessions.update', outcome: 'refused' },
    error_code: 'reauthentication_failed',
    cause: async () => {
      const { id, browser } = await signedIn();
      await browser.call('POST', '/v1/auth/step-up', { body: { password: 'a guess' } });
      return { user_id: id };
    },
  },
  {
    ...{ event: 'foreign page with the session of a user', action: 'sessions.use', outcome: 'refused' },
    error_code: 'csrf_rejected',
    cause: async () => {
      const { id, browser } = await signedIn();
      const headers = { 'sec-fetch-site': 'same-site' };
      await browser.call('POST', '/v1/auth/sign-out', { headers });
      return { user_id: id };
    },
  },
  {
    ...{ event: 'read refused to an API key', action: 'organisation_users.list', outcome: 'refused' },
    error_code: 'forbidden',
    cause: async () => {
      const { id, key } = await world.app.workspaceKey(['logs.view']);
      await world.app.call('GET', '/v1/admin/users', { key });
      return { actor_id: id };
    },
  },
  {
    ...{ event: 'read refused to a user', action: 'audit_logs.list', outcome: 'refused' },
    error_code: 'forbidden',
    cause: async () => {
      const { id, browser } = await signedIn();
      await browser.call('GET', '/v1/audit-logs');
      return { user_id: id };
    },
  },
  {
    ...{
      event: 'download of the audit log',
      action: 'audit_logs.list',
      outcome: 'success',
      error_code: null,
    },
    cause: async () => {
      await world.app.call('GET', '/v1/audit-logs/export');
      return { method: 'GET', path: '/v1/audit-logs/export' };
    },
  },
  {
    ...{ event: 'single sign-on refused to a known user', action: 'sessions.create', outcome: 'refused' },
    error_code: 'sso_user_deactivated',
    cause: async () => {
      const { id } = await world.aUser();
      await world.app.call('PUT', `/v1/admin/users/${id}`, { body: { status: 'deactivated' } });
      await world.signIn(provider);
      return { user_id: id };
    },
  },
  {
    ...{ event: 'credentials removed at the first single sign-on', action: 'sign_in_methods.delete' },
    ...{ outcome: 'success', error_code: null },
    cause: async () => {
      const { id } = await world.aUser();
      await world.signedIn(provider);
      return { user_id: id, target_id: id };
    },
  },
  {
    ...{ event: 'back-channel logout', action: 'sessions.delete', outcome: 'success', error_code: null },
    cause: async () => {
      const { id, subject } = await world.aUser();
      await world.signedIn(provider);
      const logout_token = await world.directory.logoutToken({ sub: subject });
      await world.app.app.inject({
        ...{ method: 'POST', url: '/v1/auth/single-sign-on/back-channel-logout' },
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ logout_token }).toString(),
      });
      return { user_id: id };
    },
  },
];

const lengthOf = async (): Promise<number> => (await world.app.audited()).length;
const since = async (length: number): Promise<Json[]> => (await world.app.audited()).slice(length);

describe('a security event leaves one audit record', () => {
  it.each(EVENTS.map((each) => [each.event, each] as const))('%s', async (_, event) => {
    const before = await lengthOf();
    const columns = await event.cause();
    const { action, outcome, error_code } = event;
    const records = (await since(before)).filter(
      (record) => record.action === action && record.outcome === outcome && record.error_code === error_code,
    );
    expect(records).toMatchObject([columns]);
  });

  it('and is listed in the documentation with its action', () => {
    const page = readFileSync('docs/audit-log.md', 'utf8');
    for (const { event, action } of EVENTS) expect(page).toContain(`| ${event} | \`${action}\` |`);
  });
});

describe('a flood does not fill the audit log', () => {
  it.each<[string, (round: number, who: Awaited<ReturnType<typeof signedIn>>) => Promise<unknown>]>([
    ['of refused reads', (_, { browser }) => browser.call('GET', '/v1/audit-logs')],
    [
      'of refused reads of many resources',
      (round, { browser }) =>
        browser.call('GET', `/v1/admin/users/01900000-0000-7000-8000-${String(round).padStart(12, '0')}`),
    ],
    [
      'of requests that a foreign page sends',
      (_, { browser }) =>
        browser.call('DELETE', '/v1/auth/sessions', { headers: { 'sec-fetch-site': 'same-site' } }),
    ],
  ])('%s: one record for a caller and an operation', async (_, refused) => {
    const who = await signedIn();
    const before = await lengthOf();
    for (let round = 0; round < 60; round++) await refused(round, who);

    expect(await since(before)).toHaveLength(1);
  });

  it('of throttled sign-ins: one record for a window', async () => {
    const { email } = await aUserWithPassword(world.app);
    const attacker = new Browser(world.app);
    const before = await lengthOf();
    for (let round = 0; round < 60; round++) await attacker.signIn(email, 'a guess');

    expect((await since(before)).filter(({ error_code }) => error_code === 'rate_limited')).toHaveLength(2);
  });
});
