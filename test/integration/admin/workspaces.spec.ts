import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';

const WORKSPACES = '/v1/admin/workspaces';

describe('workspaces', () => {
  let app: AdminApp;
  beforeAll(async () => void (app = await AdminApp.start()));
  afterAll(() => app.close());

  const aWorkspace = async (name: string, more: object = {}) =>
    (await app.call('POST', WORKSPACES, { body: { name, ...more } })).body;
  const nameless = ({ text }: { text: string }) => text.replace(/"request_id":"[^"]+"/, '');

  it('makes one with a slug of its name, members and defaults', async () => {
    const { id } = await app.aPerson();
    const made = await app.call('POST', WORKSPACES, {
      body: {
        name: 'Search & Ranking',
        description: 'Ours',
        users: [id],
        defaults: { metadata: { team: 'a' } },
      },
    });

    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      slug: 'ws-search-ranking',
      name: 'Search & Ranking',
      is_default: 0,
      defaults: { metadata: { team: 'a' } },
      users: [{ id, role: 'member', org_role: 'member' }],
      total_users: 1,
      object: 'workspace',
    });
    expect((await app.audited()).at(-1)).toMatchObject({
      action: 'workspaces.create',
      target_id: made.body.id,
      outcome: 'success',
    });
  });

  it('gives the second of a name another slug', async () => {
    const [first, second] = [await aWorkspace('Twin'), await aWorkspace('Twin')];

    expect(first.slug).toBe('ws-twin');
    expect(second.slug).toMatch(/^ws-twin-[0-9a-z]{6}$/);
  });

  it('is found by its id and by its slug, everywhere', async () => {
    const { id, slug } = await aWorkspace('Findable');

    for (const named of [id, id.toUpperCase(), slug]) {
      expect((await app.call('GET', `${WORKSPACES}/${named}`)).body.id).toBe(id);
      expect((await app.call('GET', `${WORKSPACES}/${named}/users`)).status).toBe(200);
      const key = { name: 'k', workspace_id: named, scopes: ['logs.view'] };
      expect((await app.call('POST', '/v1/api-keys/workspace/service', { body: key })).status).toBe(200);
    }
  });

  it('filters a list by name, part of a name and status, and pages in both spellings', async () => {
    for (const name of ['List 100%', 'List 1000', 'list other']) await aWorkspace(name);
    const names = async (query: string) =>
      (await app.call('GET', `${WORKSPACES}?${query}`)).body.data.map(({ name }: { name: string }) => name);

    expect(await names('name=LIST')).toEqual(['list other', 'List 1000', 'List 100%']);
    expect(await names('name=100%25')).toEqual(['List 100%']);
    expect(await names('exact_name=List%201000')).toEqual(['List 1000']);
    expect(await names('status=archived')).toEqual([]);
    expect(await names('name=list&page_size=1&current_page=1')).toEqual(['List 1000']);
    expect(await names('name=list&pageSize=1&currentPage=2')).toEqual(['List 100%']);
    expect((await app.call('GET', `${WORKSPACES}?status=gone`)).status).toBe(400);
  });

  it('changes name, description and single defaults, on a condition if one is sent', async () => {
    const checks = [{ id: 'default.contains', parameters: { operator: 'none', words: ['x'] } }];
    const { organisation_id } = app.first;
    const guardrail = await app.call('POST', '/v1/guardrails', {
      body: { name: 'One', organisation_id, checks },
    });
    const { slug } = await aWorkspace('Changing', {
      defaults: { metadata: { a: '1' }, input_guardrails: [guardrail.body.slug] },
    });
    const { etag } = (await app.call('GET', `${WORKSPACES}/${slug}`)).headers;
    const put = (body: object) =>
      app.call('PUT', `${WORKSPACES}/${slug}`, { body, headers: { 'if-match': String(etag) } });

    expect((await put({ name: 'Changed', defaults: { input_guardrails: [] } })).body).toEqual({});
    expect((await put({ name: 'Again' })).status).toBe(412);
    expect((await app.call('GET', `${WORKSPACES}/${slug}`)).body).toMatchObject({
      name: 'Changed',
      slug,
      defaults: { metadata: { a: '1' }, input_guardrails: [] },
    });
  });

  it('loses all defaults where they are null as a whole', async () => {
    const said = { metadata: { a: '1' }, cache: { mode: 'simple' } };
    const { slug } = await aWorkspace('All emptied', { defaults: said });
    expect((await app.call('PUT', `${WORKSPACES}/${slug}`, { body: { defaults: null } })).status).toBe(200);
    expect((await app.call('GET', `${WORKSPACES}/${slug}`)).body.defaults).toEqual({});

    const { slug: other } = await aWorkspace('Never said', { defaults: null });
    expect((await app.call('GET', `${WORKSPACES}/${other}`)).body.defaults).toEqual({});
  });

  it('loses single defaults that are null, as if they had never been set', async () => {
    const { slug } = await aWorkspace('Emptied', { defaults: { metadata: { a: '1' } } });

    const defaults = { metadata: null, input_guardrails: null, output_guardrails: null };
    expect((await app.call('PUT', `${WORKSPACES}/${slug}`, { body: { defaults } })).status).toBe(200);
    expect((await app.call('GET', `${WORKSPACES}/${slug}`)).body.defaults).toEqual({});
  });

  it('has limits, which reach each of its keys', async () => {
    const { id } = await aWorkspace('Limited', {
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
    });
    const usage_limits = [{ type: 'cost', credit_limit: 10 }];

    expect((await app.call('PUT', `${WORKSPACES}/${id}`, { body: { usage_limits } })).status).toBe(200);

    expect((await app.call('GET', `${WORKSPACES}/${id}`)).body).toMatchObject({
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
      usage_limits: [{ type: 'cost', credit_limit: 10, usage: 0 }],
    });
    expect(app.changes).toContainEqual({ resource: 'workspace', id });
    const gone = { body: { rate_limits: null, usage_limits: [] } };
    expect((await app.call('PUT', `${WORKSPACES}/${id}`, gone)).status).toBe(200);
    expect((await app.call('GET', `${WORKSPACES}/${id}`)).body).toMatchObject({
      rate_limits: null,
      usage_limits: null,
    });
  });

  it.each([
    [{}],
    [{ name: '' }],
    [{ name: '   ' }],
    [{ name: 'x'.repeat(121) }],
    [{ name: 'NUL\0' }],
    [{ name: 'a', slug: 'ws-mine' }],
    [{ name: 'a', is_default: 1 }],
    [{ name: 'a', organisation_id: randomUUID() }],
    [{ name: 'a', users: ['not-an-id'] }],
    [{ name: 'a', users: { '0': randomUUID() } }],
    [{ name: 'a', defaults: { metadata: { a: 1 } } }],
    [{ name: 'a', defaults: { budget: 1 } }],
    [{ name: 'a', defaults: [] }],
  ])('refuses %j', async (body) => {
    expect((await app.call('POST', WORKSPACES, { body })).status).toBe(400);
  });

  it('takes each of its users once, however the id is written', async () => {
    const id = randomUUID();
    const users = [id, id.toUpperCase()];

    expect((await app.call('POST', WORKSPACES, { body: { name: 'a', users } })).body.error).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('each user may be named only once'),
    });
  });

  it('makes none when one of its users is not in the organization', async () => {
    const before = (await app.call('GET', WORKSPACES)).body.total;

    const users = [randomUUID()];
    expect((await app.call('POST', WORKSPACES, { body: { name: 'a', users } })).status).toBe(404);
    expect((await app.call('GET', WORKSPACES)).body.total).toBe(before);
  });

  describe('for a workspace key', () => {
    it('is its own alone, to read', async () => {
      const other = await aWorkspace('Not yours');
      const { key } = await app.workspaceKey();

      const listed = await app.call('GET', WORKSPACES, { key });
      expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([app.first.workspace_id]);
      expect((await app.call('GET', `${WORKSPACES}/${app.first.workspace_slug}`, { key })).status).toBe(200);
      const notYours = await app.call('GET', `${WORKSPACES}/${other.id}`, { key });
      const notThere = await app.call('GET', `${WORKSPACES}/${randomUUID()}`, { key });
      expect(notYours.status).toBe(404);
      expect(nameless(notYours)).toBe(nameless(notThere));
    });

    it('is nothing to manage (G22)', async () => {
      const { key } = await app.workspaceKey();
      const own = `${WORKSPACES}/${app.first.workspace_id}`;

      for (const [method, path] of [
        ['POST', WORKSPACES],
        ['PUT', own],
        ['DELETE', own],
      ] as const) {
        const refused = await app.call(method, path, { key, body: { name: 'Mine' } });
        expect(refused.status).toBe(403);
        expect((await app.audited()).at(-1)).toMatchObject({ outcome: 'refused', status: 403 });
      }
    });
  });

  it('of another organization does not exist', async () => {
    const { workspaceId } = await app.anotherOrganization();

    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const body = method === 'GET' ? {} : { body: { name: 'wB' } };
      const foreign = await app.call(method, `${WORKSPACES}/${workspaceId}`, body);
      const absent = await app.call(method, `${WORKSPACES}/${randomUUID()}`, body);
      expect(foreign.status).toBe(404);
      expect(nameless(foreign)).toBe(nameless(absent));
    }
  });

  describe('deleting one', () => {
    it('requires its name, and shows what is deleted with it', async () => {
      const { id: user } = await app.aPerson();
      const { id, slug } = await aWorkspace('Doomed', { users: [user] });
      await app.workspaceKey(['logs.view'], id);

      for (const body of [{}, { name: 'doomed' }, { name: 'Other' }]) {
        const refused = await app.call('DELETE', `${WORKSPACES}/${slug}`, { body });
        expect(refused.status).toBe(400);
        expect(refused.body.error).toMatchObject({ code: 'confirmation_required' });
        expect(refused.body.error.message).toContain(
          'Deleting the workspace "Doomed" revokes 1 API key and removes 1 member.',
        );
        expect(refused.body.error.message).toContain('repeat the request with {"name":"Doomed"}');
      }
      expect((await app.call('GET', `${WORKSPACES}/${id}`)).status).toBe(200);
    });

    it.each([
      [
        'the body',
        (id: string) =>
          app.call('DELETE', `${WORKSPACES}/${id}`, { body: { name: 'A B', workspace_id: id } }),
      ],
      ['the query', (id: string) => app.call('DELETE', `${WORKSPACES}/${id}?name=A%20B`)],
    ])('takes the name in %s, revokes its keys and frees its slug', async (_, remove) => {
      const { id, slug } = await aWorkspace('A B');
      const { key, id: keyId } = await app.workspaceKey(['workspaces.read'], id);
      expect((await app.call('GET', `${WORKSPACES}/${id}`, { key })).status).toBe(200);

      expect((await remove(id)).status).toBe(200);

      expect((await app.call('GET', `${WORKSPACES}/${id}`, { key })).status).toBe(401);
      expect((await app.call('GET', `${WORKSPACES}/${id}`)).status).toBe(404);
      expect(app.changes).toContainEqual({ resource: 'workspace', id });
      const [row] = await app.dataSource.query('SELECT * FROM api_keys WHERE id = $1', [keyId]);
      expect(row).toMatchObject({ key_hash: null, workspace_id: null, name: 'A key' });
      expect((await aWorkspace('A B')).slug).toBe(slug);
      await app.dataSource.query('DELETE FROM workspaces WHERE slug = $1', [slug]);
    });

    it('refuses while virtual keys are inside', async () => {
      const { id } = await aWorkspace('Full');
      const key = { name: 'vk', provider: 'openai', key: 'sk-x', workspace_id: id };
      const { slug } = (await app.call('POST', '/v1/virtual-keys', { body: key })).body.data;
      const remove = () => app.call('DELETE', `${WORKSPACES}/${id}`, { body: { name: 'Full' } });

      const refused = await remove();
      expect(refused.status).toBe(409);
      expect(refused.body.error.message).toContain('1 virtual key');
      await app.call('DELETE', `/v1/virtual-keys/${slug}`);
      expect((await remove()).status).toBe(200);
    });

    it('refuses while guardrails are inside', async () => {
      const { id, slug, name } = await aWorkspace('With guardrails');
      const checks = [{ id: 'default.contains', parameters: { operator: 'none', words: ['Apollo'] } }];
      await app.call('POST', '/v1/guardrails', { body: { name: 'g', checks, workspace_id: slug } });

      const refused = await app.call('DELETE', `${WORKSPACES}/${id}`, { body: { name } });
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
      expect(refused.text).toContain('1 guardrail');
    });

    it('refuses for the workspace that the organization began with', async () => {
      const { body } = await app.call('GET', `${WORKSPACES}/${app.first.workspace_id}`);

      expect(body.is_default).toBe(1);
      const path = `${WORKSPACES}/${app.first.workspace_id}`;
      expect((await app.call('DELETE', path, { body: { name: body.name } })).status).toBe(409);
    });

    it('never leaves a key behind that is made at the same moment', async () => {
      for (let round = 0; round < 5; round++) {
        const { id } = await aWorkspace('Racing');
        const [removed, ...made] = await Promise.all([
          app.call('DELETE', `${WORKSPACES}/${id}`, { body: { name: 'Racing' } }),
          ...Array.from({ length: 4 }, () =>
            app.call('POST', '/v1/api-keys/workspace/service', {
              body: { name: 'k', workspace_id: id, scopes: ['workspaces.read'] },
            }),
          ),
        ]);
        expect(removed.status).toBe(200);
        for (const { status, body } of made) {
          expect([200, 404, 409]).toContain(status);
          if (status !== 200) continue;
          expect((await app.call('GET', WORKSPACES, { key: body.key })).status).toBe(401);
        }
      }
    });
  });
});
