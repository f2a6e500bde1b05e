import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestIdentityProvider } from '../../test/support/identity-provider.js';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';
import { request } from './team';

const DOMAIN = 'directory.example';
const EMAIL = `ada@${DOMAIN}`;

let stage: Stage;
let directory: TestIdentityProvider;
beforeAll(async () => {
  stage = await openStage();
  const at = (path: string) => new URL(`/v1/auth/single-sign-on/${path}`, stage.base).href;
  directory = await TestIdentityProvider.start({
    redirectUri: at('callback'),
    backChannelLogoutUri: at('back-channel-logout'),
    ports: stage.egressPorts,
  });
  groups('engineering');
});
afterEach(() => stage.clear());
afterAll(async () => {
  await forget();
  await stage.close();
  await directory.stop();
});

/** Other files share the service, and begin without an identity provider. */
async function forget(): Promise<void> {
  const path = '/v1/admin/organisation/identity-providers';
  const call = (method: string, below = '') =>
    request(stage.base, [method, path + below], undefined, stage.cookieOf('owner'));
  const { data } = (await (await call('GET')).json()) as { data: readonly { readonly id: string }[] };
  for (const { id } of data) {
    const answer = await call('DELETE', `/${id}`);
    if (!answer.ok) throw new Error(`The identity provider stays: ${await answer.text()}`);
  }
}

async function revoke(name: string): Promise<void> {
  const owner = stage.cookieOf('owner');
  const listed = await request(stage.base, ['GET', '/v1/api-keys?page_size=100'], undefined, owner);
  const { data } = (await listed.json()) as {
    data: readonly { readonly id: string; readonly name: string }[];
  };
  for (const key of data.filter((one) => one.name === name))
    await request(stage.base, ['DELETE', `/v1/api-keys/${key.id}`], undefined, owner);
}

/** The groups of the person who signs in at the provider. */
function groups(...names: readonly string[]): void {
  directory.accounts.set(directory.account, {
    ...{ email: EMAIL, email_verified: true, given_name: 'Ada', family_name: 'Lovelace' },
    groups: names,
  });
}

/** A new browser that signs in at the provider. */
async function signIn(): Promise<Page> {
  const { page } = await stage.start('/ui/sign-in', { as: null });
  await page.getByLabel('E-mail').fill(EMAIL);
  await page.getByRole('link', { name: 'Continue with Directory' }).click();
  await page.waitForURL(/\/ui\/(?!sign-in)/);
  return page;
}

describe('single sign-on', () => {
  it('is tested with claims and the resulting role before it is saved', async () => {
    const { page } = await stage.start('/ui/org/sign-in?create=on');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Directory');
    await dialog.getByLabel('Issuer', { exact: true }).fill(directory.issuer);
    await dialog.getByLabel('Client id').fill(directory.clientId);
    await dialog.getByLabel('Client secret').fill(directory.clientSecret);
    await dialog.getByLabel('Mail domains').fill(DOMAIN);
    await dialog.getByRole('button', { name: 'Add group' }).click();
    await dialog.getByLabel('Group', { exact: true }).fill('engineering');
    await dialog.getByRole('combobox', { name: 'Role in the organization' }).click();
    await page.getByRole('option', { name: 'Admin' }).click();
    await dialog.getByLabel('Create users at their first sign-in').check();
    await dialog.getByLabel('Set roles again at each sign-in').check();

    const opened = page.context().waitForEvent('page');
    await dialog.getByRole('button', { name: 'Test sign-in' }).click();
    await (await opened).getByText('The test sign-in is complete').waitFor();
    await dialog.getByText(`Creates ${EMAIL} as a new user. Role in the organization: Admin.`).waitFor();
    await dialog.getByText('"engineering"').waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);

    await dialog.getByRole('button', { name: 'Add identity provider' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('gives the role of the groups, and another one after the groups change', async () => {
    const first = await signIn();
    await first.getByText('Admin', { exact: true }).waitFor();
    await first.getByRole('link', { name: 'People' }).waitFor();

    groups('sales');
    const second = await signIn();
    await second.getByText('You are not a member of any workspace').waitFor();
    expect(await second.getByRole('link', { name: 'People' }).count()).toBe(0);
  });

  it('verifies the user at a step-up: the provider prompts again, and the page continues', async () => {
    groups('engineering');
    const page = await signIn();
    await page.goto(`${stage.origin}/ui/w/${stage.bootstrap.workspace_slug}/api-keys?create=on`);
    await page.route(
      '**/v1/api-keys/workspace/service',
      (route) =>
        route.fulfill({
          status: 403,
          json: {
            error: { code: 'step_up_required', message: 'Confirm that it is you.', request_id: 'r-1' },
          },
        }),
      { times: 1 },
    );
    const name = `after-step-up-${Date.now()}`;
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByRole('button', { name: 'Call models' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create API key' }).click();
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
    expect(await proof.getByLabel('Password').count()).toBe(0);
    const authorizations = directory.asked.length;
    await proof.getByRole('link', { name: 'Continue with Directory' }).click();
    await page.waitForURL(/\/api-keys\?create=on/);
    expect(directory.asked.length).toBeGreaterThan(authorizations);

    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByRole('button', { name: 'Call models' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create API key' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^gw_ws_/)
      .waitFor();
    await revoke(name);
  });

  it('ends here when the user signs out at the provider', async () => {
    groups('engineering');
    const page = await signIn();
    const cookies = await page.context().cookies(directory.issuer);
    await directory.signOut(new Map(cookies.map(({ name, value }) => [name, value])));
    await expect
      .poll(
        async () => {
          await page.goto(`${stage.origin}/ui/`);
          await page.waitForURL(/overview|sign-in/);
          return page.url();
        },
        { timeout: 10_000 },
      )
      .toMatch(/sign-in/);
  });

  it('shows in plain words that the provider is unavailable', async () => {
    const { page } = await stage.start('/ui/sign-in', { as: null });
    await page.getByLabel('E-mail').fill(EMAIL);
    directory.intercept = ({ url = '' }, response) => {
      const isToken = url.startsWith('/token');
      if (isToken) response.writeHead(503).end();
      return isToken;
    };
    try {
      await page.getByRole('link', { name: 'Continue with Directory' }).click();
      await page.waitForURL(/sign-in\?.*error=/);
      const alert = page.getByRole('alert');
      await alert
        .getByText('The identity provider cannot be reached or sends an invalid response.')
        .waitFor();
      await alert.getByText('Request id').waitFor();
    } finally {
      directory.intercept = () => false;
    }
  });
});
