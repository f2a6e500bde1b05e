import { Secret as TotpSecret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Secret } from '../../../src/common/settings/secret.js';
import { asOperator } from '../../../src/cli/operator/operator-session.js';
import { newResetLink } from '../../../src/cli/operator/reset-password-command.js';
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

const PERIOD_MS = 30_000;

/** An authenticator app. Each call shows the code of another period, as if time had passed since the last one. */
class Authenticator {
  private readonly totp: TOTP;
  constructor(secret: string) {
    this.totp = new TOTP({ secret: TotpSecret.fromBase32(secret) });
  }

  code(periods = 0): string {
    return this.totp.generate({ timestamp: Date.now() + periods * PERIOD_MS });
  }
}

async function signedIn(more: object = { role: 'admin' }) {
  const user = await aUserWithPassword(app, more);
  const browser = new Browser(app);
  expect((await browser.signIn(user.email, user.password)).status).toBe(200);
  return { ...user, browser };
}

async function withAuthenticator() {
  const user = await signedIn();
  const enrolled = (await user.browser.call('POST', '/v1/auth/totp')).body;
  const authenticator = new Authenticator(enrolled.secret);
  const confirmed = await user.browser.call('POST', '/v1/auth/totp/confirm', {
    body: { code: authenticator.code(-1) },
  });
  expect(confirmed.status, confirmed.text).toBe(200);
  return { ...user, authenticator, enrolled, recoveryCodes: confirmed.body.codes as string[] };
}

const signIn = (email: string, password: string, code?: string, on: AdminApp = app) =>
  new Browser(on).call('POST', '/v1/auth/sign-in', {
    body: { email, password, ...(code === undefined ? {} : { code }) },
  });

const ago = (browser: Browser, minutes: number) =>
  browser
    .me()
    .then(({ session }) =>
      app.dataSource.query(
        "UPDATE sessions SET authenticated_at = now() - $2 * interval '1 minute' WHERE id = $1",
        [session.id, minutes],
      ),
    );

describe('a change that costs much', () => {
  const KEY = { name: 'A key', scopes: ['logs.view'] };
  const HERE = { ...KEY, workspace_id: 'ws-default' };
  const CHANGES = [
    ['POST', '/v1/api-keys/organisation/service', KEY],
    ['POST', '/v1/api-keys/workspace/service', HERE],
    ['POST', '/v1/api-keys/workspace/user', HERE],
    ['POST', '/v1/api-keys/ANY/rotate', {}],
    ['POST', '/v2/api-keys/ANY/rotate', {}],
    ['PUT', '/v1/admin/users/ANY', { role: 'admin' }],
    ['PUT', '/v1/admin/users/ANY', { status: 'deactivated' }],
    ['DELETE', '/v1/admin/users/ANY', { email: 'a@example.com' }],
    ['POST', '/v1/admin/users/ANY/transfer-ownership', {}],
    ['PUT', '/v1/admin/organisation/jwt', {}],
    ['DELETE', '/v1/admin/organisation/jwt', undefined],
    ['POST', '/v1/auth/totp', undefined],
    ['POST', '/v1/auth/totp/confirm', { code: '123456' }],
    ['DELETE', '/v1/auth/totp', undefined],
    ['POST', '/v1/auth/recovery-codes', undefined],
  ] as const;

  let administrator: Awaited<ReturnType<typeof signedIn>>;
  beforeAll(async () => void (administrator = await signedIn()));

  it.each(CHANGES)('requires step-up verification of a session: %s %s', async (method, path, body) => {
    const { browser, password } = administrator;
    const url = path.replace('ANY', app.first.workspace_id);
    const change = () => browser.call(method, url, body === undefined ? {} : { body });
    await ago(browser, 11);
    expect(await change()).toMatchObject({ status: 403, body: { error: { code: 'step_up_required' } } });
    expect((await app.audited()).at(-1)).toMatchObject({
      outcome: 'refused',
      error_code: 'step_up_required',
    });
    await browser.call('POST', '/v1/auth/step-up', { body: { password } });

    expect((await change()).body?.error?.code).not.toBe('step_up_required');
  });

  it('is not required within 10 minutes, nor for a name, nor of an API key', async () => {
    const { browser, id } = administrator;
    await ago(browser, 9);
    expect((await browser.call('POST', '/v1/api-keys/workspace/service', { body: HERE })).status).toBe(200);
    await ago(browser, 60);
    expect(
      (await browser.call('PUT', `/v1/admin/users/${id}`, { body: { first_name: 'Grace' } })).status,
    ).toBe(200);

    expect((await app.call('POST', '/v1/api-keys/workspace/service', { body: HERE })).status).toBe(200);
  });
});

describe('an authenticator app', () => {
  it('is required by sign-ins once it is confirmed, and its secret is stored sealed', async () => {
    const { browser, email, password } = await signedIn();
    const { secret, uri } = (await browser.call('POST', '/v1/auth/totp')).body;
    expect(uri).toContain(`secret=${secret}`);
    expect((await signIn(email, password)).status, 'not yet confirmed').toBe(200);
    const wrong = await browser.call('POST', '/v1/auth/totp/confirm', { body: { code: '000000' } });
    expect(wrong.body.error.code).toBe('second_factor_failed');
    const authenticator = new Authenticator(secret);
    await browser.call('POST', '/v1/auth/totp/confirm', {
      body: { code: authenticator.code().replace(/^.../, '$& ') },
    });

    expect(await signIn(email, password)).toMatchObject({
      status: 403,
      body: { error: { code: 'second_factor_required' } },
    });
    const answer = await signIn(email, password, authenticator.code(1), other);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.sign_in_methods).toEqual({
      password: true,
      totp: true,
      recovery_codes_left: 10,
      passkeys: 0,
    });
    const stored = JSON.stringify(await app.dataSource.query('SELECT * FROM user_credentials'));
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
  });

  it('ends all other sessions when it is added, and is added once', async () => {
    const { browser, email, password } = await signedIn();
    const elsewhere = new Browser(other);
    await elsewhere.signIn(email, password);
    const { secret } = (await browser.call('POST', '/v1/auth/totp')).body;
    const code = new Authenticator(secret).code();
    const answers = await Promise.all([
      browser.call('POST', '/v1/auth/totp/confirm', { body: { code } }),
      browser.call('POST', '/v1/auth/totp/confirm', { body: { code } }),
    ]);

    expect(answers.map(({ status }) => status).sort()[0]).toBe(200);
    expect(answers.map(({ status }) => status).sort()[1]).toBeGreaterThanOrEqual(400);
    expect((await elsewhere.call('GET', '/v1/auth/session')).status).toBe(401);
    expect((await browser.call('POST', '/v1/auth/totp')).body.error.code).toBe('conflict');
  });

  it('gives a code that counts once, in all processes together', async () => {
    const { email, password, authenticator } = await withAuthenticator();
    const code = authenticator.code();
    const answers = await Promise.all(
      [app, other, app, other].map((on) => signIn(email, password, code, on)),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403]);
    expect((await signIn(email, password, code)).body.error.code).toBe('second_factor_failed');
    expect((await signIn(email, password, authenticator.code(-1))).status, 'nor one from before').toBe(403);
    expect((await signIn(email, password, authenticator.code(1))).status, 'the next one').toBe(200);
  });

  it.each(['000000', '12345', 'abcdef', '0'.repeat(40), '００００００'])(
    'is not served by "%s"',
    async (code) => {
      const { email, password } = await withAuthenticator();

      expect((await signIn(email, password, code)).body.error.code).toBe('second_factor_failed');
    },
  );

  it('is not known to whoever does not know the password', async () => {
    const { email, authenticator } = await withAuthenticator();
    for (const code of [undefined, '000000', authenticator.code()])
      expect((await signIn(email, 'not the password', code)).body.error.code).toBe('sign_in_failed');
  });

  it('cannot be guessed: attempts without a code do not clear those with a wrong one', async () => {
    const { email, password } = await withAuthenticator();
    const browser = new Browser(app);
    const attempt = (code?: string) =>
      browser.call('POST', '/v1/auth/sign-in', { body: { email, password, ...(code ? { code } : {}) } });
    const statuses: number[] = [];
    for (let round = 0; round < 14; round++) {
      await attempt();
      statuses.push((await attempt(String(100_000 + round))).status);
    }

    expect(statuses.filter((status) => status === 403)).toHaveLength(10);
    expect(statuses.slice(-4)).toEqual([429, 429, 429, 429]);
  });

  it('is required by a step-up and by a change of the password, too', async () => {
    const { browser, password, authenticator } = await withAuthenticator();
    const stepUp = (code?: string) =>
      browser.call('POST', '/v1/auth/step-up', { body: { password, ...(code ? { code } : {}) } });
    expect((await stepUp()).body.error.code).toBe('second_factor_required');
    expect((await stepUp('000000')).body.error.code).toBe('second_factor_failed');
    expect((await stepUp(authenticator.code())).status).toBe(200);
    const body = { current_password: password, new_password: 'seven-lanterns-in-quiet-harbour' };
    const change = (code?: string) =>
      browser.call('POST', '/v1/auth/password', { body: { ...body, ...(code ? { code } : {}) } });
    expect((await change()).body.error.code).toBe('second_factor_required');
    expect((await change(authenticator.code(1))).status).toBe(200);
  });

  it('is not circumvented by a reset link, unless the operator removes it', async () => {
    const { email, authenticator } = await withAuthenticator();
    const link = async (removeSecondFactors: boolean) => {
      const environment = {
        DATABASE_URL: app.url,
        GATEHOUSE_MASTER_KEY: (app.settings.masterKey as Secret).reveal(),
        GATEHOUSE_KEY_PEPPER: (app.settings.keyPepper as Secret).reveal(),
      };
      const made = await asOperator(environment, (session) =>
        newResetLink(session, email, { removeSecondFactors }),
      );
      return made.link.split('#')[1];
    };
    const use = (token: string | undefined, code?: string) =>
      new Browser(app).call('POST', '/v1/auth/set-up', {
        body: { token, password: 'seven-lanterns-in-quiet-harbour', ...(code ? { code } : {}) },
      });
    const token = await link(false);
    expect((await use(token)).body.error.code).toBe('second_factor_required');
    expect((await use(token, '000000')).body.error.code).toBe('second_factor_failed');
    expect((await use(token, authenticator.code())).status).toBe(200);
    expect((await use(await link(true))).body.sign_in_methods.totp).toBe(false);
  });

  it('is removed with its recovery codes', async () => {
    const { browser, email, password } = await withAuthenticator();
    expect((await browser.call('DELETE', '/v1/auth/totp')).status).toBe(200);

    const answer = await signIn(email, password);
    expect(answer.body.sign_in_methods).toEqual({
      password: true,
      totp: false,
      recovery_codes_left: 0,
      passkeys: 0,
    });
    expect((await browser.call('POST', '/v1/auth/recovery-codes')).body.error.code).toBe('conflict');
  });
});

describe('a recovery code', () => {
  it('replaces the app once, however it is typed, and is stored as a hash', async () => {
    const { email, password, recoveryCodes } = await withAuthenticator();
    expect(new Set(recoveryCodes).size).toBe(10);
    const [first = '', second = ''] = recoveryCodes;
    const stored = JSON.stringify(await app.dataSource.query('SELECT * FROM recovery_codes'));
    expect(stored).not.toContain(first.replaceAll('-', ''));
    const answers = await Promise.all([app, other].map((on) => signIn(email, password, first, on)));

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    const typed = await signIn(email, password, ` ${second.replaceAll('-', ' ').toUpperCase()}`);
    expect(typed.status, typed.text).toBe(200);
    expect(typed.body.sign_in_methods.recovery_codes_left).toBe(8);
  });

  it('is of one user', async () => {
    const { recoveryCodes } = await withAuthenticator();
    const { email, password } = await withAuthenticator();

    expect((await signIn(email, password, recoveryCodes[0])).body.error.code).toBe('second_factor_failed');
  });

  it('is void once there are new ones', async () => {
    const { browser, email, password, recoveryCodes } = await withAuthenticator();
    const { codes } = (await browser.call('POST', '/v1/auth/recovery-codes')).body;

    expect((await signIn(email, password, recoveryCodes[0])).status).toBe(403);
    expect((await signIn(email, password, codes[0])).status).toBe(200);
  });
});
