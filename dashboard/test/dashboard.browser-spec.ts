import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
  for (let n = 0; n < 60; n++)
    await (await stage.chat(stage.bootstrap.workspace_api_key, `<img src=x onerror=alert(${n})>`)).text();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const start: Stage['start'] = (...given) => stage.start(...given);

const PAGES = [
  ['sign-in', '/ui/sign-in', 'Sign in to Gatehouse', { as: null }],
  ['set-up', '/ui/set-up#gw_setup_x', 'Create your account', { as: null }],
  ['a reset link', '/ui/set-up#gw_reset_x', 'Set a new password', { as: null }],
  ['the account', '/ui/account', 'This session', {}],
  ['people', '/ui/org/people', 'manager@acme.example', {}],
  ['members', '/ui/w/:w/members', 'member@acme.example', {}],
  ['Overview', '/ui/w/:w/overview?range=1h', 'Requests by result', {}],
  ['Logs', '/ui/w/:w/logs', 'sandbox-1', {}],
  ['Logs without rows', '/ui/w/:w/logs?filter=model:is:nothing', 'No request matches these filters', {}],
  ['API keys', '/ui/w/:w/api-keys', 'First workspace key', {}],
  ['the dialog of a new API key', '/ui/w/:w/api-keys?create=on', 'This key can', {}],
  ['Virtual keys', '/ui/w/:w/virtual-keys', 'virtual key', {}],
  [
    'the dialog of a new virtual key',
    '/ui/w/:w/virtual-keys?create=on',
    'An alias for a provider credential',
    {},
  ],
  ['the audit log', '/ui/w/:w/audit-log', 'records', {}],
  ['the first credential', '/ui/set-up?step=provider', 'Connect a provider', {}],
  ['an unknown page', '/ui/w/:w/nowhere', 'Page not found', {}],
  ['an unknown workspace', '/ui/w/nowhere/logs', 'Page not found', {}],
] as const;

describe.each(['light', 'dark'])('in the %s theme', (theme) => {
  it.each(PAGES)(
    '%s is accessible, and does nothing that its policy forbids',
    async (_name, path, text, options) => {
      const { page, problems } = await start(path, { ...options, isDark: theme === 'dark' });
      await page.getByText(text).first().waitFor();
      await page.waitForLoadState('networkidle');

      expect(await accessibilityProblems(page)).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  it.each(['messages', 'raw', 'route', 'cost', 'timing', 'guardrails', 'feedback', 'trace'])(
    'the tab %s of a request is accessible',
    async (tab) => {
      const { page, problems } = await start(`/ui/w/:w/logs?tab=${tab}`, { isDark: theme === 'dark' });
      await page.locator('[data-row="0"]').click();
      await page.getByRole('tabpanel').waitFor();
      await page.waitForLoadState('networkidle');

      expect(await accessibilityProblems(page)).toEqual([]);
      expect(problems).toEqual([]);
    },
  );
});

describe('the request log', () => {
  it('is moved through, opened and closed by keys, and gives the focus back', async () => {
    const { page } = await start('/ui/w/:w/logs');
    await page.locator('[data-row="0"]').focus();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    const first = page.url();
    await page.keyboard.press(']');
    await page.waitForURL((url) => url.href !== first);
    await page.keyboard.press('[');
    await page.waitForURL(first);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    expect(await page.evaluate(() => document.activeElement?.getAttribute('data-row'))).toBe('2');
  });

  it('keeps its filters in the address, so that a copied address shows the same', async () => {
    const { page } = await start('/ui/w/:w/logs');
    await page.getByRole('button', { name: 'Edit as text' }).click();
    await page.getByRole('textbox', { name: 'Filters as text' }).fill('status:is:200 model:is:sandbox-1');
    await page.keyboard.press('Enter');
    await page.waitForURL(/filter=status/);

    const { page: copy } = await start(page.url().slice(stage.origin.length));
    await copy.getByRole('listitem').filter({ hasText: 'Status' }).first().waitFor();
    await copy.getByText('sandbox-1').first().waitFor();
  });

  it('shows what a client wrote as text, never as markup', async () => {
    const { page, problems } = await start('/ui/w/:w/logs');
    await page.locator('[data-row="0"]').click();
    await page.getByText('<img src=x onerror=alert(').first().waitFor();

    expect(await page.locator('[role=dialog] img').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('is a list of two lines at 360 pixels, and nothing scrolls sideways', async () => {
    const { page } = await start('/ui/w/:w/logs', { viewport: { width: 360, height: 740 } });
    await page.locator('[data-row="0"]').waitFor();

    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect((await page.locator('[data-row="0"]').boundingBox())?.height).toBeGreaterThan(50);
  });
});

describe('an API key', () => {
  it('is made with ticked permissions, shown once, works, and is gone when it is revoked', async () => {
    const name = `browser-${Date.now()}`;
    const { page } = await start('/ui/w/:w/api-keys?create=on');
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByRole('button', { name: 'Call models' }).click();
    await page.getByRole('complementary').getByText('call models').first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Create API key' }).click();
    const secret =
      (await page
        .getByRole('dialog')
        .getByText(/^gw_ws_/)
        .textContent()) ?? '';
    expect((await stage.chat(secret, 'Hello')).status).toBe(200);
    await page.getByRole('checkbox', { name: 'I have stored it' }).check();
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('button', { name: `More actions: ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Revoke key' }).click();
    const confirm = page.getByRole('button', { name: 'Revoke key' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel(`Type ${name} to confirm`).fill(name);
    await confirm.click();
    await page.getByText(name).first().waitFor({ state: 'detached' });
    await expect.poll(async () => (await stage.chat(secret, 'Hello')).status).toBe(401);
  });
});

describe('while the administration is unavailable', () => {
  it('the shell shows it, and the page recovers by itself', async () => {
    const { page } = await start(null);
    await page.route('**/v1/**', (route) =>
      route.fulfill({
        status: 503,
        json: {
          error: { code: 'database_unavailable', message: 'The database is unavailable.', request_id: 'r-1' },
        },
      }),
    );
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/logs`);
    await page.getByText('The database is unavailable.').first().waitFor();
    expect(await page.getByRole('navigation').count()).toBe(1);
    await page.unroute('**/v1/**');

    await page.getByText('sandbox-1').first().waitFor();
  });
});

describe('the size', () => {
  it('of what Logs loads before its first rows is within the budget', async () => {
    const { page } = await start(null);
    const sizes = { js: 0, css: 0 };
    const measured: Promise<void>[] = [];
    page.on('response', (response) => {
      const kind = /\.(js|css)$/.exec(new URL(response.url()).pathname)?.[1] as 'js' | 'css' | undefined;
      if (kind)
        measured.push(
          response.body().then((body) => void (sizes[kind] += gzipSync(body, { level: 9 }).length)),
        );
    });
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/logs`);
    await page.locator('[data-row="0"]').waitFor();
    await Promise.all(measured);
    console.log(`before the first rows: scripts ${sizes.js} bytes, styles ${sizes.css} bytes, gzip`);

    expect(sizes.js).toBeLessThanOrEqual(220_000);
    expect(sizes.css).toBeLessThanOrEqual(45_000);
  });

  it('of everything is within the budget', () => {
    const folder = join(import.meta.dirname, '../dist/assets');
    const files = readdirSync(folder).filter((name) => /\.(js|css|svg|woff2)$/.test(name));
    const total = files.reduce(
      (sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length,
      0,
    );
    console.log(`everything: ${total} bytes, gzip`);

    expect(total).toBeLessThanOrEqual(1_000_000);
  });
});
