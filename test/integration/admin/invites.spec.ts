import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AdminApp, type Answer, tokenOf } from '../../support/admin-app.js';
import { sleep } from '../../support/waiting.js';

const INVITES = '/v1/admin/users/invites';
const ACCEPT = '/v1/admin/invites/accept';
const NAMES = { first_name: 'Grace', last_name: 'Hopper' };

const anAddress = () => `i-${randomBytes(6).toString('hex')}@example.com`;
const nameless = ({ text }: Answer) => text.replace(/"request_id":"[^"]+"/, '');

describe('invites', () => {
  let app: AdminApp;
  beforeAll(async () => void (app = await AdminApp.start()));
  afterAll(() => app.close());

  const invite = async (more: object = {}, key?: string) =>
    app.call('POST', INVITES, { body: { email: anAddress(), role: 'member', workspaces: [], ...more }, key });
  const accept = (token: string, more: object = {}) =>
    app.call('POST', ACCEPT, { key: '', body: { token, ...NAMES, ...more } });
  const anInvite = async (more: object = {}) => {
    const { body } = await invite(more);
    return { id: body.id as string, token: tokenOf(body.invite_link) };
  };

  describe('making one', () => {
    it('returns a link, and shows the token nowhere else', async () => {
      const made = await invite({ email: 'Grace@EXÄMPLE.com' });
      const token = tokenOf(made.body.invite_link);

      expect(made.status).toBe(200);
      expect(made.body.invite_link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/invites\/accept#gw_invite_/);
      const read = await app.call('GET', `${INVITES}/${made.body.id}`);
      expect(read.body).toMatchObject({
        object: 'invite',
        email: 'grace@xn--exmple-cua.com',
        role: 'member',
        status: 'pending',
        accepted_at: null,
      });
      const hours = (Date.parse(read.body.expires_at) - Date.parse(read.body.created_at)) / 3_600_000;
      expect(hours).toBeCloseTo(72, 2);
      const seen = [
        read.text,
        (await app.call('GET', INVITES)).text,
        JSON.stringify([await app.audited(), await app.dataSource.query('SELECT * FROM invites')]),
      ];
      for (const text of seen) expect(text).not.toContain(token.slice(-43));
    });

    it('refuses a second open one for an address in any spelling, and one for who belongs already', async () => {
      const email = anAddress();
      const person = await app.aPerson();

      expect((await invite({ email })).status).toBe(200);
      expect((await invite({ email: email.toUpperCase() })).status).toBe(409);
      expect((await invite({ email: person.email.toUpperCase() })).status).toBe(409);
      expect((await invite({ email: `plus+${email}` })).status).toBe(200);
    });

    it('makes one of a hundred that are sent at the same moment', async () => {
      const email = anAddress();
      const answers = await Promise.all(Array.from({ length: 10 }, () => invite({ email })));

      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    });

    it.each([
      [{ role: 'owner' }],
      [{ email: 'nobody' }],
      [{ email: 'grаce@example.com' }],
      [{ email: 'a@example.com\r\nBcc: b@example.com' }],
      [{ workspaces: undefined }],
      [{ workspaces: [{ id: 'ws-default' }] }],
      [{ workspaces: [{ id: 'ws-default', role: 'owner' }] }],
      [
        {
          workspaces: [
            { id: 'ws-default', role: 'member' },
            { id: 'ws-default', role: 'admin' },
          ],
        },
      ],
      [{ workspace_api_key_details: { scopes: ['logs.view'] } }],
      [{ workspaces: [{ id: 'ws-default', role: 'member' }], workspace_api_key_details: { scopes: ['*'] } }],
      [
        {
          workspaces: [{ id: 'ws-default', role: 'member' }],
          workspace_api_key_details: { scopes: ['audit_logs.list'] },
        },
      ],
      [{ invited_by: randomUUID() }],
      [{ expires_at: '2099-01-01T00:00:00Z' }],
      [{ workspaces: [[]] }],
      [{ workspaces: [[{ id: 'ws-default', role: 'member' }]] }],
    ])('refuses %j', async (more) => {
      expect((await invite(more)).status).toBe(400);
    });

    it('refuses workspaces that are not there, or of another organization', async () => {
      const { workspaceId } = await app.anotherOrganization();

      for (const id of [randomUUID(), workspaceId])
        expect((await invite({ workspaces: [{ id, role: 'member' }] })).status).toBe(404);
    });

    it('refuses to promise a key with scopes that the inviter may not hand out', async () => {
      const narrow = await app.call('POST', '/v1/api-keys/organisation/service', {
        body: { name: 'Narrow', scopes: ['organisation_users.create'] },
      });
      const workspaces = [{ id: 'ws-default', role: 'member' }];
      const more = { workspaces, workspace_api_key_details: { scopes: ['virtual_keys.create'] } };

      expect((await invite(more, narrow.body.key)).status).toBe(403);
    });
  });

  describe('a list', () => {
    it('shows the workspaces of each invite with the roles in them, as reading it does', async () => {
      const id = await app.anotherWorkspace(`ws-${randomBytes(4).toString('hex')}`);
      const email = anAddress();
      const made = await anInvite({ email, workspaces: [{ id, role: 'manager' }] });
      const { body } = await app.call('GET', `${INVITES}?email=${email}`);
      expect(body.data[0].workspaces).toEqual([{ id, role: 'manager' }]);
      expect((await app.call('GET', `${INVITES}/${made.id}`)).body.workspaces).toEqual([
        { id, role: 'manager' },
      ]);
    });

    it('filters by role, address and the status of this moment', async () => {
      const email = anAddress();
      const { id } = await anInvite({ email, role: 'admin' });
      const ids = async (query: string) =>
        (await app.call('GET', `${INVITES}?${query}`)).body.data.map((one: { id: string }) => one.id);

      expect(await ids(`email=${email.toUpperCase()}&role=admin&status=pending`)).toEqual([id]);
      expect(await ids(`email=${email}&role=member`)).toEqual([]);
      await app.dataSource.query("UPDATE invites SET expires_at = now() - interval '1 s' WHERE id = $1", [
        id,
      ]);
      expect(await ids(`email=${email}&status=pending`)).toEqual([]);
      expect(await ids(`email=${email}&status=expired`)).toEqual([id]);
      expect((await app.call('GET', `${INVITES}/${id}`)).body.status).toBe('expired');
      expect((await invite({ email })).status).toBe(200);
    });
  });

  describe('accepting', () => {
    it('creates the user with roles, memberships and promised keys, which are shown once', async () => {
      const email = anAddress();
      const workspaceTwo = await app.anotherWorkspace(`ws-${randomBytes(4).toString('hex')}`);
      const { id, token } = await anInvite({
        email,
        role: 'admin',
        workspaces: [
          { id: 'ws-default', role: 'manager' },
          { id: workspaceTwo, role: 'member' },
        ],
        workspace_api_key_details: { scopes: ['logs.list'] },
      });

      const accepted = await accept(token, { password: 'correct horse battery', email });

      expect(accepted.status).toBe(200);
      expect(accepted.headers['cache-control']).toBe('no-store');
      expect(accepted.body).toMatchObject({ email, organisation_id: app.first.organisation_id });
      expect(accepted.body.api_keys).toHaveLength(2);
      for (const { key } of accepted.body.api_keys)
        expect((await app.call('GET', '/v1/logs', { key })).status).toBe(200);
      const user = await app.call('GET', `/v1/admin/users/${accepted.body.user_id}`);
      expect(user.body).toMatchObject({ ...NAMES, email, role: 'admin', status: 'active' });
      expect([...user.body.workspace_ids].sort()).toEqual([app.first.workspace_id, workspaceTwo].sort());
      expect((await app.call('GET', `${INVITES}/${id}`)).body).toMatchObject({ status: 'accepted' });
      expect((await app.audited()).at(-1)).toMatchObject({
        action: 'invites.accept',
        actor_kind: 'person',
        actor_name: email,
        user_id: accepted.body.user_id,
        target_id: id,
        request: { token: '***', password: '***' },
        outcome: 'success',
      });
      const [{ password_hash }] = await app.dataSource.query(
        'SELECT password_hash FROM user_credentials WHERE user_id = $1',
        [accepted.body.user_id],
      );
      expect(password_hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
    });

    it('is recorded as done by the user who joined', async () => {
      const { id, token } = await anInvite();
      const { user_id } = (await accept(token)).body;

      expect((await app.audited()).at(-1)).toMatchObject({
        action: 'invites.accept',
        target_id: id,
        actor_kind: 'person',
        actor_id: user_id,
        user_id,
        outcome: 'success',
      });
    });

    it('takes the invited address in upper and lower case as the same', async () => {
      const email = `ada-${randomBytes(4).toString('hex')}@example.com`;
      const { token } = await anInvite({ email });

      expect((await accept(token, { email: email.toUpperCase() })).status).toBe(200);
    });

    it('ends when its sender may not invite any more: the invite is cancelled', async () => {
      const { id: sender } = await app.aPerson({ role: 'admin' });
      const key = await app.adminKeyOf(sender);
      const sent = await app.call('POST', INVITES, {
        key,
        body: { email: `late-${randomBytes(4).toString('hex')}@example.com`, role: 'member', workspaces: [] },
      });
      await app.call('PUT', `/v1/admin/users/${sender}`, { body: { role: 'member' } });

      expect((await app.call('GET', `${INVITES}/${sent.body.id}`)).body.status).toBe('cancelled');
      expect((await accept(sent.body.invite_link.split('#')[1])).status).toBe(410);
    });

    it('is done once, also by two at the same moment (G33)', async () => {
      const { token } = await anInvite();
      const answers = await Promise.all(Array.from({ length: 5 }, () => accept(token)));

      expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410, 410]);
      expect((await accept(token)).status).toBe(410);
    });

    it('returns the same for a used, a cancelled and an expired invite (G33)', async () => {
      const [used, cancelled, expired] = [await anInvite(), await anInvite(), await anInvite()];
      await accept(used.token);
      await app.call('DELETE', `${INVITES}/${cancelled.id}`, { body: { invite_id: cancelled.id } });
      await app.dataSource.query(
        "UPDATE invites SET created_at = now() - interval '72 h 1 s', expires_at = now() - interval '1 s' WHERE id = $1",
        [expired.id],
      );

      const answers = [await accept(used.token), await accept(cancelled.token), await accept(expired.token)];

      expect(answers.map(({ status }) => status)).toEqual([410, 410, 410]);
      expect(new Set(answers.map(nameless)).size).toBe(1);
      expect((await app.audited()).at(-1)).toMatchObject({
        outcome: 'refused',
        error_code: 'invite_gone',
        actor_id: expired.id,
      });
    });

    it('returns the same for every unknown token', async () => {
      const { id, token } = await anInvite();
      const random = token.slice(-43);
      const guesses = [
        'nonsense',
        `gw_invite_${randomUUID().replaceAll('-', '')}_${random}`,
        `gw_invite_${id.replaceAll('-', '')}_${'a'.repeat(43)}`,
        token.slice(0, -1),
        `${token}a`,
        token.toLowerCase(),
        app.first.admin_api_key,
      ];
      const answers: Answer[] = [];
      for (const guess of guesses) answers.push(await accept(guess));

      expect(answers.map(({ status }) => status)).toEqual(guesses.map(() => 404));
      expect(new Set(answers.map(nameless)).size).toBe(1);
    });

    it('refuses a token whose row was changed behind our back, such as to another address', async () => {
      const { id, token } = await anInvite();
      await app.dataSource.query('UPDATE invites SET email = $2 WHERE id = $1', [id, anAddress()]);

      expect((await accept(token)).status).toBe(404);
    });

    it('refuses another address than the invited (G32)', async () => {
      const email = `grace-${randomBytes(4).toString('hex')}@example.com`;
      const { token } = await anInvite({ email });
      const others = [
        'eve@example.com',
        email.replace('@', '+tag@'),
        email.replace('example', 'ехample'),
        ` ${email}`,
      ];

      for (const other of others) expect((await accept(token, { email: other })).status).toBe(403);
      expect((await accept(token, { email })).status).toBe(200);
    });

    it.each([
      [{ first_name: '' }],
      [{ last_name: undefined }],
      [{ password: 'short' }],
      [{ role: 'owner' }],
      [{ token: { $gt: '' } }],
      [{ organisation_id: randomUUID() }],
    ])('refuses %j and leaves the invite open', async (more) => {
      const { token } = await anInvite();

      expect((await accept(token, more)).status).toBe(400);
      expect((await accept(token)).status).toBe(200);
    });

    it('ends when the inviter may not invite any more', async () => {
      const { id: admin } = await app.aPerson({ role: 'admin' });
      const key = await app.adminKeyOf(admin);
      const [first, second] = [await invite({ role: 'admin' }, key), await invite({}, key)];

      await app.call('PUT', `/v1/admin/users/${admin}`, { body: { role: 'member' } });
      expect((await accept(tokenOf(first.body.invite_link))).status).toBe(410);
      const { email } = (await app.call('GET', `/v1/admin/users/${admin}`)).body;
      await app.call('DELETE', `/v1/admin/users/${admin}`, { body: { email } });
      expect((await app.call('GET', `${INVITES}/${second.body.id}`)).body.status).toBe('cancelled');
    });

    it('leaves out a workspace that was deleted meanwhile', async () => {
      const { id } = (await app.call('POST', '/v1/admin/workspaces', { body: { name: 'Gone' } })).body;
      const workspaces = [
        { id, role: 'member' },
        { id: 'ws-default', role: 'member' },
      ];
      const { token } = await anInvite({ workspaces, workspace_api_key_details: { scopes: ['logs.list'] } });
      await app.call('DELETE', `/v1/admin/workspaces/${id}`, { body: { name: 'Gone' } });

      const accepted = await accept(token);

      expect(accepted.status).toBe(200);
      expect(accepted.body.api_keys).toMatchObject([{ workspace_id: app.first.workspace_id }]);
    });

    it('reads no more than 64 KiB of a body', async () => {
      const small = await accept('x', { first_name: 'a'.repeat(40_000) });
      const large = await accept('x', { first_name: 'a'.repeat(64 * 1024) });

      expect(small.status).toBe(400);
      expect(large.status).toBe(413);
      expect(large.body.error.message).toContain('65536');
    });

    it('slows down an address that fails too often', async () => {
      // All of it within one second, however long it takes.
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
      try {
        const statuses: number[] = [];
        for (let round = 0; round < 4; round++) {
          const answers = await Promise.all(Array.from({ length: 40 }, () => accept('guess')));
          statuses.push(...answers.map(({ status }) => status));
        }
        expect(new Set(statuses)).toEqual(new Set([404, 429]));
      } finally {
        vi.useRealTimers();
      }
      await sleep(1_100);
    });
  });

  describe('sending again and cancelling', () => {
    it('gives a new link for another 72 hours, and the old one opens nothing', async () => {
      const { id, token } = await anInvite();
      await app.dataSource.query("UPDATE invites SET expires_at = now() - interval '1 s' WHERE id = $1", [
        id,
      ]);

      const again = await app.call('POST', `${INVITES}/${id}/resend`);

      expect(again.status).toBe(200);
      expect((await accept(token)).status).toBe(404);
      expect((await accept(tokenOf(again.body.inviteLink))).status).toBe(200);
      expect((await app.call('POST', `${INVITES}/${id}/resend`)).status).toBe(409);
      expect((await app.call('DELETE', `${INVITES}/${id}`)).status).toBe(409);
    });

    it('does not open an expired one beside another that is open', async () => {
      const email = anAddress();
      const { id } = await anInvite({ email });
      await app.dataSource.query("UPDATE invites SET expires_at = now() - interval '1 s' WHERE id = $1", [
        id,
      ]);
      await anInvite({ email });

      expect((await app.call('POST', `${INVITES}/${id}/resend`)).status).toBe(409);
    });

    it('is not possible for another organization', async () => {
      const { organizationId } = await app.anotherOrganization();
      const { id } = await anInvite();
      await app.dataSource.query('UPDATE invites SET organization_id = $2 WHERE id = $1', [
        id,
        organizationId,
      ]);

      for (const [method, path] of [
        ['GET', `${INVITES}/${id}`],
        ['DELETE', `${INVITES}/${id}`],
        ['POST', `${INVITES}/${id}/resend`],
      ] as const)
        expect((await app.call(method, path)).status).toBe(404);
    });
  });
});
