import { TOTP } from 'otpauth';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from './stage';
import { emailOf, PASSWORD } from './team';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const start: Stage['start'] = (...given) => stage.start(...given);

describe('signing in', () => {
  it('refuses a wrong password in words, and leads to where the person wanted to go', async () => {
    const { page } = await start('/ui/w/:w/logs?range=24h', { as: null });
    await page.waitForURL(/sign-in\?return_to=/);
    await page.getByLabel('E-mail').fill(emailOf('owner'));
    await page.getByLabel('Password', { exact: true }).fill('no such password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('The e-mail or the password is wrong.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();

    await page.waitForURL(/\/ui\/w\/[^/]+\/logs\?range=24h$/);
  });

  it.each([
    '//evil.example/ui/',
    'https://evil.example/ui/',
    '/\\\\evil.example',
    'javascript:alert(1)',
    '/v1/admin/me',
  ])('never leads out of the dashboard: %s', async (address) => {
    const { page } = await start(`/ui/sign-in?return_to=${encodeURIComponent(address)}`);
    await page.waitForURL(/\/overview$/);
    expect(new URL(page.url()).origin).toBe(stage.origin);
  });

  it('asks for no session that the browser does not have, so the console stays empty', async () => {
    const { page, problems } = await start('/ui/sign-in', { as: null });
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.reload();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();

    expect(errors).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('with an authenticator app asks for its code, and for a fresh proof before the app is removed', async () => {
    const { page } = await start('/ui/account', { as: 'member' });
    await page.getByRole('button', { name: 'Add authenticator app' }).click();
    const secret = await page.locator('[class*=key]').first().textContent();
    const app = new TOTP({ secret: secret ?? '' });
    await page.getByLabel('Code of the app').fill(app.generate());
    await page.getByRole('button', { name: 'Turn on' }).click();
    const shown = page.getByRole('dialog').getByText(/^[0-9a-f]{5}(-[0-9a-f]{5}){3}$/);
    await shown.first().waitFor();
    const codes = await shown.allTextContents();
    expect(codes.length).toBeGreaterThan(5);

    const { page: other } = await start('/ui/sign-in', { as: null });
    await other.getByLabel('E-mail').fill(emailOf('member'));
    await other.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByLabel('Code').fill('000000');
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByText('The code is wrong').waitFor();
    await other.getByLabel('Code').fill(codes[0] ?? '');
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.waitForURL(/\/w\//);

    await other.goto(`${stage.origin}/ui/account`);
    let refusals = 0;
    await other.route('**/v1/auth/totp', (route) =>
      refusals++ === 0
        ? route.fulfill({ status: 403, json: { error: { code: 'step_up_required', message: '' } } })
        : route.continue(),
    );
    await other.getByRole('button', { name: 'Remove authenticator app' }).click();
    await other.getByText('Confirm that it is you').waitFor();
    await other.getByRole('dialog').getByLabel('Password', { exact: true }).fill(PASSWORD);
    await other
      .getByRole('dialog')
      .getByLabel('Code')
      .fill(codes[1] ?? '');
    await other.getByRole('button', { name: 'Confirm' }).click();
    await other.getByRole('button', { name: 'Add authenticator app' }).waitFor();
    expect(refusals).toBe(2);
  });
});
