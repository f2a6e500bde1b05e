import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';

const SLUG = 'pc-browser';
const CONFIG = {
  strategy: {
    mode: 'conditional',
    conditions: [{ query: { 'metadata.plan': { $eq: 'pro' } }, then: 'premium' }],
    default: 'standard',
  },
  targets: [
    {
      name: 'premium',
      strategy: { mode: 'fallback', on_status_codes: [429, 503] },
      targets: [{ provider: 'sandbox', retry: { attempts: 2 } }, { provider: 'sandbox' }],
    },
    { name: 'standard', provider: 'sandbox' },
  ],
};

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
  const { admin_api_key, workspace_slug } = stage.bootstrap;
  const made = await fetch(new URL('/v1/configs', stage.base), {
    method: 'POST',
    headers: { 'x-gateway-api-key': admin_api_key, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Prod', slug: SLUG, config: CONFIG, workspace_id: workspace_slug }),
  });
  if (!made.ok) throw new Error(await made.text());
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const start: Stage['start'] = (path, options) => stage.start(`/ui/w/:w/configs${path}`, options);

/** Types a document over the one in the editor. */
async function write(page: Page, document: object): Promise<void> {
  await page.getByRole('textbox', { name: 'Config document' }).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(JSON.stringify(document, null, 2));
}

const PAGES = [
  ['', 'Prod'],
  ['?create=on', 'The config begins with two retries'],
  [`/${SLUG}`, 'Simulate a request'],
  [`/${SLUG}?tab=usage`, 'API keys whose default config it is'],
  [`/${SLUG}/versions/1`, 'The first version'],
  ['/pc-nowhere', 'Config not found'],
] as const;

describe.each(['light', 'dark'])('configs in the %s theme', (theme) => {
  it.each(PAGES)('at %s are accessible, and do nothing that the policy forbids', async (path, text) => {
    const { page, problems } = await start(path, { isDark: theme === 'dark' });
    await page.getByText(text).first().waitFor();
    await page.waitForLoadState('networkidle');

    expect(await accessibilityProblems(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});

it('the editor scrolls nothing sideways at 360 pixels', async () => {
  const { page } = await start(`/${SLUG}`, { viewport: { width: 360, height: 740 } });
  await page.getByText('Simulate a request').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
});

describe('a config', () => {
  it('opens from the list and is simulated: the route is highlighted and the reason shown', async () => {
    const { page } = await start('');
    await page.getByRole('grid').getByText('Prod', { exact: true }).first().click();
    await page.getByLabel('Metadata (JSON)').fill('{"plan":"pro"}');
    await page.getByRole('button', { name: 'Simulate' }).click();

    await page.getByText('config: conditions[0] holds, so config.targets[0]').waitFor();
    const lit = await page.locator('svg [data-taken] title').allTextContents();
    expect(lit).toEqual(
      expect.arrayContaining([expect.stringContaining('premium'), expect.stringContaining('conditional')]),
    );
    expect(lit.some((title) => title.startsWith('standard'))).toBe(false);
  });

  it('that is broken is refused on its line as it is typed, fixed, saved, and rolled back', async () => {
    const { page, problems } = await start(`/${SLUG}`);
    const save = page.getByRole('button', { name: 'Save as v2' });
    await write(page, { ...CONFIG, weigth: 1 });
    await page.getByText(/^Line \d+: config\.weigth/).waitFor();
    await page.getByText('1 error. The saved version stays in use.').waitFor();
    expect(await page.locator('.cm-markedLine').textContent()).toContain('weigth');
    expect(await save.isDisabled()).toBe(true);

    await write(page, { ...CONFIG, retry: { attempts: 1 } });
    await page.getByText('No errors. Not saved yet.').waitFor();
    await save.click();
    await page.getByText('Nothing is changed.').waitFor();

    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByText('Changes from v1 to v2').waitFor();
    await page.getByRole('button', { name: /^v1 / }).click();
    await page.waitForURL(/\/versions\/1$/);
    await page.getByRole('button', { name: 'Roll back to v1' }).click();
    await page.waitForURL(/\/versions\/3$/);
    await page.getByText('Changes from v2 to v3').waitFor();
    expect(problems).toEqual([]);
  });

  it('is created by name and removed by typing its slug', async () => {
    const { page } = await start('?create=on');
    await page.getByRole('textbox', { name: 'Name' }).fill('Short lived');
    await page.getByRole('dialog').getByRole('button', { name: 'Create config' }).click();
    await page.waitForURL(/\/configs\/pc-short-lived/);
    const slug = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.getByRole('button', { name: 'More actions: Short lived' }).click();
    await page.getByRole('menuitem', { name: 'Remove config' }).click();
    await page.getByLabel(`Type ${slug} to confirm`).fill(slug);
    await page.getByRole('button', { name: 'Remove config' }).click();
    await page.waitForURL(/\/configs$/);
    await page.getByRole('grid').getByText('Prod', { exact: true }).first().waitFor();
    await expect.poll(() => page.getByRole('grid').getByText('Short lived').count()).toBe(0);
  });

  it('that changed meanwhile is not overwritten: both changes are shown, and the draft stays', async () => {
    const slug = 'pc-shared';
    const { admin_api_key: key, workspace_slug } = stage.bootstrap;
    const send = async (method: string, path: string, body: object) => {
      const answer = await fetch(new URL(path, stage.base), {
        method,
        headers: { 'x-gateway-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(await answer.text());
    };
    const shared = { name: 'Shared', slug, config: CONFIG, workspace_id: workspace_slug };
    await send('POST', '/v1/configs', shared);
    const { page, problems } = await start(`/${slug}`);
    await write(page, { ...CONFIG, retry: { attempts: 1 } });
    await page.getByText('No errors. Not saved yet.').waitFor();
    await send('PUT', `/v1/configs/${slug}`, { config: { ...CONFIG, request_timeout: 5_000 } });
    await page.getByRole('button', { name: 'Save as v2' }).click();

    await page.getByRole('heading', { name: 'Changed by someone else since you opened it' }).waitFor();
    await page.getByText('v2 was saved while you edited v1.').waitFor();
    const conflict = page.getByRole('region', { name: 'Changed by someone else since you opened it' });
    await conflict.getByText('request_timeout').first().waitFor();
    await conflict.getByText('attempts').first().waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Save as v2' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Continue with my draft on v2' }).click();
    await page.getByRole('button', { name: 'Save as v3' }).click();
    await page.getByText('Nothing is changed.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Config document' }).textContent()).toContain('attempts');
    expect(problems).toEqual([]);
  });
});
