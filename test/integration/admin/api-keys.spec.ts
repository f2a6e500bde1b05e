import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWellFormedApiKey } from '../../../src/common/crypto/api-key-format.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { aRecord, storeRecords } from '../../support/recorded-requests.js';
import { aggregatorOn } from '../../support/usage-store.js';

const USER_KEYS = '/v1/api-keys/workspace/user';
const SERVICE_KEYS = '/v1/api-keys/workspace/service';
const ADMIN_KEYS = '/v1/api-keys/organisation/service';

describe('API keys', () => {
  let app: AdminApp;
  let workspaceTwo: string;

  beforeAll(async () => {
    app = await AdminApp.start();
    workspaceTwo = await app.anotherWorkspace('ws-two');
  });
  afterAll(() => app.close());

  const aKey = async (more: object = {}, key?: string) => {
    const body = {
      name: 'A key',
      workspace_id: app.first.workspace_id,
      scopes: ['completions.write'],
      ...more,
    };
    return app.call('POST', USER_KEYS, { body, key });
  };

  describe('of one user', () => {
    it('are listed by the id of the user, in the requested workspace', async () => {
      const { id: user_id } = await app.aPerson({ workspaces: [{ id: 'ws-default', role: 'member' }] });
      const { id } = (await aKey({ user_id })).body;
      await aKey();
      const listed = (query: string) => app.call('GET', `/v1/api-keys?${query}`);

      expect((await listed(`user_id=${user_id}`)).body).toMatchObject({ total: 1, data: [{ id, user_id }] });
      expect((await listed(`user_id=${user_id}&workspace_id=ws-two`)).body.total).toBe(0);
      expect((await listed(`user_id=${randomUUID()}`)).body.total).toBe(0);
      expect((await listed('user_id=ada')).body.error.message).toContain('user_id');
    });
  });

  describe('the filters of the list', () => {
    const listed = async (query: string): Promise<Json> =>
      (await app.call('GET', `/v1/api-keys?${query}`)).body;
    const idsIn = async (query: string): Promise<string[]> =>
      (await listed(query)).data.map(({ id }: Json) => id as string);

    it('find keys by their ids, beyond the first page and only within reach', async () => {
      const first = (await aKey()).body.id as string;
      const second = (await aKey()).body.id as string;

      expect(await idsIn(`ids=${first.toUpperCase()},${second},${randomUUID()}`)).toEqual([second, first]);
      expect(await idsIn(`ids=${first},${second}&page_size=1&current_page=1`)).toEqual([first]);
      expect(await idsIn(`ids=${first}&workspace_id=ws-two`)).toEqual([]);
      for (const ids of ['', 'ada', `${first},`, Array.from({ length: 101 }, () => first).join(',')])
        expect((await listed(`ids=${ids}`)).error.message).toContain('"ids" must be 1 to 100 ids');
    });

    it('find keys by type and by a part of the name, whose wildcards are literal', async () => {
      const stamp = randomUUID();
      const user = (await aKey({ name: `${stamp} 100% Report` })).body.id as string;
      const body = { name: `${stamp} 1000 report`, workspace_id: 'ws-default', scopes: ['logs.view'] };
      const service = (await app.call('POST', SERVICE_KEYS, { body })).body.id as string;
      const admin = (
        await app.call('POST', ADMIN_KEYS, {
          body: { name: `${stamp} admin`, scopes: ['virtual_keys.list'] },
        })
      ).body.id as string;

      expect(await idsIn(`name=${stamp}%20`)).toEqual([admin, service, user]);
      expect(await idsIn(`name=${stamp}%20100%25%20rePORT`)).toEqual([user]);
      expect(await idsIn(`name=${stamp}&type=workspace-user`)).toEqual([user]);
      expect(await idsIn(`name=${stamp}&type=workspace-service`)).toEqual([service]);
      expect(await idsIn(`name=${stamp}&type=organisation-service`)).toEqual([admin]);
      expect((await listed('type=admin')).error.message).toContain('"type" must be one of');
    });

    it('find keys by the status that the list shows', async () => {
      const stamp = randomUUID();
      const budget = { usage_limits: { credit_limit: 1, type: 'cost' } };
      const plain = (await aKey({ name: stamp })).body.id as string;
      const fresh = (await aKey({ name: stamp, ...budget })).body.id as string;
      const spent = (await aKey({ name: stamp, ...budget })).body.id as string;
      const expired = (await aKey({ name: stamp, ...budget })).body.id as string;
      for (const id of [spent, expired])
        await app.dataSource.query(
          `INSERT INTO limit_counters (key, organization_id, limit_id, measure, spent, amount)
           SELECT rule->>'id', organization_id, (rule->>'id')::uuid, 'cost', 1000000000, 1000000000
           FROM api_keys, jsonb_array_elements(usage_limits) rule WHERE id = $1`,
          [id],
        );
      await app.dataSource.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [expired]);

      for (const [status, ids] of [
        ['active', [fresh, plain]],
        ['exhausted', [spent]],
        ['expired', [expired]],
      ] as const) {
        const { data, total } = await listed(`name=${stamp}&status=${status}`);
        expect(data.map(({ id }: Json) => id)).toEqual(ids);
        expect(data.map((key: Json) => key.status)).toEqual(ids.map(() => status));
        expect(total).toBe(ids.length);
      }
    });
  });

  describe('the last use', () => {
    it('is shown on request: the latest request of the last 30 days, else null', async () => {
      const [used, old, unused] = await Promise.all([aKey(), aKey(), aKey()]);
      const place = { organisation_id: app.first.organisation_id, workspace_id: app.first.workspace_id };
      const now = Date.now();
      const ago = (days: number) => now - days * 86_400_000;
      const records = [
        aRecord({ ...place, api_key_id: used.body.id, created_at: ago(2) }),
        aRecord({ ...place, api_key_id: used.body.id, created_at: ago(1) }),
        aRecord({ ...place, api_key_id: old.body.id, created_at: ago(31) }),
      ];
      const aggregator = aggregatorOn(app.dataSource, null);
      for (const batch of await storeRecords(app.url, records)) await aggregator.aggregate(batch);
      const read = async ({ body }: { body: Json }, query = '?include_last_used_at=true') =>
        (await app.call('GET', `/v1/api-keys/${body.id}${query}`)).body.last_used_at;

      expect(await read(used)).toBe(new Date(ago(1)).toISOString());
      expect([await read(old), await read(unused)]).toEqual([null, null]);
      expect(await read(used, '')).toBeUndefined();
      const { data } = (await app.call('GET', '/v1/api-keys?include_last_used_at=true')).body;
      const listed = new Map(data.map((key: Json) => [key.id, key.last_used_at]));
      expect(listed.get(used.body.id)).toBe(new Date(ago(1)).toISOString());
      expect(listed.get(unused.body.id)).toBeNull();
    });

    it('changes no entity tag, so a key in use can be changed with If-Match', async () => {
      const { id } = (await aKey()).body;
      const { headers } = await app.call('GET', `/v1/api-keys/${id}?include_last_used_at=true`);
      const changed = await app.call('PUT', `/v1/api-keys/${id}`, {
        body: { name: 'Renamed' },
        headers: { 'if-match': String(headers['etag']) },
      });
      expect(changed.status, changed.text).toBe(200);
    });
  });

  describe('making one', () => {
    it.each([
      [ADMIN_KEYS, 'gw_admin_', { scopes: ['virtual_keys.create'] }, 'organisation-service'],
      [
        SERVICE_KEYS,
        'gw_ws_',
        { scopes: ['completions.write'], workspace_id: 'ws-default' },
        'workspace-service',
      ],
      [USER_KEYS, 'gw_user_', { scopes: ['logs.view'], workspace_id: 'ws-default' }, 'workspace-user'],
    ])('returns %s with the secret, once', async (path, prefix, more, type) => {
      const made = await app.call('POST', path, { body: { name: 'A key', ...more } });

      expect(made.status).toBe(200);
      expect(made.headers['cache-control']).toBe('no-store');
      expect(made.body).toEqual({
        id: expect.any(String),
        key: expect.stringMatching(`^${prefix}`),
        object: 'api-key',
      });
      expect(isWellFormedApiKey(made.body.key)).toBe(true);
      const read = await app.call('GET', `/v1/api-keys/${made.body.id}`);
      expect(read.body).toMatchObject({
        type,
        scopes: more.scopes,
        name: 'A key',
        status: 'active',
        object: 'api-key',
      });
      expect(read.body.key).toBe(`${prefix}***${made.body.key.slice(-4)}`);
    });

    it('F10: shows the secret nowhere else: list, read, change, audit and its export, refusals, database', async () => {
      const { key: secret, id } = (await aKey({ name: 'Canary' })).body;
      const seen = [
        await app.call('GET', '/v1/api-keys?page_size=100'),
        await app.call('GET', `/v1/api-keys/${id}`),
        await app.call('PUT', `/v1/api-keys/${id}`, { body: { name: 'Renamed' } }),
        await app.call('GET', '/v1/audit-logs'),
        await app.call('GET', '/v1/audit-logs/export'),
        await app.call('GET', '/v1/admin/me', { key: secret }),
        await app.call('GET', '/v1/virtual-keys', { key: `${secret.slice(0, -1)}!` }),
      ].map(({ text }) => text);
      const stored = JSON.stringify([
        await app.audited(),
        await app.dataSource.query('SELECT * FROM api_keys'),
      ]);

      for (const text of [...seen, stored]) {
        expect(text).not.toContain(secret);
        expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(0, 40));
      }
      // The records of the audit trail have hashes of their own.
      for (const text of seen) expect(text).not.toMatch(/key_hash|keyHash/);
      for (const text of seen.slice(0, 3)) expect(text).not.toContain('hash');
    });

    it('gives a key that works at once', async () => {
      const { key } = (await aKey({ scopes: ['virtual_keys.list'] })).body;

      expect((await app.call('GET', '/v1/virtual-keys', { key })).status).toBe(200);
    });

    it('lets a workspace key leave out its workspace, and an admin key not', async () => {
      const { key } = await app.workspaceKey();

      expect((await aKey({ workspace_id: undefined }, key)).status).toBe(200);
      expect((await aKey({ workspace_id: undefined })).body.error).toMatchObject({ code: 'invalid_request' });
    });

    it('makes the owner the user, unless one is named', async () => {
      const [{ id: owner }] = await app.dataSource.query('SELECT id FROM users');
      const { id } = (await aKey()).body;

      expect((await app.call('GET', `/v1/api-keys/${id}`)).body.user_id).toBe(owner);
      expect((await aKey({ user_id: owner })).status).toBe(200);
      expect((await aKey({ user_id: randomUUID() })).status).toBe(404);
    });

    it('refuses a key that cannot be described: organisation/user', async () => {
      const body = { name: 'A key', scopes: ['logs.view'] };

      expect((await app.call('POST', '/v1/api-keys/organisation/user', { body })).status).toBe(404);
    });
  });

  describe('what a key may grant', () => {
    it('refuses an admin key to a workspace key, and records the attempt', async () => {
      const { key, id } = await app.workspaceKey();
      const refused = await app.call('POST', ADMIN_KEYS, {
        key,
        body: { name: 'A key', scopes: ['logs.view'] },
      });

      expect(refused.status).toBe(403);
      expect(refused.body.error.message).toContain('organisation_service_api_keys.create');
      expect((await app.audited()).at(-1)).toMatchObject({
        action: 'organisation_service_api_keys.create',
        actor_id: id,
        outcome: 'refused',
        status: 403,
        error_code: 'forbidden',
      });
    });

    it('refuses to grant what the maker does not hold, and names the scope', async () => {
      const { key } = await app.workspaceKey(['workspace_user_api_keys.create', 'virtual_keys.create']);
      const refused = await aKey({ scopes: ['virtual_keys.create', 'logs.export'] }, key);

      expect(refused.status).toBe(403);
      expect(refused.body.error.message).toContain('logs.export');
    });

    it('lets an admin key grant the scopes that only workspace keys carry, but no admin scope it lacks', async () => {
      const narrow = (
        await app.call('POST', ADMIN_KEYS, {
          body: { name: 'Narrow', scopes: ['workspace_user_api_keys.create'] },
        })
      ).body.key;

      expect((await aKey({ scopes: ['completions.write'] }, narrow)).status).toBe(200);
      expect((await aKey({ scopes: ['logs.view'] }, narrow)).status).toBe(403);
    });

    describe.each([
      ['a budget', { usage_limits: { credit_limit: 10 } }],
      ['a rate limit', { rate_limits: { type: 'requests', unit: 'rpm', value: 10 } }],
      ['a config that requests cannot override', { defaults: { allow_config_override: false } }],
    ])('by a key with %s', (bound, fields) => {
      const scopes = ['create', 'update', 'rotate', 'list'].map((verb) => `workspace_user_api_keys.${verb}`);
      const refusalOf = async (method: string, path: string, key: string, body: object) => {
        const { status, body: answer } = await app.call(method, path, { key, body });
        return [status, answer.error?.message];
      };
      const refused = [403, expect.stringContaining(`a key with ${bound} cannot`)];

      it('is refused, because the other key would not be bound by it', async () => {
        const { key } = (await aKey({ scopes, ...fields })).body;

        const body = { name: 'Free', workspace_id: app.first.workspace_id, scopes: scopes.slice(3) };
        expect(await refusalOf('POST', USER_KEYS, key, body)).toEqual(refused);
      });

      it.each([
        ['PUT', '', { usage_limits: null }],
        ['PUT', '', { rate_limits: null }],
        ['PUT', '', { expires_at: null }],
        ['PUT', '', { defaults: { allow_config_override: true } }],
        ['POST', '/rotate', {}],
      ])('cannot loosen another key or get its secret: %s %s %j', async (method, path, change) => {
        const { key } = (await aKey({ scopes, ...fields })).body;
        const other = (await aKey({ scopes: scopes.slice(3) })).body;

        expect(await refusalOf(method, `/v1/api-keys/${other.id}${path}`, key, change)).toEqual(refused);
      });
    });

    it('lets a user key create keys of its user, with no more than its own scopes', async () => {
      const scopes = ['workspace_user_api_keys.create', 'workspace_user_api_keys.list', 'logs.list'];
      const first = (await aKey({ scopes })).body;

      const second = await aKey({ scopes: ['workspace_user_api_keys.create', 'logs.list'] }, first.key);
      const wider = await aKey({ scopes: ['logs.list', 'logs.view'] }, second.body.key);

      expect(second.status).toBe(200);
      const [created] = (await app.call('GET', `/v1/api-keys?ids=${second.body.id}`)).body.data;
      const [creator] = (await app.call('GET', `/v1/api-keys?ids=${first.id}`)).body.data;
      expect(created.user_id).toBe(creator.user_id);
      expect([wider.status, wider.body.error.message]).toEqual([403, expect.stringContaining('logs.view')]);
    });

    it.each([
      [['*'], 'scope_unknown'],
      [['logs.*'], 'scope_unknown'],
      [['LOGS.LIST'], 'scope_unknown'],
      [['logs.list '], 'scope_unknown'],
      [['__proto__'], 'scope_unknown'],
      [['constructor'], 'scope_unknown'],
      [['nonsense'], 'scope_unknown'],
      [Array.from({ length: 1000 }, () => 'logs.list'), 'invalid_request'],
      [[null], 'invalid_request'],
      [[], 'invalid_request'],
      ['logs.list', 'invalid_request'],
      [{ 0: 'logs.list' }, 'invalid_request'],
      [['workspaces.create'], 'invalid_request'],
      [['workspace_service_api_keys.create'], 'invalid_request'],
    ])('refuses the scopes %j', async (scopes, code) => {
      const refused = await aKey({ scopes });

      expect(refused.status).toBe(400);
      expect(refused.body.error.code).toBe(code);
    });

    it('takes a scope that is named twice once', async () => {
      const { id } = (await aKey({ scopes: ['logs.list', 'logs.list'] })).body;

      expect((await app.call('GET', `/v1/api-keys/${id}`)).body.scopes).toEqual(['logs.list']);
    });

    it('refuses a workspace out of reach as if it were not there', async () => {
      const { key } = await app.workspaceKey();
      const other = await app.anotherOrganization();
      const asWorkspace = (workspace_id: unknown) => aKey({ workspace_id }, key);
      const bodies = [
        await asWorkspace(workspaceTwo),
        await asWorkspace(other.workspaceId),
        await asWorkspace(randomUUID()),
      ];

      for (const { status, body } of bodies) {
        expect(status).toBe(404);
        expect({ ...body.error, request_id: '' }).toEqual({ ...bodies[2]?.body.error, request_id: '' });
      }
      for (const wrong of [null, [workspaceTwo], `${app.first.workspace_id} `, 7])
        expect((await asWorkspace(wrong)).status).toBe(400);
    });
  });

  describe('bodies', () => {
    it.each([
      [{ name: 123 }],
      [{ name: '' }],
      [{ name: '   ' }],
      [{ name: 'x'.repeat(10_000) }],
      [{ name: 'a\nb' }],
      [{ expires_at: '2001-01-01T00:00:00Z' }],
      [{ expires_at: 'tomorrow' }],
      [{ expires_at: 1893456000000 }],
      [{ key: 'gw_user_mine' }],
      [{ key_hash: 'AAAA' }],
      [{ created_by: randomUUID() }],
      [{ is_admin: true }],
      [{ defaults: null }],
      [{ alert_emails: ['nobody'] }],
      [{ alert_emails: 'a@example.com' }],
      [{ alert_emails: Array.from({ length: 21 }, (_, at) => `a${at}@example.com`) }],
      [{ rotation_policy: { rotation_period: 'weekly' } }],
    ])('refuses %j and names the field', async (more) => {
      const refused = await aKey(more);

      expect(refused.status).toBe(400);
      expect(refused.body.error).toMatchObject({ code: 'invalid_request', type: 'invalid_request_error' });
      expect(refused.body.error.message).toContain(`"${Object.keys(more)[0]}"`);
    });

    it.each([
      { metadata: { a: 1 } },
      { budget: 1 },
      { allow_config_override: 'no' },
      { config_id: 'nowhere' },
    ])('refuses the defaults %j and names the field', async (defaults) => {
      const refused = await aKey({ defaults });

      expect(refused.status).toBe(400);
      expect(refused.body.error.message).toContain(`defaults.${Object.keys(defaults)[0]}`);
    });

    it.each(['🚀 production', '<script>alert(1)</script>', "Robert'); DROP TABLE api_keys;--"])(
      'stores the name %s as it is',
      async (name) => {
        const { id } = (await aKey({ name })).body;

        expect((await app.call('GET', `/v1/api-keys/${id}`)).body.name).toBe(name);
      },
    );
  });

  describe('changing one', () => {
    it('changes what is named and leaves the rest', async () => {
      const { id } = (await aKey({ description: 'before', expires_at: '2040-01-01T00:00:00Z' })).body;
      const changed = await app.call('PUT', `/v1/api-keys/${id}`, {
        body: { name: 'After', expires_at: null },
      });

      expect(changed).toMatchObject({ status: 200, body: {} });
      expect((await app.call('GET', `/v1/api-keys/${id}`)).body).toMatchObject({
        name: 'After',
        description: 'before',
        expires_at: null,
        scopes: ['completions.write'],
      });
    });

    it('leaves a scope in place that the caller could not grant, and adds none', async () => {
      const { id } = (await aKey({ scopes: ['logs.view'] })).body;
      const { key } = await app.workspaceKey(['workspace_user_api_keys.update', 'logs.list']);
      const put = (scopes: string[]) => app.call('PUT', `/v1/api-keys/${id}`, { key, body: { scopes } });

      expect((await put(['logs.view', 'logs.list'])).status).toBe(200);
      expect((await put(['logs.view', 'logs.export'])).status).toBe(403);
    });

    it.each(['workspace_id', 'organisation_id', 'type', 'status', 'key', 'user_id', 'created_by_key_id'])(
      'refuses to change %s',
      async (field) => {
        const { id } = (await aKey()).body;

        expect((await app.call('PUT', `/v1/api-keys/${id}`, { body: { [field]: 'x' } })).status).toBe(400);
      },
    );

    it('removes scopes at once', async () => {
      const made = (await aKey({ scopes: ['virtual_keys.list', 'logs.list'] })).body;
      expect((await app.call('GET', '/v1/virtual-keys', { key: made.key })).status).toBe(200);
      await app.call('PUT', `/v1/api-keys/${made.id}`, { body: { scopes: ['logs.list'] } });

      expect((await app.call('GET', '/v1/virtual-keys', { key: made.key })).status).toBe(403);
    });
  });

  describe('rotating one', () => {
    it.each([['/v1'], ['/v2']])('keeps the old secret for half an hour, on %s', async (version) => {
      const old = (await aKey({ scopes: ['virtual_keys.list'] })).body;
      const rotated = await app.call('POST', `${version}/api-keys/${old.id}/rotate`, {
        body: '',
        headers: { 'content-type': 'application/json' },
      });

      expect(rotated.status).toBe(200);
      expect(rotated.body.id).toBe(old.id);
      expect(rotated.body.key).not.toBe(old.key);
      const left = Date.parse(rotated.body.key_transition_expires_at) - Date.now();
      expect(left).toBeGreaterThan(1_790_000);
      expect(left).toBeLessThanOrEqual(1_800_000);
      for (const key of [old.key, rotated.body.key])
        expect((await app.call('GET', '/v1/virtual-keys', { key })).status).toBe(200);
    });

    it('ends the old secret at once on request', async () => {
      const old = (await aKey({ scopes: ['virtual_keys.list'] })).body;
      expect((await app.call('GET', '/v1/virtual-keys', { key: old.key })).status).toBe(200);
      const body = { key_transition_period_ms: 0 };
      const rotated = (await app.call('POST', `/v1/api-keys/${old.id}/rotate`, { body })).body;

      expect((await app.call('GET', '/v1/virtual-keys', { key: old.key })).status).toBe(401);
      expect((await app.call('GET', '/v1/virtual-keys', { key: rotated.key })).status).toBe(200);
    });

    it('keeps the transition that it promised: until then only an immediate end is accepted', async () => {
      const first = (await aKey({ scopes: ['virtual_keys.list'] })).body;
      const rotate = (body: object) => app.call('POST', `/v1/api-keys/${first.id}/rotate`, { body });
      const works = async (key: string) =>
        (await app.call('GET', '/v1/virtual-keys', { key })).status === 200;
      const second = (await rotate({ key_transition_period_ms: 3_600_000 })).body;
      const refused = await rotate({ key_transition_period_ms: 1_000 });

      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
      expect(refused.body.error.message).toContain(second.key_transition_expires_at);
      expect([await works(first.key), await works(second.key)]).toEqual([true, true]);
      const third = (await rotate({ key_transition_period_ms: 0 })).body;
      expect([await works(first.key), await works(second.key), await works(third.key)]).toEqual([
        false,
        false,
        true,
      ]);
      expect((await rotate({ key_transition_period_ms: 1_000 })).status).toBe(200);
    });

    it('is rotated once by two at the same moment', async () => {
      const first = (await aKey({ scopes: ['virtual_keys.list'] })).body;
      const rotations = await Promise.all(
        [1, 2].map(() => app.call('POST', `/v1/api-keys/${first.id}/rotate`)),
      );
      const made = rotations.filter(({ status }) => status === 200);

      expect(rotations.map(({ status }) => status).sort()).toEqual([200, 409]);
      for (const key of [first.key, made[0]?.body.key])
        expect((await app.call('GET', '/v1/virtual-keys', { key })).status).toBe(200);
    });

    it.each([-1, 604_800_001, 1.5, '1800000', null])(
      'refuses an overlap of %j',
      async (key_transition_period_ms) => {
        const { id } = (await aKey()).body;
        const refused = await app.call('POST', `/v1/api-keys/${id}/rotate`, {
          body: { key_transition_period_ms },
        });

        expect(refused.status).toBe(400);
      },
    );

    it('refuses a caller that holds less than the key, because it would get the secret', async () => {
      const strong = (await aKey({ scopes: ['logs.export'] })).body;
      const { key } = await app.workspaceKey(['workspace_user_api_keys.rotate', 'logs.view']);
      const refused = await app.call('POST', `/v1/api-keys/${strong.id}/rotate`, { key });

      expect(refused.status).toBe(403);
      expect(refused.body.error.message).toContain('logs.export');
    });
  });

  describe('revoking one', () => {
    it('ends it at once and for good', async () => {
      const { id, key } = (await aKey({ scopes: ['virtual_keys.list'] })).body;
      expect((await app.call('GET', '/v1/virtual-keys', { key })).status).toBe(200);
      expect(await app.call('DELETE', `/v1/api-keys/${id}`)).toMatchObject({ status: 200, body: {} });

      expect((await app.call('GET', '/v1/virtual-keys', { key })).status).toBe(401);
      for (const [method, path] of [
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/rotate'],
      ])
        expect(
          (
            await app.call(
              method ?? '',
              `/v1/api-keys/${id}${path ?? ''}`,
              method === 'GET' ? {} : { body: {} },
            )
          ).status,
        ).toBe(404);
      expect((await app.call('GET', '/v1/api-keys?page_size=100')).text).not.toContain(id);
    });

    it('takes the empty body that calls itself JSON, as the compatible SDK sends it', async () => {
      const { id } = (await aKey()).body;
      const headers = { 'content-type': 'application/json' };

      expect((await app.call('DELETE', `/v1/api-keys/${id}`, { headers, body: '' })).status).toBe(200);
    });

    it('notifies the processes of every change', async () => {
      const { id } = (await aKey()).body;
      await app.call('PUT', `/v1/api-keys/${id}`, { body: { name: 'New' } });
      await app.call('POST', `/v1/api-keys/${id}/rotate`);
      await app.call('DELETE', `/v1/api-keys/${id}`);
      await app.call('PUT', `/v1/api-keys/${id}`, { body: { name: 'Too late' } });

      const heard = app.changes.filter((change) => change.id === id);
      expect(heard).toEqual(Array.from({ length: 4 }, () => ({ resource: 'api_key', id })));
    });
  });

  describe('listing', () => {
    it('shows a workspace key its own workspace only, whatever it requests', async () => {
      const foreign = (await aKey({ workspace_id: workspaceTwo })).body;
      const { key } = await app.workspaceKey();
      const list = await app.call('GET', '/v1/api-keys?page_size=100', { key });

      expect(list.status).toBe(200);
      expect(list.body).toMatchObject({ object: 'list', total: list.body.data.length });
      expect(new Set(list.body.data.map((row: Json) => row.workspace_id))).toEqual(
        new Set([app.first.workspace_id]),
      );
      expect(list.text).not.toContain(foreign.id);
      expect((await app.call('GET', `/v1/api-keys?workspace_id=${workspaceTwo}`, { key })).status).toBe(404);
      for (const query of [
        'workspace_id=a&workspace_id=b',
        'organisation_id=*',
        'unknown=1',
        'page_size=101',
        'current_page=-1',
        'page_size[]=1',
      ])
        expect([query, (await app.call('GET', `/v1/api-keys?${query}`, { key })).status]).toEqual([
          query,
          400,
        ]);
    });

    it.each(['%', '*', 'null', '%00', "' OR 1=1--", 'undefined'])('finds no workspace %s', async (named) => {
      expect((await app.call('GET', `/v1/api-keys?workspace_id=${encodeURIComponent(named)}`)).status).toBe(
        404,
      );
    });

    it('shows only the kinds that the caller may list', async () => {
      const { key } = await app.workspaceKey(['workspace_user_api_keys.list']);
      const { data } = (await app.call('GET', '/v1/api-keys', { key })).body;

      expect(new Set(data.map((row: Json) => row.type))).toEqual(new Set(['workspace-user']));
    });

    it('gives every key exactly once, page by page', async () => {
      const whole = (await app.call('GET', '/v1/api-keys?page_size=100')).body;
      const pages: string[] = [];
      for (let page = 0; page * 7 < whole.total; page += 1) {
        const { data } = (await app.call('GET', `/v1/api-keys?page_size=7&current_page=${page}`)).body;
        pages.push(...data.map((row: Json) => row.id));
      }

      expect(pages).toHaveLength(whole.total);
      expect(new Set(pages).size).toBe(whole.total);
    });
  });

  describe('out of reach', () => {
    it('is the same response as for a key that does not exist', async () => {
      const foreign = (await aKey({ workspace_id: workspaceTwo })).body;
      const admin = (await app.call('POST', ADMIN_KEYS, { body: { name: 'Admin', scopes: ['logs.view'] } }))
        .body;
      const { key } = await app.workspaceKey();
      for (const [method, suffix] of [
        ['GET', ''],
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/rotate'],
      ] as const) {
        const at = (id: string) =>
          app.call(method, `/v1/api-keys/${id}${suffix}`, { key, ...(method === 'GET' ? {} : { body: {} }) });
        const absent = await at(randomUUID());
        expect(absent.status).toBe(404);
        for (const id of [foreign.id, admin.id, 'not-a-uuid', '%00', `' OR 1=1`]) {
          const answer = await at(encodeURIComponent(id));
          expect(answer.text.replace(answer.body.error.request_id, '')).toBe(
            absent.text.replace(absent.body.error.request_id, ''),
          );
        }
      }
    });

    it('needs the scope for the same kind of key', async () => {
      const { id } = (await aKey()).body;
      const { key } = await app.workspaceKey(['workspace_service_api_keys.read']);
      const refused = await app.call('GET', `/v1/api-keys/${id}`, { key });

      expect(refused.status).toBe(403);
      expect(refused.body.error.message).toContain('workspace_user_api_keys.read');
    });
  });

  describe('of a member', () => {
    const MEMBERS_SCOPES = ['logs.view', 'workspace_user_api_keys.list', 'workspace_user_api_keys.read'];
    const MANAGING = ['create', 'update', 'delete'].map((verb) => `workspace_user_api_keys.${verb}`);

    /** A member of the workspace, and a service key that acts on the member's authority. */
    async function aMember(): Promise<{ id: string; key: string }> {
      const workspaces = [{ id: 'ws-default', role: 'member' }];
      const { id } = await app.aPerson({ workspaces });
      const made = await app.call('POST', SERVICE_KEYS, {
        body: { name: 'k', workspace_id: 'ws-default', scopes: [...MEMBERS_SCOPES, ...MANAGING] },
      });
      await app.dataSource.query('UPDATE api_keys SET created_by_user_id = $2 WHERE id = $1', [
        made.body.id,
        id,
      ]);
      return { id, key: made.body.key };
    }

    it('are all that it sees: those of others are not there', async () => {
      const member = await aMember();
      const [own, others] = [(await aKey({ user_id: member.id })).body, (await aKey()).body];

      const other = (await app.aPerson({ workspaces: [{ id: 'ws-default', role: 'member' }] })).id;
      await aKey({ user_id: other });
      const ofOther = await app.call('GET', `/v1/api-keys?user_id=${other}`, { key: member.key });
      expect(ofOther.body).toMatchObject({ total: 0, data: [] });
      const list = await app.call('GET', '/v1/api-keys', { key: member.key });
      expect(list.body.data.map(({ id }: Json) => id)).toEqual([own.id]);
      expect((await app.call('GET', `/v1/api-keys/${own.id}`, { key: member.key })).status).toBe(200);
      expect((await app.call('GET', `/v1/api-keys/${others.id}`, { key: member.key })).status).toBe(404);
      expect((await app.call('DELETE', `/v1/api-keys/${own.id}`, { key: member.key })).status).toBe(403);
    });

    it('are all that it makes and changes, where the organization lets members do so', async () => {
      const member = await aMember();
      const others = (await aKey()).body;
      const settings = (membersManageApiKeys: boolean) =>
        app.call('PUT', '/v1/admin/organisation', { body: { security_settings: { membersManageApiKeys } } });
      expect((await aKey({ scopes: ['logs.view'] }, member.key)).status).toBe(403);
      await settings(true);

      const made = await aKey({ scopes: ['logs.view'] }, member.key);
      expect(made.status).toBe(200);
      expect((await app.call('GET', `/v1/api-keys/${made.body.id}`)).body.user_id).toBe(member.id);
      const forAnother = await aKey({ scopes: ['logs.view'], user_id: (await app.aPerson()).id }, member.key);
      expect(forAnother.status).toBe(404);
      expect((await app.call('DELETE', `/v1/api-keys/${made.body.id}`, { key: member.key })).status).toBe(
        200,
      );
      expect((await app.call('DELETE', `/v1/api-keys/${others.id}`, { key: member.key })).status).toBe(404);
      await settings(false);
    });
  });
});
