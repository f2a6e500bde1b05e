import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuthorityWorld, type Holder } from './authority.world.js';

let world: AuthorityWorld;
const holders = new Map<string, Holder>();
beforeAll(async () => {
  world = await AuthorityWorld.make();
  for (const rank of RANKS) holders.set(rank, await world.holder(rank));
});
afterAll(() => world.close());

/** In descending order. */
const RANKS = ['owner', 'admin', 'manager', 'member'] as const;
type Rank = (typeof RANKS)[number];
const holder = (rank: Rank): Holder => holders.get(rank) as Holder;

/** Callers who may change keys at all, against authorities of every rank. */
const CASES = (['owner', 'admin', 'manager'] as const).flatMap((caller) =>
  RANKS.map((authority) => ({
    ...{ caller, authority, expected: RANKS.indexOf(caller) <= RANKS.indexOf(authority) ? 200 : 403 },
  })),
);

/** A key of the workspace that acts on the authority of a user: one of theirs, or one that they created. */
async function keyOf(rank: Rank, kind: 'service' | 'user'): Promise<{ id: string; key: string }> {
  const bootstrap = world.app.first.admin_api_key;
  const { id } = holder(rank);
  if (kind === 'user') return world.userKey(bootstrap, { id }, ['logs.list']);
  const key = await world.serviceKey(bootstrap, ['logs.list']);
  await world.sql('UPDATE api_keys SET created_by_user_id = $2 WHERE id = $1', [key.id, id]);
  return key;
}

const call = (method: string, path: string, caller: Rank, body?: object) =>
  world.ask(method, `/v1/api-keys/${path}`, holder(caller).key, body);

describe.each(['service', 'user'] as const)('a %s key', (kind) => {
  it.each(CASES)(
    'on the authority of one $authority is rotated and changed by one $caller: $expected',
    async ({ caller, authority, expected }) => {
      const { id, key } = await keyOf(authority, kind);
      const attempts = [
        await call('POST', `${id}/rotate`, caller, { key_transition_period_ms: 0 }),
        ...(await Promise.all(
          [
            { name: 'Other' },
            { expires_at: '2099-01-01T00:00:00Z' },
            { scopes: ['logs.view'] },
            { defaults: {} },
          ].map((body) => call('PUT', id, caller, body)),
        )),
      ];
      const statuses = attempts.map(({ status }) => (status === 403 ? 403 : 200));
      expect(statuses).toEqual(attempts.map(() => expected));
      if (expected === 200) return;

      expect(attempts[0]?.body.error.message).toContain(`authority of an ${authority}, who ranks above you`);
      expect((await world.app.audited()).at(-1)).toMatchObject({ outcome: 'refused', target_id: id });
      expect((await world.ask('GET', '/v1/logs', key)).status).toBe(200);
      expect((await call('DELETE', id, caller)).status).toBe(200);
    },
  );
});

describe('a user key', () => {
  it.each(CASES)(
    'for one $authority is created by one $caller: $expected',
    async ({ caller, authority, expected }) => {
      const body = world.userKeyBody(holder(authority), ['logs.list']);
      expect((await call('POST', 'workspace/user', caller, body)).status).toBe(expected);
    },
  );

  it('without `user_id` belongs to the user on whose authority the creating key acts', async () => {
    const body = { name: 'A key', workspace_id: 'ws-default', scopes: ['logs.list'] };
    for (const caller of ['owner', 'admin', 'manager'] as const) {
      const { id } = (await call('POST', 'workspace/user', caller, body)).body;
      expect(await world.authorityOf(id)).toBe(holder(caller).id);
    }
  });
});

describe('the rank of the user behind a key', () => {
  it('counts while the user is deactivated, because the user can be reactivated', async () => {
    const owner = await world.holder('owner');
    const { id } = await world.userKey(owner.key, owner);
    await world.succeed('PUT', `/v1/admin/users/${owner.id}`, { status: 'deactivated' });
    expect((await call('POST', `${id}/rotate`, 'admin', {})).status).toBe(403);
  });

  it('counts as it is now: after a demotion, the key can be changed', async () => {
    const user = await world.holder('owner');
    const { id } = await world.userKey(user.key, user);
    expect((await call('PUT', id, 'admin', { name: 'Other' })).status).toBe(403);
    await world.giveRole(user, 'admin');
    expect((await call('PUT', id, 'admin', { name: 'Other' })).status).toBe(200);
  });

  it('is above a token that names no user: the key would have no owner', async () => {
    await world.setTokens(holder('owner').key);
    const { id } = await keyOf('member', 'service');
    const scope = 'workspace_service_api_keys.rotate workspace_service_api_keys.update logs.list';
    const token = world.issuer.token(world.app.first.organisation_id, {
      workspace_slug: 'ws-default',
      scope,
    });
    expect((await world.ask('POST', `/v1/api-keys/${id}/rotate`, token, {})).status).toBe(403);
    expect((await world.ask('PUT', `/v1/api-keys/${id}`, token, { name: 'Other' })).status).toBe(403);
  });
});

describe('an invite with promised keys', () => {
  it('is sent again only by a caller who has their scopes', async () => {
    const admin = holder('admin');
    const { id } = await world.invite(admin.key, {
      workspaces: [{ id: 'ws-default', role: 'member' }],
      workspace_api_key_details: { scopes: ['logs.view'] },
    });
    const narrow = await world.made('/v1/api-keys/organisation/service', admin.key, {
      ...{ name: 'Narrow', scopes: ['organisation_users.create'] },
    });
    const path = `/v1/admin/users/invites/${id}/resend`;
    expect((await world.ask('POST', path, narrow.key)).status).toBe(403);
    expect((await world.ask('POST', path, admin.key)).status).toBe(200);
  });
});

describe('a key with one scope of its owner', () => {
  it.each(['admin', 'manager', 'member'])('gives no user the role %s in a workspace', async (role) => {
    const owner = holder('owner');
    const user = await world.holder('member');
    const narrow = (...scopes: string[]) =>
      world.made('/v1/api-keys/organisation/service', owner.key, { name: 'Narrow', scopes });
    const create = await narrow('workspace_users.create', 'organisation_users.create', 'workspaces.create');
    const update = await narrow('workspace_users.update');
    const members = '/v1/admin/workspaces/ws-default/users';
    const { id: invite } = await world.invite(owner.key, {
      ...{
        email: `${role}-in-workspace@acme.example`,
        role: 'member',
        workspaces: [{ id: 'ws-default', role }],
      },
    });
    const attempts = [
      await world.ask('POST', members, create.key, { users: [{ id: user.id, role }] }),
      await world.ask('PUT', `${members}/${user.id}`, update.key, { role }),
      await world.ask('POST', '/v1/admin/workspaces', create.key, { name: 'Another', users: [user.id] }),
      await world.ask('POST', '/v1/admin/users/invites', create.key, {
        ...{ email: `${role}-by-key@acme.example`, role: 'member' },
        workspaces: [{ id: 'ws-default', role }],
      }),
      await world.ask('POST', `/v1/admin/users/invites/${invite}/resend`, create.key),
    ];

    for (const { status, body } of attempts) {
      expect(status).toBe(403);
      expect(body.error.message).toMatch(/giving the role \w+ in a workspace needs .* all of its scopes/);
    }
    expect((await world.ask('PUT', `${members}/${user.id}`, owner.key, { role })).status).toBe(200);
  });

  it('gives no role that has more scopes than the key', async () => {
    const owner = holder('owner');
    const made = (scope: string) =>
      world.made('/v1/api-keys/organisation/service', owner.key, { name: 'Narrow', scopes: [scope] });
    const [update, create] = [
      await made('organisation_users.update'),
      await made('organisation_users.create'),
    ];
    const user = `/v1/admin/users/${holder('member').id}`;
    const invite = (role: string) =>
      world.ask('POST', '/v1/admin/users/invites', create.key, {
        ...{ email: `${role}-by-narrow@acme.example`, role, workspaces: [] },
      });

    expect(
      (await world.ask('POST', `${user}/transfer-ownership`, update.key, { step_down: false })).status,
    ).toBe(403);
    expect((await world.ask('PUT', user, update.key, { role: 'admin' })).status).toBe(403);
    expect((await invite('admin')).status).toBe(403);
    expect((await world.ask('PUT', user, update.key, { first_name: 'Mel' })).status).toBe(200);
    expect((await invite('member')).status).toBe(200);
  });
});
