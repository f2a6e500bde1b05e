import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from './stage';
import { emailOf, PASSWORD } from './team';

let stage: Stage;
let evil: Server;
/** Of a page on another site: for browsers, `localhost` and `127.0.0.1` are not the same one. */
let evilOrigin: string;
let evilPage = '';
beforeAll(async () => {
  stage = await openStage();
  evil = createServer((_, response) => {
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Elsewhere</title>${evilPage}`);
  });
  await new Promise<void>((resolve) => evil.listen(0, resolve));
  const host = stage.base.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
  evilOrigin = `http://${host}:${(evil.address() as AddressInfo).port}`;
});
afterEach(() => stage.clear());
afterAll(async () => {
  await stage.close();
  evil.close();
});

/** Opens a page of another origin in the browser of somebody who is signed in. */
async function lured(html: string): Promise<Page> {
  const { page } = await stage.start('/ui/account');
  await page.getByText('This session').waitFor();
  evilPage = html;
  await page.goto(evilOrigin);
  return page;
}

async function isSignedIn(page: Page): Promise<boolean> {
  await page.goto(`${stage.origin}/ui/account`);
  return page.evaluate(async () => (await fetch('/v1/auth/session')).ok);
}

describe('a page of another origin', () => {
  it.each(['', '<input name="x-gateway-csrf" value="1">'])(
    'changes nothing with a form that it submits for the user: %s',
    async (field) => {
      const page = await lured(
        `<form method="post" action="${stage.origin}/v1/auth/sign-out">${field}</form>`,
      );
      const answered = page.waitForResponse((response) => response.url().endsWith('/v1/auth/sign-out'));
      await page.evaluate(() => document.forms[0]?.submit());

      expect([401, 403, 415]).toContain((await answered).status());
      await page.waitForURL('**/v1/auth/sign-out');
      expect(await isSignedIn(page)).toBe(true);
    },
  );

  it('changes and reads nothing with a script', async () => {
    const page = await lured('');
    const outcomes = await page.evaluate(
      (origin) =>
        Promise.all(
          [
            fetch(`${origin}/v1/auth/session`, { credentials: 'include' }),
            fetch(`${origin}/v1/auth/sign-out`, {
              method: 'POST',
              credentials: 'include',
              headers: { 'x-gateway-csrf': '1' },
            }),
            fetch(`${origin}/v1/api-keys`, { credentials: 'include' }),
          ].map((sent) =>
            sent.then(
              ({ status }) => status,
              () => 'blocked',
            ),
          ),
        ),
      stage.origin,
    );

    expect(outcomes).toEqual(['blocked', 'blocked', 'blocked']);
    expect(await isSignedIn(page)).toBe(true);
  });

  it('cannot put the dashboard into a frame (clickjacking)', async () => {
    const page = await lured(`<iframe src="${stage.origin}/ui/account"></iframe>`);
    await page.waitForLoadState('load');

    await expect.poll(() => page.frames().at(-1)?.url()).toBe('chrome-error://chromewebdata/');
  });

  it('has no hold on a dashboard that it opened', async () => {
    const page = await lured('');
    const opening = page.waitForEvent('popup');
    await page.evaluate((url) => {
      (globalThis as unknown as { opened: unknown }).opened = window.open(url);
    }, `${stage.origin}/ui/account`);
    const opened = await opening;
    await opened.waitForLoadState();

    expect(await opened.evaluate(() => window.opener === null)).toBe(true);
  });
});

describe('a cookie with the name of the session', () => {
  it('that another port set for a longer path does not put its session in place of the own one', async () => {
    const { page } = await stage.start('/ui/account');
    await page.getByText('This session').waitFor();
    const { name, value } = stage.cookieOf('member');
    await page.context().addCookies([{ name, value, domain: stage.base.hostname, path: '/v1' }]);
    const answer = await page.evaluate(async () => {
      const { status, text } = await fetch('/v1/auth/session').then(async (got) => ({
        status: got.status,
        text: await got.text(),
      }));
      return { status, text };
    });

    expect(answer.text).not.toContain(emailOf('member'));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('Delete the cookies of this site');
  });
});

describe('signing in', () => {
  it.each(['//evil.example/ui/', 'javascript:alert(1)'])(
    'leads nowhere outside of the dashboard: %s',
    async (address) => {
      const { page, problems } = await stage.start(`/ui/sign-in?return_to=${encodeURIComponent(address)}`, {
        as: null,
      });
      await page.getByLabel('E-mail').fill(emailOf('owner'));
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.waitForURL(/\/overview$/, { timeout: 100_000 });

      expect(new URL(page.url()).origin).toBe(stage.origin);
      expect(problems).toEqual([]);
    },
  );
});
