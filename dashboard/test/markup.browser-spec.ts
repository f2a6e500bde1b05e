import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from './stage';
import { PASSWORD, request } from './team';

/** Runs as a script wherever a text is taken for markup, and leaves an element behind even where the policy stops it. */
const MARKUP = `"'><img class="planted" src="x" onerror="globalThis.planted=1"><script>globalThis.planted=1</script>`;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => stage.clear());
afterAll(async () => {
  await stage.close();
});

const call = async (method: string, path: string, body?: object): Promise<Record<string, string>> => {
  const answered = await request(stage.base, [method, path], body, stage.cookieOf('owner'));
  const text = await answered.text();
  if (!answered.ok) throw new Error(`${method} ${path}: ${answered.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, string>);
};

/** The page shows the text itself; nothing of it became an element, ran, or was stopped by the policy. */
async function expectText(page: Page, problems: readonly string[]): Promise<void> {
  await page.getByText('class="planted"').first().waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.locator('.planted, [href^="javascript:"], [src^="javascript:"]').count()).toBe(0);
  expect(await page.evaluate(() => 'planted' in globalThis)).toBe(false);
  expect(problems).toEqual([]);
}

describe('markup in a name', () => {
  const config = 'pc-markup';
  const undo: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const workspace_id = stage.bootstrap.workspace_slug;
    const shared = { name: MARKUP, workspace_id };
    const { name: organisation = '' } = await call('GET', '/v1/admin/organisation');
    await call('PUT', '/v1/admin/organisation', { name: MARKUP });
    const workspace = await call('GET', `/v1/admin/workspaces/${workspace_id}`);
    await call('PUT', `/v1/admin/workspaces/${workspace_id}`, { name: MARKUP, description: MARKUP });
    undo.push(
      () => call('PUT', '/v1/admin/organisation', { name: organisation }),
      () => call('PUT', `/v1/admin/workspaces/${workspace_id}`, { name: workspace.name, description: '' }),
    );
    const key = await call('POST', '/v1/api-keys/workspace/service', {
      ...shared,
      description: MARKUP,
      scopes: ['completions.write'],
      usage_limits: [{ credit_limit: 5 }],
    });
    await call('POST', '/v1/virtual-keys', {
      ...shared,
      slug: 'markup',
      note: MARKUP,
      provider: 'openai',
      key: 'unused',
      usage_limits: [{ credit_limit: 5 }],
    });
    await call('POST', '/v1/configs', {
      ...shared,
      slug: config,
      config: {
        strategy: {
          mode: 'conditional',
          conditions: [{ query: { 'metadata.plan': { $eq: MARKUP } }, then: MARKUP }],
          default: MARKUP,
        },
        targets: [{ name: MARKUP, virtual_key: 'markup', override_params: { model: MARKUP } }],
      },
    });
    await call('POST', '/v1/logs/views', { ...shared, filter: 'status:min:400', is_shared: true });
    const provider = await call('POST', '/v1/admin/organisation/identity-providers', {
      ...{
        name: MARKUP,
        issuer: 'https://id.acme.example',
        client_id: MARKUP,
        client_secret: 'a-secret-of-theirs',
      },
      domains: ['markup.example'],
    });
    undo.push(
      () => call('DELETE', `/v1/admin/organisation/identity-providers/${provider.id}`),
      () => call('DELETE', `/v1/configs/${config}`),
      () => call('DELETE', `/v1/virtual-keys/markup`),
      () => call('DELETE', `/v1/api-keys/${key.id}`),
    );
    const { invite_link = '' } = await call('POST', '/v1/admin/users/invites', {
      email: `markup-${Date.now()}@acme.example`,
      role: 'member',
      workspaces: [{ id: workspace_id, role: 'member' }],
    });
    const token = new URL(invite_link).hash.slice(1);
    await call('POST', '/v1/admin/invites/accept', {
      ...{ token, first_name: MARKUP, last_name: MARKUP, password: PASSWORD },
    });
  });
  afterAll(async () => {
    for (const step of undo.reverse()) await step();
  });

  it.each([
    '/ui/w/:w/overview',
    '/ui/w/:w/logs',
    '/ui/w/:w/api-keys',
    '/ui/w/:w/api-keys?create=on',
    '/ui/w/:w/virtual-keys',
    '/ui/w/:w/limits',
    '/ui/w/:w/configs',
    '/ui/w/:w/configs/:config',
    '/ui/w/:w/configs/:config?tab=versions',
    '/ui/w/:w/members',
    '/ui/w/:w/audit-log',
    '/ui/org/people',
    '/ui/org/sign-in',
  ])('is shown as text at %s', async (path) => {
    const { page, problems } = await stage.start(path.replace(':config', config));
    await expectText(page, problems);
  });

  it('is shown as text in the menu of saved views', async () => {
    const { page, problems } = await stage.start('/ui/w/:w/logs');
    await page.getByRole('button', { name: 'Saved views' }).click();
    await expectText(page, problems);
  });

  it('is shown as text on the sign-in page', async () => {
    const { page, problems } = await stage.start('/ui/sign-in', { as: null });
    await page.getByLabel('E-mail').fill('somebody@markup.example');
    await expectText(page, problems);
  });
});
