import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityProblems } from './browser';
import { openStage, type Stage } from './stage';
import { emailOf, request, type Role, signedIn } from './team';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => stage.clear());
afterAll(() => stage.close());

interface SignedIn {
  readonly workspaces: readonly { readonly slug: string; readonly role: string }[];
  readonly scopes_by_role: Readonly<Record<string, readonly string[]>>;
}

/** What the server says that the person may do in the first workspace. */
async function scopesOf(role: Role): Promise<readonly string[]> {
  const answer = await request(stage.base, ['GET', '/v1/auth/session'], undefined, stage.cookieOf(role));
  const { workspaces, scopes_by_role } = (await answer.json()) as SignedIn;
  const own = workspaces.find(({ slug }) => slug === stage.bootstrap.workspace_slug);
  return scopes_by_role[own?.role ?? ''] ?? [];
}

describe.each(['owner', 'admin', 'manager'] as const)('a new API key of the %s', (role) => {
  it('can be given what its maker may do, and nothing else', async () => {
    const held = new Set(await scopesOf(role));
    const { page } = await stage.start('/ui/w/:w/api-keys?create=on', { as: role });
    const boxes = page.getByRole('group', { name: 'Permissions' }).getByRole('checkbox', { name: /\w\.\w/ });
    await boxes.first().waitFor();
    const seen = await boxes.evaluateAll((all) =>
      all.map((box) => {
        const input = box as unknown as { disabled: boolean; labels: readonly { textContent: string }[] };
        return { scope: input.labels[0]?.textContent ?? '', isOpen: !input.disabled };
      }),
    );

    expect(seen.length).toBeGreaterThan(40);
    expect(seen.filter(({ scope, isOpen }) => isOpen !== held.has(scope))).toEqual([]);
    expect(seen.find(({ scope }) => scope === 'completions.write')?.isOpen).toBe(true);
  });
});

describe('a member', () => {
  it('sees no place of administration, and creates no key', async () => {
    const { page } = await stage.start('/ui/w/:w/api-keys', { as: 'member' });
    const create = page.getByRole('button', { name: 'Create API key' }).first();
    await create.waitFor();

    expect(await create.getAttribute('aria-disabled')).toBe('true');
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
  });

  it.each([
    ['/ui/org/people', 'organisation_users.list'],
    ['/ui/w/:w/audit-log', 'audit_logs.list'],
  ])('shows the missing permission to a user who opens %s by its URL', async (path, scope) => {
    const { page } = await stage.start(path, { as: 'member' });
    await page.getByText(scope).first().waitFor();
  });

  it.each([
    ['POST', '/v1/api-keys/workspace/service', { name: 'past the page', scopes: ['completions.write'] }],
    ['POST', '/v1/admin/users/invites', { email: 'x@acme.example', role: 'admin', workspaces: [] }],
    ['GET', '/v1/admin/users', undefined],
    ['GET', '/v1/audit-logs', undefined],
  ] as const)('whose page sends %s %s is refused', async (method, path, body) => {
    const { page } = await stage.start('/ui/account', { as: 'member' });
    await page.getByText('This session').waitFor();
    const status = await page.evaluate(
      async ([how, where, what]) => {
        const answer = await fetch(where, {
          method: how,
          headers: { 'x-gateway-csrf': '1', 'content-type': 'application/json' },
          ...(what && { body: what }),
        });
        return answer.status;
      },
      [method, path, body && JSON.stringify(body)] as const,
    );

    expect(status).toBe(403);
  });
});

describe('an owner', () => {
  it('appears as the owner, invites a user with a link that works once, and removes them by name', async () => {
    const email = `guest-${Date.now()}@acme.example`;
    const { page } = await stage.start('/ui/org/people');
    await page.getByRole('button', { name: /Account.*Owner/ }).waitFor();
    await page.getByRole('button', { name: 'Invite user' }).click();
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Send invite' }).click();
    const link = (await page.getByText(/#gw_/).textContent()) ?? '';
    const given = { token: new URL(link).hash.slice(1), first_name: 'Gail', last_name: 'Guest' };
    const accept = () => request(stage.base, ['POST', '/v1/admin/invites/accept'], given);
    expect((await accept()).status).toBe(200);
    expect((await accept()).ok).toBe(false);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.reload();

    await page.getByRole('button', { name: `More actions: ${email}` }).click();
    await page.getByRole('menuitem', { name: 'Remove user' }).click();
    await page.getByLabel(`Type ${email} to confirm`).fill(email);
    await page.getByRole('button', { name: 'Remove user' }).click();
    await page.getByRole('button', { name: `More actions: ${email}` }).waitFor({ state: 'detached' });
  });
});

describe('the page of a user', () => {
  const idOf = async (role: Role): Promise<string> => {
    const answer = await request(
      stage.base,
      ['GET', `/v1/admin/users?email=${emailOf(role)}`],
      undefined,
      stage.cookieOf('owner'),
    );
    const { data } = (await answer.json()) as { data: readonly [{ readonly id: string }] };
    return data[0].id;
  };

  it.each(['light', 'dark'])(
    'is accessible in the %s theme, and does nothing that its policy forbids',
    async (theme) => {
      const { page, problems } = await stage.start(`/ui/org/people/${await idOf('manager')}`, {
        isDark: theme === 'dark',
      });
      await page.getByRole('region', { name: 'Sessions' }).getByText('Password').first().waitFor();
      await page.waitForLoadState('networkidle');

      expect(await accessibilityProblems(page)).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  it('opens from the list, and reports an unknown user', async () => {
    const { page } = await stage.start('/ui/org/people');
    await page.getByRole('grid').getByText(emailOf('member')).first().click();
    await page.waitForURL(new RegExp(`/org/people/${await idOf('member')}$`));
    await page.getByRole('heading', { name: 'Pat member' }).waitFor();
    await page.goto(`${stage.origin}/ui/org/people/${stage.bootstrap.workspace_id}`);
    await page.getByText('User not found').waitFor();
  });

  it('changes the role in a workspace, ends a session, and deactivates', async () => {
    const id = await idOf('member');
    const cookie = await signedIn(stage.base, stage.bootstrap, 'member');
    const isSignedIn = async () =>
      (await request(stage.base, ['GET', '/v1/auth/session'], undefined, cookie)).ok;
    const { page } = await stage.start(`/ui/org/people/${id}`);
    const role = page.getByRole('combobox', { name: /^Role in / });
    await role.click();
    await page.getByRole('option', { name: 'Manager' }).click();
    await expect.poll(() => role.inputValue()).toBe('Manager');
    await role.click();
    await page.getByRole('option', { name: 'Member', exact: true }).click();
    await expect.poll(() => role.inputValue()).toBe('Member');

    await page
      .getByRole('button', { name: /^End session/ })
      .first()
      .click();
    await expect.poll(isSignedIn).toBe(false);

    await page.getByRole('button', { name: `More actions: ${emailOf('member')}` }).click();
    await page.getByRole('menuitem', { name: 'Deactivate user' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate user' }).click();
    await page.getByText('Deactivated', { exact: true }).waitFor();
    await page.getByRole('button', { name: `More actions: ${emailOf('member')}` }).click();
    await page.getByRole('menuitem', { name: 'Reactivate user' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reactivate user' }).click();
    await page.getByText('Active', { exact: true }).first().waitFor();
  });

  it('lets an admin change nothing of an owner', async () => {
    const { page } = await stage.start(`/ui/org/people/${await idOf('owner')}`, { as: 'admin' });
    const end = page.getByRole('button', { name: /^End session/ }).first();
    await end.waitFor();
    expect(await end.isDisabled()).toBe(true);
    await page.getByRole('button', { name: `More actions: ${emailOf('owner')}` }).click();
    expect(await page.getByRole('menuitem', { name: 'Deactivate user' }).isDisabled()).toBe(true);
  });
});

describe('at 360 pixels', () => {
  const viewport = { width: 360, height: 740 };

  it.each([
    ['/ui/org/people', 'Deactivate user'],
    ['/ui/w/:w/members', 'Remove member'],
  ])('the rows of %s have their menu, and nothing scrolls sideways', async (path, item) => {
    const { page } = await stage.start(path, { viewport });
    await page.getByRole('button', { name: `More actions: ${emailOf('manager')}` }).click();
    await page.getByRole('menuitem', { name: item }).waitFor();

    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  });
});
