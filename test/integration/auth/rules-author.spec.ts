import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresTokenDirectory } from '../../../src/adapters/tokens/postgres-token-directory.js';
import { ChangePublisher } from '../../../src/common/changes/change.js';
import { parseEgressAllow } from '../../../src/common/net/egress-allow.js';
import { Egress } from '../../../src/egress/egress.js';
import { adminScopes } from '../../support/admin-app.js';
import { AuthorityWorld, type Holder } from '../admin/authority.world.js';

let world: AuthorityWorld;
let users: Record<'owner' | 'admin' | 'member', Holder>;
let author: Holder;
beforeAll(async () => {
  world = await AuthorityWorld.make();
  author = await world.holder('owner');
  const [owner, admin] = [await world.holder('owner'), await world.holder('admin')];
  users = { owner, admin, member: await world.holder('member') };
});
afterAll(() => world.close());

/** What happened to the owner who set the rules; `earlier`: the rules are from before authors were stored. */
const AUTHORS = {
  owner: ['role', 'owner'],
  admin: ['role', 'admin'],
  member: ['role', 'member'],
  deactivated: ['status', 'deactivated'],
  removed: ['author', 'ffffffff-ffff-4fff-bfff-ffffffffffff'],
  earlier: ['author', null],
} as const;
type AuthorState = keyof typeof AUTHORS;

async function becomes(state: AuthorState): Promise<void> {
  await world.sql("UPDATE users SET role = 'owner', status = 'active' WHERE id = $1", [author.id]);
  const [what, value] = AUTHORS[state];
  if (what === 'author') await world.sql('UPDATE organization_jwt SET author_id = $1', [value]);
  else await world.sql(`UPDATE users SET ${what} = $2 WHERE id = $1`, [author.id, value]);
  await world.app.app.get(ChangePublisher).publish({ resource: 'user', id: author.id });
}

/** The most that tokens stand for. */
function highest(state: AuthorState, allowsOwners: boolean): 'owner' | 'admin' | null {
  if (state === 'owner') return allowsOwners ? 'owner' : 'admin';
  return state === 'admin' || state === 'earlier' ? 'admin' : null;
}

const STATES = Object.keys(AUTHORS) as AuthorState[];
const CASES = STATES.flatMap((state) => [true, false].map((allowsOwners) => ({ state, allowsOwners })));

describe('signed tokens give no more than the user who set them up has now', () => {
  it.each(CASES)('author: $state, allow_owners: $allowsOwners', async ({ state, allowsOwners }) => {
    expect((await world.setTokens(author.key, { allow_owners: allowsOwners })).status).toBe(200);
    await becomes(state);
    const most = highest(state, allowsOwners);
    const status = (isAllowed: boolean): number => (isAllowed ? 200 : 403);

    expect({
      owner: await world.tokenFor(users.owner),
      admin: await world.tokenFor(users.admin),
      member: await world.tokenFor(users.member),
      service: await world.tokenOfService(),
    }).toEqual({
      owner: status(most === 'owner'),
      admin: status(most !== null),
      member: status(most !== null),
      service: status(most !== null),
    });
    await becomes('owner');
  });

  it('in every process, from the next verification of a token that it knows', async () => {
    await world.setTokens(author.key);
    const egress = new Egress({ allow: parseEgressAllow('').rules, timeouts: { connectMs: 1000 } });
    let onChange: (change: null) => void = () => undefined;
    const feed = { subscribe: (listener: typeof onChange) => void (onChange = listener) };
    const other = new PostgresTokenDirectory(world.app.dataSource, feed, egress, 60_000);
    const token = world.issuer.token(world.app.first.organisation_id, { email_id: users.admin.email });
    expect(await other.find(token)).toMatchObject({ principal: { userId: users.admin.id } });

    await becomes('deactivated');
    onChange(null);
    await expect(Promise.resolve().then(() => other.find(token))).rejects.toMatchObject({
      code: 'forbidden',
    });
    await becomes('owner');
    await egress.close();
  });

  it('and no scope that a switch takes from administrators', async () => {
    await world.setTokens(author.key);
    const claims = { workspace_slug: 'ws-default', scope: 'logs.view logs.list' };
    const scopes = async (): Promise<string[]> => {
      const token = world.issuer.token(world.app.first.organisation_id, claims);
      return (await world.ask('GET', '/v1/admin/me', token)).body.scopes;
    };
    expect(await scopes()).toEqual(['logs.list', 'logs.view']);
    const set = (security_settings: object) =>
      world.succeed('PUT', '/v1/admin/organisation', { security_settings });
    await set({ organisationAdminsViewLogs: false });
    expect(await scopes()).toEqual(['logs.list']);
    await set({ organisationAdminsViewLogs: true });
  });
});

describe('which signed tokens are accepted', () => {
  const keyWith = async (scopes: readonly string[]): Promise<string> => {
    const body = { name: 'Narrow', scopes };
    return (await world.made('/v1/api-keys/organisation/service', author.key, body)).key;
  };

  it('is set by owners, with their user id, and by no lower role', async () => {
    expect((await world.setTokens(users.admin.key)).status).toBe(403);
    expect((await world.ask('DELETE', '/v1/admin/organisation/jwt', users.admin.key)).status).toBe(403);
    expect(await world.setTokens(users.owner.key)).toMatchObject({
      status: 200,
      body: { set_by: users.owner.id, allow_owners: false },
    });
    expect((await world.app.audited()).at(-1)).toMatchObject({ action: 'organisation_settings.update' });
  });

  it('is not set with a key of an owner that lacks a scope of owners: one scope would give all', async () => {
    const all = adminScopes();
    for (const scopes of [
      ['organisation_settings.update'],
      all.filter((scope) => scope !== 'audit_logs.list'),
    ])
      expect((await world.setTokens(await keyWith(scopes))).status, scopes[0]).toBe(403);
    expect((await world.setTokens(await keyWith(all))).status).toBe(200);
  });

  it('is taken over by the owner who saves the same setting again', async () => {
    await world.setTokens(author.key);
    const body = world.issuer.setting({ jwks_uri: undefined, jwks: world.issuer.jwks() });
    const again = await world.ask('PUT', '/v1/admin/organisation/jwt', users.owner.key, body);
    expect(again).toMatchObject({ status: 200, body: { set_by: users.owner.id } });
  });

  it('is named by the question before its author is removed, and its tokens end with the author', async () => {
    const leaving = await world.holder('owner');
    await world.setTokens(leaving.key);
    expect(await world.tokenFor(users.member)).toBe(200);
    const question = await world.ask('DELETE', `/v1/admin/users/${leaving.id}`, users.owner.key);
    expect(question.body.error).toMatchObject({ code: 'confirmation_required' });
    expect(question.body.error.message).toContain('signed tokens');
    await world.succeed('DELETE', `/v1/admin/users/${leaving.id}`, { email: leaving.email });
    expect(await world.tokenFor(users.member)).toBe(403);
  });
});
