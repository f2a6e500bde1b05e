import { readFileSync } from 'node:fs';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';
import { PASSWORD, request } from './team';

const EMAIL = `lin-${Date.now()}@acme.example`;
const PERIOD_MS = 30_000;

let stage: Stage;
let userId: string;
beforeAll(async () => {
  stage = await openStage();
  userId = await invited();
});
afterEach(() => stage.clear());
afterAll(async () => {
  await request(stage.base, ['DELETE', `/v1/admin/users/${userId}`], undefined, stage.cookieOf('owner'));
  await stage.close();
});

/** Somebody of this file alone, so that no other file meets a second factor. */
async function invited(): Promise<string> {
  const owner = stage.cookieOf('owner');
  const workspaces = [{ id: stage.bootstrap.workspace_slug, role: 'member' }];
  const invite = await request(
    stage.base,
    ['POST', '/v1/admin/users/invites'],
    { email: EMAIL, role: 'member', workspaces },
    owner,
  );
  const { invite_link } = (await invite.json()) as { invite_link: string };
  const person = { first_name: 'Lin', last_name: 'Chen', password: PASSWORD };
  const token = new URL(invite_link).hash.slice(1);
  await request(stage.base, ['POST', '/v1/admin/invites/accept'], { token, ...person });
  const found = await request(stage.base, ['GET', `/v1/admin/users?email=${EMAIL}`], undefined, owner);
  const { data } = (await found.json()) as { data: { id: string; email: string }[] };
  const user = data.find(({ email }) => email === EMAIL);
  if (!user) throw new Error(`Nobody has the address ${EMAIL}.`);
  return user.id;
}

/** The app of the person. A code counts once, so each call takes that of another period. */
const codeOf = (secret: string, periods: number): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + periods * PERIOD_MS });

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(EMAIL);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** As ten minutes after signing in: the next request of this kind is refused once. Everything after it is the server's own. */
async function demandProofOnce(page: Page, path: string): Promise<void> {
  await page.route(
    path,
    (route) =>
      route.fulfill({
        status: 403,
        json: { error: { code: 'step_up_required', message: 'Confirm that it is you.', request_id: 'r-1' } },
      }),
    { times: 1 },
  );
}

describe('a passkey', () => {
  async function withAuthenticator(page: Page): Promise<void> {
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable');
    await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    });
  }

  async function add(page: Page, name: string): Promise<void> {
    await page.getByLabel('Name of the passkey').fill(name);
    await page.getByRole('button', { name: 'Add passkey' }).click();
  }

  it('is added once for a device, with a notice, and removed after a confirmation', async () => {
    const { page } = await stage.start(null, { as: null });
    await withAuthenticator(page);
    await page.goto(`http://localhost:${stage.base.port}/ui/account`);
    await signIn(page);
    await add(page, 'Laptop');
    const remove = page.getByRole('button', { name: 'Remove passkey: Laptop' });
    await remove.waitFor();
    await add(page, 'Laptop again');
    await page.getByText('This device already has a passkey for your account.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    await remove.click();
    const question = page.getByRole('dialog', { name: 'Remove Laptop' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await remove.isVisible()).toBe(true);
    await remove.click();
    await question.getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('No passkeys yet.').waitFor();
  });
});

describe('an authenticator app', () => {
  it('is added with a code and recovery codes, required at step-up and at the next sign-in, and removed', async () => {
    const { page, problems } = await stage.start('/ui/account', { as: null });
    await signIn(page);
    await page.getByRole('button', { name: 'Add authenticator app' }).click();
    await page.getByAltText('QR code for your authenticator app').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    const secret = (await page.getByText(/^[A-Z2-7]{16,}$/).textContent()) ?? '';
    await page.getByLabel('Code of the app').fill('000000');
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('alert').waitFor();
    const code = codeOf(secret, -1);
    await page.getByLabel('Code of the app').pressSequentially(`${code.slice(0, 3)} ${code.slice(3)}`);
    await page.getByRole('button', { name: 'Turn on' }).click();

    const codes = page.getByRole('dialog');
    await codes.getByText('Store these recovery codes now').waitFor();
    await codes.getByRole('button', { name: 'Copy recovery codes' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      codes.getByRole('button', { name: 'Download as text' }).click(),
    ]);
    const saved = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n');
    expect(saved).toHaveLength(10);
    for (const each of saved) await codes.getByText(each).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    const done = codes.getByRole('button', { name: 'Done' });
    expect(await done.isDisabled()).toBe(true);
    await codes.getByLabel('I have stored them').check();
    await done.click();
    await page.getByText('10 recovery codes left').waitFor();

    const { page: next } = await stage.start('/ui/account', { as: null });
    await signIn(next);
    await next.getByLabel(/code/i).fill(codeOf(secret, 0).replace(/^.../, '$& '));
    await next.getByRole('button', { name: 'Sign in', exact: true }).click();

    await demandProofOnce(next, '**/v1/auth/totp');
    await next.getByRole('button', { name: 'Remove authenticator app' }).click();
    const question = next.getByRole('dialog', { name: 'Remove authenticator app' });
    await question.getByText('Your recovery codes stop working, too.').waitFor();
    await question.getByRole('button', { name: 'Remove authenticator app' }).click();
    const proof = next.getByRole('dialog', { name: 'Confirm that it is you' });
    await proof.getByText('Confirm that it is you').first().waitFor();
    expect(await accessibilityProblems(next)).toEqual([]);
    await proof.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await proof.getByLabel(/code/i).fill(codeOf(secret, 1));
    await proof.getByRole('button', { name: 'Confirm', exact: true }).click();
    await next.getByRole('button', { name: 'Add authenticator app' }).waitFor();

    const { page: last } = await stage.start('/ui/account', { as: null });
    await signIn(last);
    await last.getByRole('button', { name: 'Add authenticator app' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('is not added when the step-up is given up', async () => {
    const { page } = await stage.start('/ui/account', { as: null });
    await signIn(page);
    await demandProofOnce(page, '**/v1/auth/totp');
    await page.getByRole('button', { name: 'Add authenticator app' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByAltText('QR code for your authenticator app').count()).toBe(0);
  });
});
