import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';
import type { Bootstrap } from './team';

let stage: Stage;
let bootstrap: Bootstrap;
let base: URL;

beforeAll(async () => {
  stage = await openStage();
  ({ base, bootstrap } = stage);
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

const start: Stage['start'] = (...given) => stage.start(...given);

const administer = async (method: string, path: string, body?: object): Promise<unknown> => {
  const answer = await fetch(new URL(path, base), {
    method,
    headers: { 'x-gateway-api-key': bootstrap.admin_api_key, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

describe('the set-up', () => {
  it('stores the first credential with the fields of its provider, tested before', async () => {
    const { page, problems } = await start('/ui/set-up?step=provider');
    const submit = page.getByRole('button', { name: 'Store credential' });
    expect(await submit.isDisabled()).toBe(true);
    const provider = page.getByRole('combobox', { name: 'Provider' });
    await provider.fill('Azure OpenAI');
    await page.getByRole('option', { name: 'Azure OpenAI', exact: true }).click();
    await page.getByLabel('Azure OpenAI resource').waitFor();
    expect(await submit.isDisabled()).toBe(true);

    await provider.fill('Sandbox');
    await page.getByRole('option', { name: /^Sandbox/ }).click();
    await page.getByRole('button', { name: 'Test credential' }).click();
    await page.getByText('The credential works').waitFor();
    await submit.click();
    await page.waitForURL(/step=request/);
    expect(await administer('GET', '/v1/virtual-keys/sandbox')).toMatchObject({ provider: 'sandbox' });
    await administer('DELETE', '/v1/virtual-keys/sandbox');
    expect(problems).toEqual([]);
  });
});

describe('a virtual key', () => {
  it('has the fields of its provider, is tested before it is stored, changed, and removed', async () => {
    const slug = `browser-${Date.now()}`;
    const { page, problems } = await start('/ui/w/:w/virtual-keys?create=on');
    const dialog = page.getByRole('dialog');
    const provider = dialog.getByRole('combobox', { name: 'Provider' });
    await provider.fill('Azure OpenAI');
    await page.getByRole('option', { name: 'Azure OpenAI', exact: true }).click();
    await dialog.getByLabel('Azure OpenAI resource').waitFor();
    await dialog.getByLabel('API key').waitFor();
    expect(await dialog.getByRole('button', { name: 'Test credential' }).isDisabled()).toBe(true);
    expect(await accessibilityProblems(page)).toEqual([]);

    await provider.fill('Sandbox');
    await page.getByRole('option', { name: /^Sandbox/ }).click();
    expect(await dialog.getByLabel('API key').count()).toBe(0);
    await dialog.getByLabel('Name').fill(slug);
    await dialog.getByRole('button', { name: 'Test credential' }).click();
    await dialog.getByText('The credential works').waitFor();
    await dialog.getByRole('button', { name: 'Create virtual key' }).click();
    await dialog.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: `More actions: ${slug}` }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.waitForURL(new RegExp(`edit=${slug}`));
    await page.getByRole('dialog').getByLabel('Budget, $').fill('25');
    await page.getByRole('dialog').getByRole('combobox', { name: 'Unsupported parameters' }).click();
    await page.getByRole('option', { name: 'Send without them' }).click();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('meter', { name: slug }).waitFor();
    expect(await administer('GET', `/v1/virtual-keys/${slug}`)).toMatchObject({
      usage_limits: { credit_limit: 25, periodic_reset: 'monthly' },
      unsupported_parameters: 'drop',
    });

    await page.getByRole('button', { name: `More actions: ${slug}` }).click();
    await page.getByRole('menuitem', { name: 'Test credential' }).click();
    await page.getByRole('dialog').getByText('The credential works').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();

    await page.getByRole('button', { name: `More actions: ${slug}` }).click();
    await page.getByRole('menuitem', { name: 'Delete virtual key' }).click();
    await page.getByLabel(`Type ${slug} to confirm`).fill(slug);
    await page.getByRole('button', { name: 'Delete virtual key' }).click();
    await page.getByText(slug, { exact: true }).first().waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  it('is copied to another workspace with its credential', async () => {
    const name = `copied-${Date.now()}`;
    await administer('POST', '/v1/admin/workspaces', { name: `Target ${name}` });
    await administer('POST', '/v1/virtual-keys', {
      name,
      provider: 'sandbox',
      workspace_id: bootstrap.workspace_id,
    });
    const { page } = await start('/ui/w/:w/virtual-keys');
    await page.getByRole('button', { name: `More actions: ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Copy to a workspace' }).click();
    await page.getByRole('dialog').getByRole('combobox', { name: 'Workspace' }).click();
    await page.getByRole('option', { name: `Target ${name}` }).click();
    await page.getByRole('dialog').getByLabel('Slug').fill(`${name}-there`);
    await page.getByRole('button', { name: 'Copy virtual key' }).click();
    await page.getByText(`${name}-there now exists in Target ${name}.`).waitFor();

    expect(await administer('GET', `/v1/virtual-keys/${name}-there`)).toMatchObject({ provider: 'sandbox' });
  });

  it('says which permission is missing where something may not be done', async () => {
    const name = `locked-${Date.now()}`;
    await administer('POST', '/v1/virtual-keys', {
      name,
      provider: 'sandbox',
      workspace_id: bootstrap.workspace_id,
    });
    const { page } = await start(null);
    await page.route('**/v1/auth/session', async (route) => {
      const answer = await route.fetch();
      const session = (await answer.json()) as { scopes: string[]; scopes_by_role: { admin: string[] } };
      const allowed = (scope: string): boolean => scope.endsWith('.list');
      session.scopes = session.scopes.filter(allowed);
      session.scopes_by_role.admin = session.scopes_by_role.admin.filter(allowed);
      await route.fulfill({ response: answer, json: session });
    });
    await page.goto(`${stage.origin}/ui/w/${bootstrap.workspace_slug}/virtual-keys`);
    await page.getByRole('button', { name: `More actions: ${name}` }).click();
    const edit = page.getByRole('menuitem', { name: 'Edit' });
    expect(await edit.getAttribute('aria-disabled')).toBe('true');
    await edit.hover();
    await page.getByText('You need the permission virtual_keys.update').waitFor();
    await edit.click({ force: true });
    expect(page.url()).not.toContain('edit=');
  });
});

const chat = async (slug: string): Promise<number> => {
  const answer = await fetch(new URL('/v1/chat/completions', base), {
    method: 'POST',
    headers: {
      'x-gateway-api-key': bootstrap.workspace_api_key,
      'x-gateway-virtual-key': slug,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'sandbox-1', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.text();
  return answer.status;
};

describe('limits and budgets', () => {
  it('a budget that is exhausted is raised for this period, and requests are served within two seconds', async () => {
    const name = `limited-${Date.now()}`;
    await administer('POST', '/v1/virtual-keys', {
      name,
      provider: 'sandbox',
      workspace_id: bootstrap.workspace_id,
      usage_limits: { credit_limit: 0.0001, type: 'cost', periodic_reset: 'monthly' },
    });
    expect(await chat(name)).toBe(402);
    const { page, problems } = await start('/ui/w/:w/limits');
    const row = page.getByRole('row').filter({ hasText: name });
    await row.getByRole('button', { name: 'Raise for this period' }).click();
    await page.waitForURL(/raise=/);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Raise by, $').fill('-5');
    expect(await dialog.getByRole('button', { name: 'Raise budget' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Raise by, $').fill('5');
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Raise budget' }).click();
    await dialog.waitFor({ state: 'detached' });
    const raisedAt = Date.now();
    await expect.poll(() => chat(name), { timeout: 4_000, interval: 50 }).toBe(200);

    expect(Date.now() - raisedAt).toBeLessThan(2_000);
    await row.getByRole('meter', { name: new RegExp(`${name}, raised by \\$5`) }).waitFor();
    expect(await administer('GET', `/v1/virtual-keys/${name}`)).toMatchObject({
      usage_limits: { credit_limit: 0.0001, raised_by: 5 },
    });
    expect(problems).toEqual([]);
  });

  it.each([true, false])('are accessible and fit 360 pixels (dark: %s)', async (isDark) => {
    const { page } = await start('/ui/w/:w/limits', { isDark, viewport: { width: 360, height: 740 } });
    await page.getByText(/\d limits?$/).waitFor();

    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});

describe('API keys', () => {
  it('are filtered by the address, show when they were used, and are revoked together', async () => {
    const stamp = `many-${Date.now()}`;
    const secrets: string[] = [];
    for (const at of [1, 2, 3]) {
      const { key } = (await administer('POST', '/v1/api-keys/workspace/service', {
        name: `${stamp}-${at}`,
        workspace_id: bootstrap.workspace_id,
        scopes: ['completions.write'],
      })) as { key: string };
      secrets.push(key);
    }
    const { page, problems } = await start(`/ui/w/:w/api-keys?filter=name:is:${stamp}`);
    await page.getByText('3 keys').waitFor();
    await page.getByRole('button', { name: 'Revoke several keys' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox', { name: new RegExp(`${stamp}-1`) }).check();
    await dialog.getByRole('checkbox', { name: new RegExp(`${stamp}-2`) }).check();
    expect(await dialog.getByRole('button', { name: 'Revoke 2 keys' }).isDisabled()).toBe(true);
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByLabel('Type 2 to confirm').fill('2');
    await dialog.getByRole('button', { name: 'Revoke 2 keys' }).click();
    await page.getByText('1 key', { exact: true }).waitFor();

    const statuses = await Promise.all(
      secrets.map(
        async (key) =>
          (await fetch(new URL('/v1/api-keys', base), { headers: { 'x-gateway-api-key': key } })).status,
      ),
    );
    expect(statuses).toEqual([401, 401, 403]);
    expect(problems).toEqual([]);
  });
});

describe('the audit log', () => {
  it('is verified by its reader, and downloaded as it is filtered', async () => {
    await administer('POST', '/v1/virtual-keys', {
      name: `audited-${Date.now()}`,
      provider: 'sandbox',
      workspace_id: bootstrap.workspace_id,
    });
    const { page, problems } = await start('/ui/w/:w/audit-log?filter=action:is:virtual_keys.create');
    await page.getByRole('button', { name: 'Verify now' }).click();
    await page.getByText(/Chain verified: [\d,]+ records/).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const records = (await readFile(await download.path(), 'utf8')).trim().split('\n');

    expect(new Set(records.map((line) => (JSON.parse(line) as { action: string }).action)).size).toBe(1);
    expect(problems).toEqual([]);
  });
});
