import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from './stage';
import { request, signedIn } from './team';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

describe('signing out', () => {
  it.each(['overview', 'logs', 'api-keys'])('leaves the page %s with its data', async (path) => {
    // A session of its own: the others are used by later tests.
    const cookie = await signedIn(stage.base, stage.bootstrap, 'admin');
    const { page } = await stage.start(null, { as: null });
    await page.context().addCookies([{ ...cookie, url: stage.origin }]);
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/${path}`);
    await page.getByRole('button', { name: /admin@acme\.example/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();

    await page.getByRole('heading', { name: 'Sign in to Gatehouse' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/ui/sign-in');
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect((await request(stage.base, ['GET', '/v1/auth/session'], undefined, cookie)).status).toBe(401);
  });
});

describe('the time zone', () => {
  it('follows the browser until the user chooses one', async () => {
    const { page } = await stage.start('/ui/w/:w/logs');
    await page.getByRole('navigation').waitFor();
    const stored = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('zone')));
    expect(await stored()).toEqual([]);

    await page.getByRole('button', { name: /owner@acme\.example/ }).click();
    const choice = page.getByRole('combobox', { name: 'Time zone' });
    expect(await choice.inputValue()).toMatch(/^Browser \(/);
    await choice.fill('Asia/Tokyo');
    await page.getByRole('option', { name: 'Asia/Tokyo' }).click();
    expect(await stored()).toHaveLength(1);
    await choice.fill('Browser');
    await page.getByRole('option', { name: /^Browser/ }).click();
    expect(await stored()).toEqual([]);
  });
});

describe('an unavailable database', () => {
  it('is retried by the page itself until it responds', async () => {
    const { page } = await stage.start(null);
    let isDown = true;
    await page.route('**/v1/api-keys?**', (route) =>
      isDown
        ? route.fulfill({
            status: 503,
            json: { error: { code: 'database_unavailable', message: 'The database is unavailable.' } },
          })
        : route.continue(),
    );
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/api-keys`);
    await page.getByText('This page retries automatically.').waitFor();
    isDown = false;

    await page.getByText('First workspace key').first().waitFor();
  });
});

describe('a page whose style sheet cannot be loaded', () => {
  it('says that the server is unreachable, and opens by itself once it responds', async () => {
    const { page } = await stage.start(null);
    const shell = await (await fetch(new URL('/ui/', stage.base))).text();
    let isDown = true;
    await page.route('**/ui/**', (route, request) => {
      const { pathname } = new URL(request.url());
      const isLater = pathname.endsWith('.css') && !shell.includes(pathname);
      return isDown && (isLater || request.method() === 'HEAD') ? route.abort() : route.continue();
    });
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/configs`);
    await page.getByText('The server cannot be reached.').waitFor();
    isDown = false;

    await page.getByRole('heading', { name: 'Configs' }).waitFor();
  });
});

describe('invites of the set-up', () => {
  it('show the link of each address where no mail is configured', async () => {
    const { page } = await stage.start('/ui/set-up?step=team');
    const emails = [`${randomUUID()}@acme.example`, `${randomUUID()}@acme.example`];
    await page.getByRole('textbox', { name: 'E-mail addresses' }).fill(emails.join('\n'));
    await page.getByRole('button', { name: 'Create invites' }).click();

    await page.getByText('2 invites created.').waitFor();
    const links = await page.locator('code').allInnerTexts();
    expect(new Set(links).size).toBe(2);
    for (const link of links) expect(link).toContain('/invites/accept');
    for (const email of emails)
      await page.getByRole('button', { name: `Copy the link of ${email}` }).waitFor();
  });
});

describe('an invite of the set-up that is refused', () => {
  it('keeps its address and reason, and holds up no other', async () => {
    const { page } = await stage.start('/ui/set-up?step=team');
    const emails = [`${randomUUID()}@acme.example`, 'not-an-address', `${randomUUID()}@acme.example`];
    const field = page.getByRole('textbox', { name: 'E-mail addresses' });
    await field.fill(emails.join('\n'));
    await page.getByRole('button', { name: 'Create invites' }).click();

    await page.getByText('2 invites created.').waitFor();
    await page.getByText('not-an-address was not invited').waitFor();
    expect(await field.inputValue()).toBe('not-an-address');
  });
});

describe('an address without a workspace', () => {
  it('opens the page in the workspace that was open last', async () => {
    const { page } = await stage.start(null);
    const name = `Aardvark ${randomUUID().slice(0, 8)}`;
    const made = await fetch(new URL('/v1/admin/workspaces', stage.base), {
      method: 'POST',
      headers: { 'x-gateway-api-key': stage.bootstrap.admin_api_key, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    const { id, slug } = (await made.json()) as { id: string; slug: string };

    const last = stage.bootstrap.workspace_slug;
    await page.goto(`${stage.origin}/ui/w/${last}/logs`);
    await page.getByRole('heading', { name: 'Logs' }).waitFor();
    for (const [address, opened] of [
      ['/ui/', 'overview'],
      ['/ui/api-keys', 'api-keys'],
    ] as const) {
      await page.goto(stage.origin + address);
      await page.waitForURL(`**/ui/w/${last}/${opened}`);
    }
    await page.goto(`${stage.origin}/ui/no-such-page`);
    await page.getByText('Page not found').first().waitFor();

    expect(slug).not.toBe(last);
    await fetch(new URL(`/v1/admin/workspaces/${id}?name=${encodeURIComponent(name)}`, stage.base), {
      method: 'DELETE',
      headers: { 'x-gateway-api-key': stage.bootstrap.admin_api_key },
    });
  });
});

describe('a user without a workspace', () => {
  it('sees their identity and a contact, and can sign out', async () => {
    const { page } = await stage.start(null, { as: 'member' });
    await page.route('**/v1/auth/session', async (route) => {
      const response = await route.fetch();
      const session = (await response.json()) as object;
      await route.fulfill({ response, json: { ...session, workspaces: [] } });
    });
    await page.goto(`${stage.origin}/ui/`);

    await page.getByText('You are not a member of any workspace').waitFor();
    await page.getByText(/member@acme\.example/).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });
});

describe('a printed page', () => {
  it('keeps the titles of its cards, and leaves the navigation out', async () => {
    const { page } = await stage.start('/ui/w/:w/overview');
    const title = page.getByRole('heading', { name: 'Requests', exact: true });
    await title.waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await title.isVisible()).toBe(true);
    expect(await page.getByRole('navigation').count()).toBe(0);
    expect(await page.getByRole('button', { name: /owner@acme\.example/ }).count()).toBe(0);
  });
});

describe('going back', () => {
  it('undoes a range before it leaves the page', async () => {
    const { page } = await stage.start('/ui/w/:w/logs');
    await page.getByRole('button', { name: 'Last hour' }).click();
    await page.getByText('Last 7 days').click();
    await page.waitForURL(/range=/);
    await page.goBack();
    await page.getByRole('button', { name: 'Last hour' }).waitFor();
    expect(new URL(page.url()).pathname).toContain('/logs');
  });
});

describe('another workspace', () => {
  it('is opened at the same page and range', async () => {
    const { page } = await stage.start(null);
    await page.route('**/v1/auth/session', async (route) => {
      const response = await route.fetch();
      const session = (await response.json()) as { workspaces: { slug: string }[] };
      const other = { ...session.workspaces[0], id: randomUUID(), slug: 'research', name: 'Research' };
      await route.fulfill({ response, json: { ...session, workspaces: [...session.workspaces, other] } });
    });
    await page.goto(
      `${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/logs?range=7d&filter=status:min:400`,
    );
    await page.getByRole('button', { name: /^Switch workspace/ }).click();
    const item = page.getByRole('menuitem', { name: 'Research' });
    expect(await item.getAttribute('href')).toContain('/w/research/logs?range=7d');
    expect(await item.getAttribute('href')).not.toContain('filter');
    await item.click();
    await page.waitForURL(/\/w\/research\/logs\?range=7d/);
  });
});
