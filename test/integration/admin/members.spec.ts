import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';

describe('members of a workspace', () => {
  let app: AdminApp;
  let members: string;
  let workspace: string;

  beforeAll(async () => {
    app = await AdminApp.start();
    workspace = await app.anotherWorkspace('ws-two');
    members = `/v1/admin/workspaces/${workspace}/users`;
  });
  afterAll(() => app.close());

  const add = (...users: object[]) => app.call('POST', members, { body: { users } });
  const aMember = async (role = 'member') => {
    const person = await app.aPerson();
    expect((await add({ id: person.id, role })).status).toBe(200);
    return person;
  };
  const aKeyOf = async (user_id: string, scopes: string[]) =>
    (
      await app.call('POST', '/v1/api-keys/workspace/user', {
        body: { name: 'k', workspace_id: workspace, user_id, scopes },
      })
    ).body;

  it('are added, listed by role and address, read, changed and removed', async () => {
    const { id, email } = await aMember('manager');

    const read = await app.call('GET', `${members}/${id}`);
    expect(read.body).toMatchObject({
      object: 'workspace-user',
      id,
      email,
      role: 'manager',
      org_role: 'member',
      status: 'active',
      workspace_id: workspace,
      first_name: 'Ada',
      settings: null,
    });
    expect(read.body.scopes).toContain('virtual_keys.create');
    for (const query of ['role=manager', `email=${email.toUpperCase()}`])
      expect(
        (await app.call('GET', `${members}?${query}`)).body.data.map((one: { id: string }) => one.id),
      ).toContain(id);
    expect(
      (await app.call('PUT', `${members}/${id}`, { body: { role: 'member', user_id: id } })).body,
    ).toEqual({});
    expect((await app.call('GET', `${members}/${id}`)).body.role).toBe('member');
    expect((await app.call('DELETE', `${members}/${id}`)).status).toBe(200);
    expect((await app.call('GET', `${members}/${id}`)).status).toBe(404);
    expect((await app.audited()).slice(-2).map(({ action }: { action: string }) => action)).toEqual([
      'workspace_users.update',
      'workspace_users.delete',
    ]);
  });

  it('must be in the organization first, and can be members only once', async () => {
    const { id } = await aMember();

    expect((await add({ id: randomUUID(), role: 'member' })).status).toBe(404);
    expect((await add({ id, role: 'admin' })).status).toBe(409);
    const newcomer = await app.aPerson();
    expect((await add({ id: newcomer.id, role: 'member' }, { id, role: 'member' })).status).toBe(409);
    expect((await app.call('GET', `${members}/${newcomer.id}`)).status).toBe(404);
  });

  it.each([
    [{}],
    [{ users: [] }],
    [{ users: [{ id: randomUUID() }] }],
    [{ users: [{ id: randomUUID(), role: 'owner' }] }],
    [{ users: [{ id: 'x', role: 'member' }] }],
    [{ users: [{ id: randomUUID(), role: 'member', scopes: ['logs.view'] }] }],
  ])('are not added with %j', async (body) => {
    expect((await app.call('POST', members, { body })).status).toBe(400);
  });

  it.each([
    [{ role: 'member' }],
    [{ id: 5, role: 'member' }],
    [{ id: null, role: 'member' }],
    [{ id: {}, role: 'member' }],
    ['x'],
    [[]],
    [null],
  ])('are not added where %j is in the place of one', async (user) => {
    const { status, body } = await app.call('POST', members, { body: { users: [user] } });

    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  });

  it('lose rights with their role at once, and their keys with the membership', async () => {
    const { id } = await aMember('manager');
    const { key, id: keyId } = await aKeyOf(id, ['virtual_keys.list', 'virtual_keys.create']);
    const status = async (method: string, body?: object) =>
      (await app.call(method, '/v1/virtual-keys', { key, body })).status;
    expect(await status('POST', {})).toBe(400);

    await app.call('PUT', `${members}/${id}`, { body: { role: 'member' } });
    expect(await status('POST', {})).toBe(403);
    expect(await status('GET')).toBe(200);

    await app.call('DELETE', `${members}/${id}`);
    expect(await status('GET')).toBe(401);
    const [row] = await app.dataSource.query('SELECT key_hash, user_id FROM api_keys WHERE id = $1', [keyId]);
    expect(row).toEqual({ key_hash: null, user_id: id });
  });

  it('keep their keys of other workspaces when one is left', async () => {
    const { id } = await aMember();
    const other = await app.anotherWorkspace(`ws-${randomUUID().slice(0, 8)}`);
    await app.call('POST', `/v1/admin/workspaces/${other}/users`, {
      body: { users: [{ id, role: 'member' }] },
    });
    const { key } = (
      await app.call('POST', '/v1/api-keys/workspace/user', {
        body: { name: 'k', workspace_id: other, user_id: id, scopes: ['logs.list'] },
      })
    ).body;

    await app.call('DELETE', `${members}/${id}`);

    expect((await app.call('GET', '/v1/logs', { key })).status).toBe(200);
  });

  it('can be seen by a key of the workspace, and changed by none (G22)', async () => {
    const { id } = await aMember();
    const { key } = await app.workspaceKey(undefined, workspace);
    const { key: elsewhere } = await app.workspaceKey();

    expect((await app.call('GET', members, { key })).status).toBe(200);
    expect((await app.call('GET', `${members}/${id}`, { key })).status).toBe(200);
    expect((await app.call('GET', members, { key: elsewhere })).status).toBe(404);
    for (const method of ['PUT', 'DELETE'])
      expect((await app.call(method, `${members}/${id}`, { key, body: { role: 'admin' } })).status).toBe(403);
    expect((await app.call('POST', members, { key, body: { users: [] } })).status).toBe(403);
  });

  it('show nothing secret of a user (G25)', async () => {
    const { id } = await aMember();

    expect(Object.keys((await app.call('GET', `${members}/${id}`)).body).sort()).toEqual([
      'created_at',
      'email',
      'first_name',
      'id',
      'last_name',
      'last_updated_at',
      'object',
      'org_role',
      'role',
      'scopes',
      'settings',
      'status',
      'workspace_id',
    ]);
  });
});
