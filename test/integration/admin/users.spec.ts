import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp, type Answer } from '../../support/admin-app.js';

const USERS = '/v1/admin/users';

describe('users of the organization', () => {
  let app: AdminApp;
  let firstOwner: string;

  beforeAll(async () => {
    app = await AdminApp.start();
    [{ id: firstOwner }] = await app.dataSource.query('SELECT id FROM users');
  });
  afterAll(() => app.close());

  const anAdmin = async () => (await app.aPerson({ role: 'admin' })).id;
  const roleOf = async (id: string) => (await app.call('GET', `${USERS}/${id}`)).body.role;
  const setRole = (id: string, role: string, key?: string) =>
    app.call('PUT', `${USERS}/${id}`, { body: { role }, key });
  const remove = async (id: string, key?: string) => {
    const { email } = (await app.call('GET', `${USERS}/${id}`)).body;
    return app.call('DELETE', `${USERS}/${id}`, { body: { email }, key });
  };
  const nameless = ({ text }: Answer) => text.replace(/"request_id":"[^"]+"/, '');

  describe('reading', () => {
    it('lists them in both spellings of paging, by role and by address in any spelling', async () => {
      const { id, email } = await app.aPerson({ workspaces: [{ id: 'ws-default', role: 'member' }] });

      for (const query of ['page_size=1&current_page=0', 'pageSize=1&currentPage=0'])
        expect((await app.call('GET', `${USERS}?${query}`)).body).toMatchObject({
          object: 'list',
          data: [
            {
              ...{ id, email, role: 'member', object: 'user', workspace_ids: [app.first.workspace_id] },
              workspaces: [{ id: app.first.workspace_id, role: 'member' }],
            },
          ],
        });
      const byEmail = await app.call('GET', `${USERS}?email=${email.toUpperCase()}`);
      expect(byEmail.body).toMatchObject({ total: 1, data: [{ id }] });
      const owners = await app.call('GET', `${USERS}?role=owner`);
      expect(owners.body.data.map((user: { id: string }) => user.id)).toContain(firstOwner);
      for (const query of ['role=god', 'email=nobody', 'page_size=101', 'email=a@b.c&email=d@e.f'])
        expect((await app.call('GET', `${USERS}?${query}`)).status).toBe(400);
    });

    it('shows nothing secret of a user (G25)', async () => {
      expect(Object.keys((await app.call('GET', `${USERS}/${firstOwner}`)).body).sort()).toEqual([
        'created_at',
        'email',
        'first_name',
        'id',
        'last_name',
        'last_updated_at',
        'object',
        'role',
        'status',
        'workspace_ids',
        'workspaces',
      ]);
    });

    it('is not for workspace keys (G22)', async () => {
      const { key } = await app.workspaceKey();

      for (const [method, path] of [
        ['GET', USERS],
        ['GET', `${USERS}/${firstOwner}`],
        ['PUT', `${USERS}/${firstOwner}`],
        ['DELETE', `${USERS}/${firstOwner}`],
        ['POST', `${USERS}/${firstOwner}/transfer-ownership`],
        ['GET', `${USERS}/invites`],
        ['POST', `${USERS}/invites`],
      ] as const) {
        const body = method === 'GET' ? {} : { body: {} };
        expect((await app.call(method, path, { key, ...body })).status).toBe(403);
      }
    });

    it('does not find users of another organization', async () => {
      const { organizationId } = await app.anotherOrganization();
      const id = randomUUID();
      await app.dataSource.query(
        "INSERT INTO users (id, organization_id, email, role) VALUES ($1, $2, 'b@example.com', 'member')",
        [id, organizationId],
      );

      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const body =
          method === 'GET' ? {} : { body: method === 'PUT' ? { role: 'admin' } : { email: 'b@example.com' } };
        const foreign = await app.call(method, `${USERS}/${id}`, body);
        expect(foreign.status).toBe(404);
        expect(nameless(foreign)).toBe(nameless(await app.call(method, `${USERS}/${randomUUID()}`, body)));
      }
      expect((await app.call('GET', `${USERS}?email=b@example.com`)).body.total).toBe(0);
    });
  });

  describe('changing', () => {
    it('gives and takes roles, with effect on keys at once (G38)', async () => {
      const id = await anAdmin();
      const key = await app.adminKeyOf(id);
      expect((await app.call('GET', USERS, { key })).status).toBe(200);

      expect((await setRole(id, 'member')).body).toEqual({});
      expect((await app.call('GET', USERS, { key })).status).toBe(403);
      expect((await app.audited()).filter(({ outcome }) => outcome === 'success').at(-1)).toMatchObject({
        action: 'organisation_users.update',
        target_id: id,
        before: { role: 'admin' },
        after: { role: 'member' },
      });
      await setRole(id, 'admin');
      expect((await app.call('GET', USERS, { key })).status).toBe(200);
    });

    it('deactivates: keys of a user do nothing until that is undone', async () => {
      const id = await anAdmin();
      const key = await app.adminKeyOf(id);
      const status = async () => (await app.call('GET', USERS, { key })).status;

      await app.call('PUT', `${USERS}/${id}`, { body: { status: 'deactivated' } });
      expect(await status()).toBe(403);
      await app.call('PUT', `${USERS}/${id}`, { body: { status: 'active' } });
      expect(await status()).toBe(200);
    });

    it.each([
      [{ role: 'owner' }],
      [{ role: 'god' }],
      [{ scopes: ['logs.view'] }],
      [{ organisation_id: randomUUID() }],
      [{ is_admin: true }],
      [{ email: 'new@example.com' }],
      [{ password_hash: 'x' }],
      [{ role: ['admin'] }],
      [{ status: 'deleted' }],
    ])('refuses %j (G23)', async (body) => {
      const { id } = await app.aPerson();

      expect((await app.call('PUT', `${USERS}/${id}`, { body })).status).toBe(400);
      expect(await roleOf(id)).toBe('member');
    });

    it('lets an admin change members and itself, and neither owners nor other admins (G28)', async () => {
      const [admin, peer, { id: member }] = [await anAdmin(), await anAdmin(), await app.aPerson()];
      const key = await app.adminKeyOf(admin);

      for (const other of [firstOwner, peer]) {
        for (const refused of [
          await setRole(other, 'member', key),
          await app.call('PUT', `${USERS}/${other}`, { body: { status: 'deactivated' }, key }),
          await remove(other, key),
          await app.call('POST', `${USERS}/${other}/transfer-ownership`, { body: {}, key }),
        ]) {
          expect(refused.status).toBe(403);
          expect((await app.audited()).at(-1)).toMatchObject({ outcome: 'refused', error_code: 'forbidden' });
        }
      }
      expect([await roleOf(firstOwner), await roleOf(peer)]).toEqual(['owner', 'admin']);
      expect((await setRole(member, 'admin', key)).status).toBe(200);
      expect((await setRole(admin, 'member', key)).status).toBe(200);
    });
  });

  describe('the last owner', () => {
    it('cannot be demoted, deactivated or deleted (G29)', async () => {
      for (const refused of [
        await setRole(firstOwner, 'admin'),
        await app.call('PUT', `${USERS}/${firstOwner}`, { body: { status: 'deactivated' } }),
        await remove(firstOwner),
      ])
        expect([refused.status, refused.body.error.code]).toEqual([409, 'last_owner']);
    });

    it('is not another one who is deactivated', async () => {
      const other = await app.anOwner();
      await app.call('PUT', `${USERS}/${other}`, { body: { status: 'deactivated' } });

      expect((await setRole(firstOwner, 'admin')).body.error.code).toBe('last_owner');
      expect((await remove(other)).status).toBe(200);
    });

    it('is left when two owners demote or delete each other at the same moment', async () => {
      for (let round = 0; round < 6; round++) {
        const other = await app.anOwner();
        const key = await app.adminKeyOf(other);
        const email = (await app.call('GET', `${USERS}/${other}`)).body.email;
        const [mine, theirs] = await Promise.all([
          round % 2 ? setRole(other, 'admin') : app.call('DELETE', `${USERS}/${other}`, { body: { email } }),
          setRole(firstOwner, 'admin', key),
        ]);

        expect([mine.status, theirs.status].filter((status) => status === 200)).toHaveLength(1);
        const [{ owners }] = await app.dataSource.query(
          "SELECT count(*)::int AS owners FROM users WHERE role = 'owner' AND organization_id = $1",
          [app.first.organisation_id],
        );
        expect(owners).toBe(1);
        await app.dataSource.query(
          "UPDATE users SET role = CASE WHEN id = $1 THEN 'owner' ELSE 'member' END WHERE organization_id = $2",
          [firstOwner, app.first.organisation_id],
        );
      }
    });
  });

  describe('handing over ownership', () => {
    it('makes another person an owner, and the one before an admin unless it stays', async () => {
      const { id } = await app.aPerson();
      const transfer = (to: string, body: object, key?: string) =>
        app.call('POST', `${USERS}/${to}/transfer-ownership`, { body, key });

      expect((await transfer(id, { step_down: false })).status).toBe(200);
      expect([await roleOf(firstOwner), await roleOf(id)]).toEqual(['owner', 'owner']);
      expect((await transfer(id, {})).status).toBe(200);
      expect([await roleOf(firstOwner), await roleOf(id)]).toEqual(['admin', 'owner']);
      expect((await transfer(firstOwner, {})).status).toBe(403);
      const key = await app.adminKeyOf(id);
      expect((await transfer(id, {}, key)).status).toBe(409);
      expect((await transfer(firstOwner, {}, key)).status).toBe(200);
      expect([await roleOf(firstOwner), await roleOf(id)]).toEqual(['owner', 'admin']);
    });
  });

  describe('deleting', () => {
    const aServiceKey = async (maker: string, scopes: string[]) => {
      const { id, key } = await app.workspaceKey(scopes as never);
      await app.dataSource.query('UPDATE api_keys SET created_by_user_id = $2 WHERE id = $1', [id, maker]);
      return { id, key };
    };
    const aUserKey = async (user_id: string) =>
      (
        await app.call('POST', '/v1/api-keys/workspace/user', {
          body: { name: 'k', workspace_id: 'ws-default', user_id, scopes: ['logs.list'] },
        })
      ).body;

    it('requires the address, and shows what is deleted and what is transferred to whom', async () => {
      const { id, email } = await app.aPerson({ workspaces: [{ id: 'ws-default', role: 'manager' }] });
      await aUserKey(id);
      await aServiceKey(id, ['logs.list']);

      for (const [path, body] of [
        [`${USERS}/${id}`, {}],
        [`${USERS}/${id}?confirm=other@example.com`, {}],
        [`${USERS}/${id}`, { email: 'other@example.com' }],
      ] as const) {
        const refused = await app.call('DELETE', path, { body });
        expect([refused.status, refused.body.error.code]).toEqual([400, 'confirmation_required']);
        expect(refused.body.error.message).toBe(
          `Deleting ${email} revokes 1 personal API key and 0 admin keys, ` +
            'removes 1 workspace membership and 0 pending invites, and hands 1 service key to owner@localhost. ' +
            `To confirm, repeat the request with {"email":"${email}"} or "?confirm=${email}".`,
        );
      }
      expect((await app.call('DELETE', `${USERS}/${id}?confirm=${email.toUpperCase()}`)).status).toBe(200);
    });

    it('revokes the keys of the user, and transfers service keys with no more than they could do', async () => {
      const { id } = await app.aPerson({ workspaces: [{ id: 'ws-default', role: 'member' }] });
      const own = await aUserKey(id);
      const service = await aServiceKey(id, ['logs.list', 'virtual_keys.create']);
      const admin = await app.adminKeyOf(id);
      expect((await app.call('POST', '/v1/virtual-keys', { key: service.key, body: {} })).status).toBe(403);

      expect((await remove(id)).status).toBe(200);

      expect((await app.call('GET', `${USERS}/${id}`)).status).toBe(404);
      expect((await app.call('GET', '/v1/logs', { key: own.key })).status).toBe(401);
      expect((await app.call('GET', '/v1/logs', { key: admin })).status).toBe(401);
      expect((await app.call('GET', '/v1/logs', { key: service.key })).status).toBe(200);
      expect((await app.call('POST', '/v1/virtual-keys', { key: service.key, body: {} })).status).toBe(403);
      const [row] = await app.dataSource.query('SELECT * FROM api_keys WHERE id = $1', [service.id]);
      expect(row).toMatchObject({ created_by_user_id: firstOwner, scopes: ['logs.list'] });
      expect((await app.call('GET', `/v1/api-keys?page_size=100`)).text).not.toContain(own.id);
    });

    it('revokes the admin keys of an admin, so that none gains the rank of an owner', async () => {
      const id = await anAdmin();
      const key = await app.adminKeyOf(id);

      await remove(id);

      expect((await app.call('GET', USERS, { key })).status).toBe(401);
    });

    it('transfers the admin keys of an owner to the deleting owner', async () => {
      const id = await app.anOwner();
      const key = await app.adminKeyOf(id);

      await remove(id);

      expect((await app.call('GET', USERS, { key })).status).toBe(200);
    });

    it('lets an owner leave when there is another, who then owns their keys', async () => {
      const id = await app.anOwner();
      const key = await app.adminKeyOf(id);

      expect((await remove(id, key)).status).toBe(200);
      expect((await app.call('GET', `${USERS}/${id}`)).status).toBe(404);
      expect((await app.call('GET', USERS, { key })).status).toBe(200);
    });
  });
});
