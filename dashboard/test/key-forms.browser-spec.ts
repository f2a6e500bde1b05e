import { randomUUID } from 'node:crypto';
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

async function newKey(more: object = {}): Promise<{ id: string; name: string }> {
  const name = `edited-${randomUUID()}`;
  const { id } = (await administer('POST', '/v1/api-keys/workspace/service', {
    name,
    workspace_id: stage.bootstrap.workspace_id,
    scopes: ['completions.write', 'prompts.list'],
    ...more,
  })) as { id: string };
  return { id, name };
}

describe('the form of an API key', () => {
  it('changes everything that the API takes, and keeps what it does not change', async () => {
    const { id, name } = await newKey({
      rate_limits: [{ type: 'tokens', unit: 'rpd', value: 5000, on_store_failure: 'closed' }],
      usage_limits: { credit_limit: 3, type: 'cost', periodic_reset_days: 7 },
      defaults: { metadata: { team: 'checkout' } },
    });
    const { page, problems } = await stage.start(`/ui/w/:w/api-keys?filter=name:is:${name}`);
    await page.getByRole('row').filter({ hasText: name }).click();
    await page.waitForURL(/edit=/);
    const drawer = page.getByRole('dialog', { name: `Edit ${name}` });
    expect(await drawer.getByRole('button', { name: 'Save changes' }).isDisabled()).toBe(true);
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await drawer.getByRole('checkbox', { name: 'prompts.list' }).isChecked()).toBe(true);
    expect(await drawer.getByLabel('Rate limits: Amount').inputValue()).toBe('5000');
    expect(await drawer.getByLabel('Budgets: Days').inputValue()).toBe('7');

    await drawer.getByLabel('Name').fill(`${name}-new`);
    await drawer.getByRole('checkbox', { name: 'logs.list' }).check();
    await drawer.getByLabel('Budgets: Amount').fill('25');
    await drawer.getByLabel('Budgets: Alert at').fill('20');
    await drawer.getByRole('combobox', { name: 'Expires' }).click();
    await page.getByRole('option', { name: 'in 30 days' }).click();
    await drawer.getByLabel('Alerts about its budgets also to').fill('team@example.com');
    await drawer.getByRole('checkbox', { name: 'Requests may choose another config' }).uncheck();
    await drawer.getByLabel('Metadata of its requests').fill('team=checkout\nstage=test');
    await drawer.getByText('when it has spent $25.00 in 7 days').waitFor();
    await drawer.getByRole('button', { name: 'Save changes' }).click();
    await drawer.waitFor({ state: 'detached' });

    expect(await administer('GET', `/v1/api-keys/${id}`)).toMatchObject({
      name: `${name}-new`,
      scopes: ['completions.write', 'logs.list', 'prompts.list'],
      usage_limits: { credit_limit: 25, alert_threshold: 20, periodic_reset_days: 7 },
      rate_limits: [{ type: 'tokens', unit: 'rpd', value: 5000, on_store_failure: 'closed' }],
      defaults: { metadata: { team: 'checkout', stage: 'test' }, allow_config_override: false },
      alert_emails: ['team@example.com'],
      expires_at: expect.stringMatching(/T/) as string,
    });
    expect(problems).toEqual([]);
  });

  it('shows the refusal of the server at the field, and confirms before it discards input', async () => {
    const { id, name } = await newKey();
    const { page } = await stage.start(`/ui/w/:w/api-keys?edit=${id}`);
    const drawer = page.getByRole('dialog', { name: `Edit ${name}` });
    const emails = drawer.getByLabel('Alerts about its budgets also to');
    await emails.fill('nobody');
    await drawer.getByRole('button', { name: 'Save changes' }).click();
    await expect.poll(() => emails.getAttribute('aria-invalid')).toBe('true');
    await drawer.getByText(/The field "alert_emails/).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Discard what you entered?' }).waitFor();
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    await drawer.waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('edit=');
  });

  it('does not overwrite a concurrent change without confirmation', async () => {
    const { id, name } = await newKey();
    const { page } = await stage.start(`/ui/w/:w/api-keys?edit=${id}`);
    const drawer = page.getByRole('dialog', { name: `Edit ${name}` });
    await drawer.getByLabel('Description').fill('mine');
    await administer('PUT', `/v1/api-keys/${id}`, { description: 'theirs' });
    await drawer.getByRole('button', { name: 'Save changes' }).click();
    await drawer.getByText('Someone else changed this key').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    expect(await administer('GET', `/v1/api-keys/${id}`)).toMatchObject({ description: 'theirs' });
    await drawer.getByRole('button', { name: 'Discard mine' }).click();
    await expect.poll(() => drawer.getByLabel('Description').inputValue()).toBe('theirs');

    await drawer.getByLabel('Description').fill('mine again');
    await administer('PUT', `/v1/api-keys/${id}`, { alert_emails: ['kept@example.com'] });
    await drawer.getByRole('button', { name: 'Save changes' }).click();
    await drawer.getByRole('button', { name: 'Save mine on top' }).click();
    await drawer.waitFor({ state: 'detached' });
    expect(await administer('GET', `/v1/api-keys/${id}`)).toMatchObject({
      description: 'mine again',
      alert_emails: ['kept@example.com'],
    });
  });

  it('says what is missing while a key cannot be created', async () => {
    const { page } = await stage.start('/ui/w/:w/api-keys?create=on');
    const dialog = page.getByRole('dialog', { name: 'Create API key' });
    await dialog.getByText('Still missing: a name, at least one permission.').waitFor();
    await dialog.getByLabel('Name').fill('half');
    await dialog.getByText('Still missing: at least one permission.').waitFor();
    await dialog.getByRole('button', { name: 'Call models' }).click();
    await dialog.getByLabel('Rate limits: Amount').fill('1.5');
    await dialog.getByText('Still missing: a valid rate limit.').waitFor();
    await dialog.getByLabel('Rate limits: Amount').fill('2');
    await dialog.getByText('You see the key once').waitFor();
    await dialog.getByText('It may use 2 requests per minute.').waitFor();
  });

  it('is only shown to a user who may not change the key, with the reason', async () => {
    const { id, name } = await newKey();
    const { page } = await stage.start(null);
    await page.route('**/v1/auth/session', async (route) => {
      const answer = await route.fetch();
      const session = (await answer.json()) as { scopes: string[]; scopes_by_role: { admin: string[] } };
      const allowed = (scope: string): boolean => /\.(list|read)$/.test(scope);
      session.scopes = session.scopes.filter(allowed);
      session.scopes_by_role.admin = session.scopes_by_role.admin.filter(allowed);
      await route.fulfill({ response: answer, json: session });
    });
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/api-keys?edit=${id}`);
    const drawer = page.getByRole('dialog', { name: `Edit ${name}` });
    await drawer.getByText('You need the permission workspace_service_api_keys.update').first().waitFor();
    expect(await drawer.getByLabel('Name').isDisabled()).toBe(true);
    expect(await drawer.getByRole('button', { name: 'Save changes' }).getAttribute('aria-disabled')).toBe(
      'true',
    );
  });
});

describe('the API keys of a member', () => {
  it('are none of theirs, which the page says instead of that there are no keys', async () => {
    const { page } = await stage.start('/ui/w/:w/api-keys', { as: 'member' });
    await page.getByText('You have no API keys here').waitFor();
    expect(await page.getByRole('button', { name: 'Create API key' }).count()).toBe(1);
  });
});

describe('admin keys', () => {
  it('are created, tried, changed, rotated and revoked under Organization', async () => {
    const name = `script-${randomUUID()}`;
    const { page, problems } = await stage.start('/ui/');
    await page.getByRole('link', { name: 'Admin keys' }).click();
    await page.waitForURL(/\/org\/admin-keys/);
    await page.getByRole('button', { name: 'Create admin key' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Create admin key' });
    await dialog.getByLabel('Name').fill(name);
    expect(await dialog.getByRole('checkbox', { name: 'completions.write' }).count()).toBe(0);
    await dialog.getByRole('checkbox', { name: 'workspaces.list' }).check();
    expect(await accessibilityProblems(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create admin key' }).click();

    const command = page.getByLabel('Try it');
    const text = (await command.textContent()) ?? '';
    const [, address = '', secret = ''] =
      /"(http[^"]+)"[^]*x-gateway-api-key: (gw_admin_\w+)/.exec(text) ?? [];
    const answer = await fetch(address, { headers: { 'x-gateway-api-key': secret } });
    expect(answer.status).toBe(200);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.getByLabel('I have stored it').check();
    await page.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('row').filter({ hasText: name }).click();
    const drawer = page.getByRole('dialog', { name: `Edit ${name}` });
    await drawer.getByRole('checkbox', { name: 'audit_logs.list' }).check();
    await drawer.getByRole('button', { name: 'Save changes' }).click();
    await drawer.waitFor({ state: 'detached' });
    const { data } = (await administer('GET', `/v1/api-keys?name=${name}`)) as {
      data: { scopes: string[] }[];
    };
    expect(data.map(({ scopes }) => scopes)).toEqual([['audit_logs.list', 'workspaces.list']]);

    const menu = page.getByRole('button', { name: `More actions: ${name}` });
    await menu.click();
    await page.getByRole('menuitem', { name: 'Rotate key' }).click();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await page.getByLabel('I have stored it').check();
    await page.getByRole('button', { name: 'Done' }).click();
    await menu.click();
    await page.getByRole('menuitem', { name: 'Revoke key' }).click();
    await page.getByLabel(`Type ${name} to confirm`).fill(name);
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('row').filter({ hasText: name }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  it('are not there for a manager', async () => {
    const { page } = await stage.start('/ui/', { as: 'manager' });
    await page.getByRole('link', { name: 'API keys' }).waitFor();
    expect(await page.getByRole('link', { name: 'Admin keys' }).count()).toBe(0);
  });
});
