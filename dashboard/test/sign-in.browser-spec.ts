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
  it('reports a wrong password in text, and returns the user to the requested page', async () => {
    const { page } = await start('/ui/w/:w/logs?range=24h', { as: null });
    await page.waitForURL(/sign-in\?return_to=/);
    await page.getByLabel('E-mail').fill(emailOf('owner'));
    await page.getByLabel('Password', { exact: true }).fill('no such password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page
      .getByText('The e-mail or the password is wrong, or your organization requires single sign-on.')
      .waitFor();
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

  it('requests no session that the browser does not have, so the console stays empty', async () => {
    const { page, problems } = await start('/ui/sign-in', { as: null });
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.reload();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();

    expect(errors).toEqual([]);
    expect(problems).toEqual([]);
  });
});
