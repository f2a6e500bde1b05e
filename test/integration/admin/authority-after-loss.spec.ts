import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUserWithPassword, Browser } from '../../support/browser.js';
import { tokenOf } from '../../support/admin-app.js';
import { AUTHORITIES, type AuthorityName } from './authority.table.js';
import { AuthorityWorld, type Holder } from './authority.world.js';

let world: AuthorityWorld;
beforeAll(async () => {
  world = await AuthorityWorld.make();
});
afterAll(() => world.close());

const status = async (method: string, path: string, key: string, body?: object): Promise<number> =>
  (await world.ask(method, path, key, body)).status;
const remove = ({ id, email }: Holder) => world.succeed('DELETE', `/v1/admin/users/${id}`, { email });
const roleOf = async ({ id }: Holder): Promise<string> =>
  (await world.succeed('GET', `/v1/admin/users/${id}`)).body.role;
const listUsers = (key: string) => status('GET', '/v1/admin/users', key);
const listLogs = (key: string) => status('GET', '/v1/logs', key);

/** What the table says about the loss of the user whose authority something carries. */
const LOSSES: Readonly<Record<AuthorityName, () => Promise<void>>> = {
  'signed tokens': async () => {
    const [author, owner, admin] = [
      await world.holder('owner'),
      await world.holder('owner'),
      await world.holder('admin'),
    ];
    await world.setTokens(author.key, { allow_owners: true });
    const statuses = async () => [await world.tokenFor(owner), await world.tokenFor(admin)];
    expect(await statuses()).toEqual([200, 200]);
    await world.giveRole(author, 'admin');
    expect(await statuses()).toEqual([403, 200]);
    await world.giveRole(author, 'member');
    expect(await statuses()).toEqual([403, 403]);
    await world.setTokens(owner.key);
    expect(await statuses()).toEqual([403, 200]);
  },
  'sign-in rules': async () => {
    const [author, other] = [await world.holder('owner'), await world.holder('owner')];
    const path = '/v1/admin/organisation/sign-in';
    const rules = { single_sign_on_required: false, break_glass_user_ids: [other.id] };
    expect(await status('PUT', path, author.key, rules)).toBe(200);
    await world.giveRole(author, 'admin');
    expect((await world.succeed('GET', path)).body).toMatchObject(rules);
    expect(await status('PUT', path, author.key, rules)).toBe(403);
    expect(await status('PUT', path, other.key, { ...rules, break_glass_user_ids: [] })).toBe(200);
  },
  'admin key': async () => {
    const [creator, removed, heir] = [
      await world.holder('admin'),
      await world.holder('admin'),
      await world.holder('admin'),
    ];
    const [{ key }, { key: other }] = [await world.adminKey(creator.key), await world.adminKey(removed.key)];
    expect([await listUsers(key), await listUsers(other)]).toEqual([200, 200]);
    await world.giveRole(creator, 'member');
    await remove(removed);
    expect([await listUsers(key), await listUsers(other)]).toEqual([403, 401]);
    await world.giveRole(creator, 'admin');
    expect(await listUsers(key)).toBe(200);
    expect(await listUsers(heir.key)).toBe(200);
  },
  'service key': async () => {
    const [creator, removed] = [await world.holder('manager'), await world.holder('manager')];
    const scopes = ['logs.list', 'virtual_keys.create'];
    const [one, two] = [
      await world.serviceKey(creator.key, scopes),
      await world.serviceKey(removed.key, scopes),
    ];
    await world.succeed('PUT', `/v1/admin/workspaces/ws-default/users/${creator.id}`, { role: 'member' });
    const made = { name: 'X', provider: 'openai', key: 'sk' };
    expect(await listLogs(one.key)).toBe(200);
    expect(await status('POST', '/v1/virtual-keys', one.key, made)).toBe(403);
    await remove(removed);
    expect(await listLogs(two.key)).toBe(200);
    expect(await world.authorityOf(two.id)).not.toBe(removed.id);
  },
  'user key': async () => {
    const user = await world.holder('manager');
    const scopes = ['logs.list', 'virtual_keys.create'];
    const { key } = await world.userKey(world.app.first.admin_api_key, user, scopes);
    await world.succeed('PUT', `/v1/admin/workspaces/ws-default/users/${user.id}`, { role: 'member' });
    const made = { name: 'X', provider: 'openai', key: 'sk' };
    expect([await listLogs(key), await status('POST', '/v1/virtual-keys', key, made)]).toEqual([200, 403]);
    await world.leaveWorkspace(user);
    expect(await listLogs(key)).toBe(401);
  },
  invite: async () => {
    const sender = await world.holder('admin');
    const { id, invite_link: link } = await world.invite(sender.key);
    await world.giveRole(sender, 'member');
    expect((await world.succeed('GET', `/v1/admin/users/invites/${id}`)).body.status).toBe('cancelled');
    const acceptance = { token: tokenOf(link), first_name: 'Ada', last_name: 'Lovelace' };
    expect(await status('POST', '/v1/admin/invites/accept', '', acceptance)).toBe(410);
  },
  'role in the organization': async () => {
    const [giver, receiver] = [await world.holder('admin'), await world.holder('member')];
    expect(await status('PUT', `/v1/admin/users/${receiver.id}`, giver.key, { role: 'admin' })).toBe(200);
    await world.giveRole(giver, 'member');
    expect(await roleOf(receiver)).toBe('admin');
  },
  'role in a workspace': async () => {
    const [giver, receiver] = [await world.holder('admin'), await world.holder('member')];
    const path = `/v1/admin/workspaces/ws-default/users/${receiver.id}`;
    expect(await status('PUT', path, giver.key, { role: 'manager' })).toBe(200);
    await world.giveRole(giver, 'member');
    expect((await world.succeed('GET', path)).body.role).toBe('manager');
  },
  'rights of roles': async () => {
    const giver = await world.holder('owner');
    const path = '/v1/admin/organisation';
    const rights = { security_settings: { organisationAdminsViewLogMetadata: false } };
    expect(await status('PUT', path, giver.key, rights)).toBe(200);
    await world.giveRole(giver, 'admin');
    expect((await world.succeed('GET', path)).body).toMatchObject(rights);
    await world.succeed('PUT', path, { security_settings: { organisationAdminsViewLogMetadata: true } });
  },
  'sign-in of others': async () => {
    const user = await aUserWithPassword(world.app, { role: 'admin' });
    const browser = new Browser(world.app);
    await browser.signIn(user.email, user.password);
    expect((await browser.call('GET', '/v1/admin/users')).status).toBe(200);
    await world.giveRole(user, 'member');
    expect((await browser.call('GET', '/v1/admin/users')).status).toBe(401);
  },
  'secret reference': async () => {
    const [author, other] = [await world.holder('admin'), await world.holder('admin')];
    const reference = { name: 'Key', manager_type: 'file', auth_config: {}, secret_path: 'key' };
    const { body } = await world.ask('POST', '/v1/secret-references', author.key, reference);
    const path = `/v1/secret-references/${body.id}`;
    await world.giveRole(author, 'member');
    expect((await world.succeed('GET', path)).body).toMatchObject(reference);
    const change = { secret_path: 'another' };
    expect(await status('PUT', path, author.key, change)).toBe(403);
    expect(await status('PUT', path, other.key, change)).toBe(200);
  },
  'log export': async () => {
    const user = await world.holder('manager');
    const { id } = await world.logExport(user.key);
    expect(await status('POST', `/v1/logs/exports/${id}/start`, user.key)).toBe(200);
    await world.leaveWorkspace(user);
    expect(await world.write(id)).toBe('failed');
  },
  'download link': async () => {
    const user = await world.holder('manager');
    const { id } = await world.logExport(user.key);
    await world.ask('POST', `/v1/logs/exports/${id}/start`, user.key);
    expect(await world.write(id)).toBe('success');
    const { body } = await world.ask('GET', `/v1/logs/exports/${id}/download`, user.key);
    const { pathname, search } = new URL(body.signed_url);
    expect(await status('GET', pathname + search, '')).toBe(200);
    await world.leaveWorkspace(user);
    expect(await status('GET', pathname + search, '')).toBe(404);
  },
};

describe('after the loss of the user whose authority it carries, the table is right about', () => {
  it.each(Object.keys(AUTHORITIES) as AuthorityName[])('%s', (name) => LOSSES[name]());
});
