import { randomUUID } from 'node:crypto';
import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';

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

interface Created {
  readonly id: string;
  readonly key: string;
}

const createKey = (name: string, workspace: string): Promise<Created> =>
  administer('POST', '/v1/api-keys/workspace/service', {
    name,
    workspace_id: workspace,
    scopes: ['completions.write'],
  }) as Promise<Created>;

const OTHERS = 120;

describe('a workspace with more API keys than one page', () => {
  let slug: string;
  let oldest: Created;
  beforeAll(async () => {
    const name = `Many ${randomUUID()}`;
    ({ slug } = (await administer('POST', '/v1/admin/workspaces', { name })) as { slug: string });
    oldest = await createKey('oldest-of-all', slug);
    for (let at = 0; at < OTHERS; at += 10)
      await Promise.all(Array.from({ length: 10 }, (_, index) => createKey(`key-${at + index}`, slug)));
  });

  it('lists all of them by scrolling, and finds the oldest by its name', async () => {
    const { page, problems } = await stage.start(null);
    await page.goto(`${stage.origin}/ui/w/${slug}/api-keys`);
    await page.getByText('121 keys').waitFor();
    const grid = page.getByRole('grid', { name: 'API keys' });
    await expect
      .poll(async () => {
        await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight));
        return page.getByRole('row').filter({ hasText: 'oldest-of-all' }).count();
      })
      .toBe(1);
    await page.getByRole('row').filter({ hasText: 'oldest-of-all' }).getByText('Never used').waitFor();

    await page.goto(`${stage.origin}/ui/w/${slug}/api-keys?filter=name:is:OLDEST`);
    await page.getByText('1 key', { exact: true }).waitFor();
    expect(problems).toEqual([]);
  });

  it('shows the name of a key that is not on the first page in Logs and Overview', async () => {
    expect((await stage.chat(oldest.key, 'Hello')).status).toBe(200);
    const { page } = await stage.start(null);
    /** Requests are shown once they are recorded and counted. */
    const findOn = (path: string, found: Locator): Promise<void> =>
      expect
        .poll(
          async () => {
            await page.goto(`${stage.origin}/ui/w/${slug}/${path}`);
            return found.waitFor({ timeout: 3_000 }).then(
              () => true,
              () => false,
            );
          },
          { timeout: 30_000 },
        )
        .toBe(true);
    const row = page.getByRole('row').filter({ hasText: 'oldest-of-all' });
    await findOn('logs', row);
    await row.click();
    await page.getByRole('dialog').getByText('oldest-of-all').waitFor();
    await findOn('overview', page.getByRole('link', { name: 'oldest-of-all' }));
  });

  it('offers all of them for a new limit', async () => {
    const { page, problems } = await stage.start(null);
    await page.goto(`${stage.origin}/ui/w/${slug}/limits`);
    await page.getByText('No limits yet').waitFor();
    await page.getByRole('button', { name: 'Add limit' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add a limit to an API key' });
    await dialog.getByRole('combobox', { name: 'API key' }).fill('oldest');
    await page.getByRole('option', { name: /^oldest-of-all/ }).click();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Edit key' }).click();
    await page.waitForURL(new RegExp(`api-keys\\?edit=${oldest.id}`));
    const drawer = page.getByRole('dialog', { name: 'Edit oldest-of-all' });
    await drawer.getByRole('button', { name: 'Add budget' }).click();
    await drawer.getByLabel('Budgets: Amount').fill('25');
    await drawer.getByRole('button', { name: 'Save changes' }).click();
    await drawer.waitFor({ state: 'detached' });
    await page.goto(`${stage.origin}/ui/w/${slug}/limits`);
    await page.getByRole('row').filter({ hasText: 'oldest-of-all' }).waitFor();
    expect(problems).toEqual([]);
  });
});
