import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type {} from '../../test/support/service.global.js';
import { accessibilityProblems, launchBrowser, visit, type Visit } from './browser';
import { serveBefore } from './harness';

interface Bootstrap {
  readonly admin_api_key: string;
  readonly workspace_api_key: string;
  readonly workspace_slug: string;
}

let browser: Browser;
let bootstrap: Bootstrap;
let base: URL;
let front: Awaited<ReturnType<typeof serveBefore>>;
const open: Visit[] = [];

const chat = (key: string, content: string): Promise<Response> =>
  fetch(new URL('/v1/chat/completions', base), {
    method: 'POST',
    headers: {
      'x-gateway-api-key': key,
      'x-gateway-provider': 'sandbox',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'sandbox-1', messages: [{ role: 'user', content }] }),
  });

beforeAll(async () => {
  const service = inject('service');
  if (!service) throw new Error('These tests need the shared service.');
  bootstrap = JSON.parse(readFileSync(join(service.bootstrapDir, 'bootstrap.json'), 'utf8')) as Bootstrap;
  base = new URL(service.baseUrl);
  front = await serveBefore(base, bootstrap.admin_api_key);
  browser = await launchBrowser();
  for (let n = 0; n < 60; n++)
    await (await chat(bootstrap.workspace_api_key, `<img src=x onerror=alert(${n})>`)).text();
});
afterAll(async () => {
  await browser.close();
  front.close();
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function start(path: string, options: Parameters<typeof visit>[2] = {}): Promise<Visit> {
  const visited = await visit(browser, front.url, options);
  open.push(visited);
  await visited.page.goto(front.url + path.replace(':w', bootstrap.workspace_slug));
  return visited;
}

const PAGES = [
  ['sign-in', '/ui/sign-in', 'Sign in to Gatehouse', { isSignedIn: false }],
  ['set-up', '/ui/set-up#set-up-token', 'Create your account', { isSignedIn: false }],
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

describe('signing in', () => {
  it('refuses a wrong password in words, and leads to where the person wanted to go', async () => {
    const { page } = await start('/ui/w/:w/logs?range=24h', { isSignedIn: false });
    await page.waitForURL(/sign-in\?return_to=/);
    await page.getByLabel('E-mail').fill('admin@acme.example');
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The e-mail or the password is wrong.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill('a long sentence of mine');
    await page.getByRole('button', { name: 'Sign in' }).click();

    await page.waitForURL(/\/ui\/w\/[^/]+\/logs\?range=24h$/);
  });

  it('never leads to another site', async () => {
    const { page } = await start('/ui/sign-in?return_to=//evil.example/ui/', {});
    await page.waitForURL(/\/overview$/);
    expect(new URL(page.url()).origin).toBe(front.url);
  });
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

    const { page: copy } = await start(page.url().slice(front.url.length));
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
    expect((await chat(secret, 'Hello')).status).toBe(200);
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
    await expect.poll(async () => (await chat(secret, 'Hello')).status).toBe(401);
  });
});

describe('while the administration is unavailable', () => {
  it('the shell says so, and the page comes back by itself', async () => {
    const visited = await visit(browser, front.url);
    open.push(visited);
    const { page } = visited;
    await page.route('**/v1/**', (route) =>
      route.fulfill({
        status: 503,
        json: {
          error: { code: 'database_unavailable', message: 'The database is unavailable.', request_id: 'r-1' },
        },
      }),
    );
    await page.goto(`${front.url}/ui/w/${bootstrap.workspace_slug}/logs`);
    await page.getByText('The database is unavailable.').first().waitFor();
    expect(await page.getByRole('navigation').count()).toBe(1);
    await page.unroute('**/v1/**');

    await page.getByText('sandbox-1').first().waitFor();
  });
});

describe('the size', () => {
  it('of what Logs loads before its first rows is within the budget', async () => {
    const visited = await visit(browser, front.url);
    open.push(visited);
    const { page } = visited;
    const sizes = { js: 0, css: 0 };
    const measured: Promise<void>[] = [];
    page.on('response', (response) => {
      const kind = /\.(js|css)$/.exec(new URL(response.url()).pathname)?.[1] as 'js' | 'css' | undefined;
      if (kind)
        measured.push(
          response.body().then((body) => void (sizes[kind] += gzipSync(body, { level: 9 }).length)),
        );
    });
    await page.goto(`${front.url}/ui/w/${bootstrap.workspace_slug}/logs`);
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
