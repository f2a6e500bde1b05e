import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const PAGE = '/ui/org/sign-in';

describe('the identity providers of an organization', () => {
  it('are added by an owner, and offered on the sign-in page for their mail domain', async () => {
    const { page, problems } = await stage.start(PAGE);
    await page.getByText('No identity providers yet').waitFor();
    await page.getByRole('button', { name: 'Add identity provider' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Acme Okta');
    await dialog.getByLabel('Issuer', { exact: true }).fill('https://id.acme.example');
    await dialog.getByLabel('Client id').fill('gatehouse');
    await dialog.getByLabel('Client secret').fill('a-secret-of-the-client');
    await dialog.getByLabel('Mail domains').fill('acme-sso.example');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add identity provider' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Acme Okta').first().waitFor();

    const { page: outside } = await stage.start('/ui/sign-in', { as: null });
    await outside.getByLabel('E-mail').fill('someone@acme-sso.example');
    await outside.getByRole('link', { name: 'Continue with Acme Okta' }).waitFor();
    expect(await accessibilityProblems(outside)).toEqual([]);

    const label = outside.getByRole('link', { name: 'Continue with Acme Okta' });
    const [colour, ground] = await label.evaluate((link) => {
      const { color, backgroundColor } = getComputedStyle(link);
      return [color, backgroundColor];
    });
    expect(colour).not.toBe(ground);
    expect(problems).toEqual([]);
  });

  it.each(['light', 'dark'])('are shown accessibly in %s', async (theme) => {
    const { page } = await stage.start(PAGE, { isDark: theme === 'dark' });
    await page.getByText('Acme Okta').first().waitFor();

    expect(await accessibilityProblems(page)).toEqual([]);
  });

  it('fit 360 pixels', async () => {
    const { page } = await stage.start(PAGE, { viewport: { width: 360, height: 740 }, isDark: true });
    await page.getByText('Acme Okta').filter({ visible: true }).waitFor();

    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });

  it('are hidden from members, who read which permission is missing', async () => {
    const { page } = await stage.start(PAGE, { as: 'member' });
    await page.getByText('You need the permission organisation_settings.read.').waitFor();

    expect(
      await page.getByRole('button', { name: 'Add identity provider' }).getAttribute('data-disabled'),
    ).toBe('true');
  });
});

describe('an identity provider', () => {
  it('is deleted only by its name', async () => {
    const { page, problems } = await stage.start(PAGE);
    await page.getByRole('row').filter({ hasText: 'Acme Okta' }).getByRole('button').last().click();
    await page.getByRole('menuitem', { name: 'Delete identity provider' }).click();
    const dialog = page.getByRole('dialog');
    const submit = dialog.getByRole('button', { name: 'Delete identity provider' });
    expect(await submit.isEnabled()).toBe(false);
    await dialog.getByRole('textbox').fill('Acme Okta');
    await submit.click();
    await page.getByText('No identity providers yet').waitFor();

    expect(problems).toEqual([]);
  });
});

describe('the sign-in page', () => {
  it('explains in plain text why single sign-on was refused, with the request id', async () => {
    const { page } = await stage.start(
      '/ui/sign-in?error=single_sign_on_failed&request_id=req-of-the-callback',
      { as: null },
    );
    await page.getByText('req-of-the-callback').waitFor();

    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
