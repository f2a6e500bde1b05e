import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';
import { PASSWORD, signedIn } from './team';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const administer = async (method: string, path: string, body?: object): Promise<unknown> => {
  const answer = await fetch(new URL(path, stage.base), {
    method,
    headers: { 'x-gateway-api-key': stage.bootstrap.admin_api_key, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

async function newConfig(): Promise<string> {
  const slug = `pc-${randomUUID()}`;
  await administer('POST', '/v1/configs', {
    name: slug,
    slug,
    config: { provider: 'sandbox' },
    workspace_id: stage.bootstrap.workspace_id,
  });
  return slug;
}

const editor = (page: Page) => page.getByRole('textbox', { name: 'Config document' });

async function write(page: Page, document: object): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(JSON.stringify(document, null, 2));
  await page.getByText('No errors. Not saved yet.').waitFor();
}

describe('the draft of a config', () => {
  it('requires confirmation before another page opens, and keeps the input', async () => {
    const slug = await newConfig();
    const { page, problems } = await stage.start(`/ui/w/:w/configs/${slug}`);
    await write(page, { provider: 'sandbox', retry: { attempts: 3 } });
    await page.getByRole('link', { name: 'Logs' }).click();
    const question = page.getByRole('dialog', { name: 'Leave with unsaved changes?' });
    expect(await accessibilityProblems(page)).toEqual([]);
    await question.getByRole('button', { name: 'Keep editing' }).click();
    expect(await editor(page).textContent()).toContain('attempts');

    await page.getByRole('link', { name: 'Logs' }).click();
    await question.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL(/\/logs/);
    await page.goBack();
    await page.getByText('No errors. Not saved yet.').waitFor();
    expect(await editor(page).textContent()).toContain('attempts');

    await page.getByRole('button', { name: 'Save as v2' }).click();
    await page.getByText('Nothing is changed.').waitFor();
    await page.reload();
    await page.getByText('Nothing is changed.').waitFor();
    expect(problems).toEqual([]);
  });

  it('reports a conflict with a version saved in the meantime', async () => {
    const slug = await newConfig();
    const { page } = await stage.start(`/ui/w/:w/configs/${slug}`);
    await write(page, { provider: 'sandbox', retry: { attempts: 3 } });
    await page.getByRole('link', { name: 'Logs' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.waitForURL(/\/logs/);
    await administer('PUT', `/v1/configs/${slug}`, {
      config: { provider: 'sandbox', request_timeout: 5_000 },
    });
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/configs/${slug}`);

    await page.getByText('v2 was saved while you edited v1.').waitFor();
  });
});

describe('a session that ends while a page is open', () => {
  async function editingWithoutSession(): Promise<{ page: Page; slug: string }> {
    const slug = await newConfig();
    const cookie = await signedIn(stage.base, stage.bootstrap, 'admin');
    const { page } = await stage.start(null, { as: null });
    await page.context().addCookies([{ ...cookie, url: stage.origin }]);
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/configs/${slug}`);
    await write(page, { provider: 'sandbox', retry: { attempts: 3 } });
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Save as v2' }).click();
    return { page, slug };
  }

  it('is replaced over the page, and what was saved in vain is saved', async () => {
    const { page, slug } = await editingWithoutSession();
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.getByText('Your session has ended.').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await dialog.getByLabel('E-mail').inputValue()).toBe('admin@acme.example');
    await dialog.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();

    await page.getByText('Nothing is changed.').waitFor();
    expect(JSON.stringify(await administer('GET', `/v1/configs/${slug}`))).toContain('"attempts":3');
  });

  it('leads to the sign-in page when the dialog is closed', async () => {
    const { page } = await editingWithoutSession();
    await page.getByRole('dialog', { name: 'Sign in again' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('could not').first().waitFor();
  });
});

describe('a dialog', () => {
  it('requires confirmation before Escape discards input, and returns the focus to its button', async () => {
    const { page } = await stage.start('/ui/w/:w/api-keys');
    const create = page.getByRole('button', { name: 'Create API key' }).first();
    await create.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create API key' });
    await dialog.getByLabel('Name').fill('half typed');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Discard what you entered?' }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Keep editing' }).click();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('half typed');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => create.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  it('that a menu opened returns the focus to the button of the menu', async () => {
    const { page } = await stage.start('/ui/w/:w/api-keys');
    const menu = page.getByRole('button', { name: /^More actions: First workspace key/ });
    await menu.click();
    await page.getByRole('menuitem', { name: 'Rotate key' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => menu.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  it('creates one API key for a double click', async () => {
    const name = `double-${randomUUID()}`;
    const { page } = await stage.start('/ui/w/:w/api-keys?create=on');
    const dialog = page.getByRole('dialog', { name: 'Create API key' });
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Call models' }).click();
    await dialog.getByRole('button', { name: 'Create API key' }).dblclick();
    await page.getByText('API key created').waitFor();
    const { data } = (await administer('GET', '/v1/api-keys?page_size=100')) as { data: { name: string }[] };
    expect(data.filter((key) => key.name === name)).toHaveLength(1);
  });
});
