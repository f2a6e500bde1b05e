import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresConfigDirectory } from '../../../src/adapters/directories/postgres-config-directory.js';
import { type ChangeFeed, ChangePublisher } from '../../../src/common/changes/change.js';
import { AdminApp, type Json } from '../../support/admin-app.js';

const CONFIGS = '/v1/configs';
const SIMPLE = { retry: { attempts: 2 }, provider: 'sandbox' };
const OTHER = { retry: { attempts: 3 }, provider: 'sandbox' };

describe('configs', () => {
  let app: AdminApp;
  let directory: PostgresConfigDirectory;
  let workspaceTwo: string;
  let own: { key: string };
  let named = 0;

  beforeAll(async () => {
    app = await AdminApp.start();
    workspaceTwo = await app.anotherWorkspace('ws-two');
    own = await app.workspaceKey();
    const changes = app.app.get<ChangePublisher & ChangeFeed>(ChangePublisher);
    directory = new PostgresConfigDirectory(app.dataSource, changes, 60_000);
    for (const [slug, workspace_id] of [
      ['here', app.first.workspace_id],
      ['there', workspaceTwo],
    ])
      await app.call('POST', '/v1/virtual-keys', {
        body: { name: slug, slug, provider: 'sandbox', workspace_id },
      });
  });
  afterAll(() => app.close());

  const make = (more: object = {}, query = '') =>
    app.call('POST', `${CONFIGS}${query}`, {
      body: { name: 'A config', config: SIMPLE, workspace_id: 'ws-default', ...more },
    });
  const aConfig = async (more: object = {}): Promise<Json> => (await make(more)).body.data;
  const put = (slug: string, body: object, query = '') =>
    app.call('PUT', `${CONFIGS}/${slug}${query}`, { body });
  const read = async (slug: string): Promise<Json> => (await app.call('GET', `${CONFIGS}/${slug}`)).body.data;
  const inForce = async (slug: string) =>
    directory.find({ organizationId: app.first.organisation_id, workspaceId: app.first.workspace_id }, slug);

  it('are returned as they were saved, and are in force', async () => {
    const { id, slug, version_id } = await aConfig({ name: 'My Chat' });

    expect(slug).toMatch(/^pc-my-chat-[a-z0-9]{6}$/);
    expect(await read(slug)).toMatchObject({
      id,
      slug,
      version_id,
      version: 1,
      name: 'My Chat',
      config: SIMPLE,
      is_default: 0,
      status: 'active',
      workspace_id: app.first.workspace_id,
    });
    expect(await read(id)).toMatchObject({ slug });
    expect(await inForce(slug)).toMatchObject({ versionId: version_id });
    expect(
      (await app.call('GET', `${CONFIGS}?workspace_id=ws-default&page_size=100`)).body.data,
    ).toContainEqual(expect.objectContaining({ slug }));
  });

  it('may come as a text that holds JSON', async () => {
    const { slug } = await aConfig({ config: JSON.stringify(SIMPLE) });
    expect((await read(slug)).config).toEqual(SIMPLE);
    expect((await make({ config: '{"retry":' })).body.error.message).toContain('not JSON');
    expect((await make({ config: '{"provider":{"toString":1}}' })).body.error).toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('config.provider must be a string'),
    });
  });

  it('names the place of its first mistake in `param`', async () => {
    const { error } = (await make({ config: { retry: { attempts: 9 } } })).body;
    expect(error).toMatchObject({ code: 'config_invalid', param: 'config.retry.attempts' });
  });

  describe('simulated', () => {
    const simulate = (body: object) => app.call('POST', `${CONFIGS}/simulate`, { body });
    const BY_COST = {
      strategy: { mode: 'loadbalance', balance_by: 'cost' },
      targets: [
        { provider: 'openai', override_params: { model: 'gpt-4o' } },
        { provider: 'openai', override_params: { model: 'gpt-4o-mini' } },
        { virtual_key: 'here', override_params: { model: 'unheard-of' } },
      ],
    };

    it('return plan, conditions, order, weights and prices, and send nothing', async () => {
      const { status, body } = await simulate({ config: BY_COST, workspace_id: 'ws-default' });

      expect(status).toBe(200);
      expect(body.data).toMatchObject({
        config_id: null,
        decisions: ['config: config.targets[1] at the least cost'],
        targets: [
          { path: 'config.targets[1]', share: 1, weight: 1, price_per_million_tokens: 0.2625 },
          { path: 'config.targets[0]', share: 0, price_per_million_tokens: 4.375 },
          { path: 'config.targets[2]', virtual_key: 'here', share: 0, price_per_million_tokens: null },
        ],
      });
    });

    it('go by the own price of a virtual key, for a saved config too', async () => {
      const { slug, id, version_id } = await aConfig({ config: BY_COST });
      await app.call('PUT', '/v1/virtual-keys/here', {
        body: {
          model_pricing: {
            'unheard-of': { pay_as_you_go: { request_token: { price: 0 }, response_token: { price: 0 } } },
          },
        },
      });

      const { body } = await simulate({ config: slug });

      expect(body.data).toMatchObject({ config_id: id, version_id });
      expect(body.data.targets[0]).toMatchObject({
        path: 'config.targets[2]',
        virtual_key: 'here',
        price_per_million_tokens: 0,
      });
    });

    it('take conditions by metadata, params, path and headers of the request', async () => {
      const config = {
        strategy: {
          mode: 'conditional',
          conditions: [{ query: { 'metadata.plan': 'paid', 'params.model': 'gpt-4o' }, then: 'good' }],
          default: 'any',
        },
        targets: [{ name: 'good', provider: 'openai' }, { name: 'any' }],
      };
      const asked = { config, workspace_id: 'ws-default', model: 'gpt-4o' };

      const paid = await simulate({ ...asked, metadata: { plan: 'paid' } });
      const free = await simulate({ ...asked, headers: { 'X-Gateway-Virtual-Key': 'here' } });

      expect(paid.body.data.decisions).toEqual(['config: conditions[0] holds, so config.targets[0]']);
      expect(free.body.data).toMatchObject({
        decisions: ['config: no condition holds, so config.targets[1]'],
        targets: [{ name: 'any', virtual_key: 'here', model: 'gpt-4o' }],
      });
    });

    it('refuse a document that would not run, and a config out of reach', async () => {
      const wrong = await simulate({ config: { virtual_key: 'there' }, workspace_id: 'ws-default' });
      const gone = await simulate({ config: 'pc-nowhere' });

      expect([wrong.status, wrong.body.error.code]).toEqual([400, 'config_invalid']);
      expect([gone.status, gone.body.error.code]).toEqual([404, 'not_found']);
    });
  });

  describe('that would not run are refused', () => {
    it('with the place of every mistake at once', async () => {
      const config = {
        strategy: { mode: 'fallback', colour: 'red' },
        targets: [
          { virtual_key: 'nowhere' },
          { provider: '@there', weight: -1 },
          { targets: [{ virtual_key: 'here' }, { virtualKey: '@nothing' }], strategy: { mode: 'single' } },
          { virtual_key: 'here', retry: { attempts: 99 } },
        ],
      };
      const { status, body } = await make({ config });

      expect(status).toBe(400);
      expect(body.error.code).toBe('config_invalid');
      for (const path of [
        'config.strategy.colour',
        'config.targets[0].virtual_key',
        'config.targets[1].provider',
        'config.targets[1].weight',
        'config.targets[2].targets[1].virtual_key',
        'config.targets[3].retry.attempts',
      ])
        expect(body.error.message).toContain(path);
      expect(body.error.message).not.toContain('targets[2].targets[0]');
    });

    it("with the same words for another workspace's virtual key and for none", async () => {
      const message = async (virtual_key: string): Promise<string> =>
        (await make({ config: { virtual_key } })).body.error.message;
      expect((await message('there')).replace('"there"', '"never"')).toBe(await message('never'));
      expect((await make({ config: { virtual_key: 'there' }, workspace_id: 'ws-two' })).status).toBe(200);
    });

    it.each([
      ['L04', '{"name":"x","workspace_id":"ws-default","config":{"__proto__":{"a":1}}}'],
      [
        'L09 weight',
        { config: { strategy: { mode: 'loadbalance' }, targets: [{ provider: 'sandbox', weight: -1 }] } },
      ],
      [
        'L09 targets',
        { config: { strategy: { mode: 'fallback' }, targets: Array.from({ length: 1_001 }, () => SIMPLE) } },
      ],
      ['a secret', { config: { provider: 'openai', api_key: 'sk-canary-1' } }],
      ['a list', { config: [] }],
      ['nothing', { config: {} }],
      ...['a\r\nHost: evil', 'x y', 'x:', 'ä', '', { toString: 'x' }].map((name): [string, object] => [
        `C30 a header by the name of ${JSON.stringify(name)}`,
        { config: { provider: 'sandbox', forward_headers: [name] } },
      ]),
      [
        'C30 headers of its own',
        { config: { provider: 'sandbox', custom_headers: { X: 'a\r\nHost: evil' } } },
      ],
    ])('%s', async (_, body) => {
      const answer = typeof body === 'string' ? await app.call('POST', CONFIGS, { body }) : await make(body);
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain('sk-canary-1');
    });

    it('when a change would break them, and the last good one stays in force', async () => {
      const { slug, version_id } = await aConfig();
      expect((await put(slug, { name: 'New', config: { retry: { attempts: 99 } } })).status).toBe(400);
      expect(await read(slug)).toMatchObject({ version_id, name: 'A config', config: SIMPLE });
      expect(await inForce(slug)).toMatchObject({ versionId: version_id });
    });
  });

  describe('have versions', () => {
    it('one for each document, none for a name alone or the same document again', async () => {
      const { slug, version_id } = await aConfig();
      expect((await put(slug, { name: 'Renamed' })).body.data.version_id).toBe(version_id);
      expect(
        (await put(slug, { config: { provider: 'sandbox', retry: { attempts: 2 } } })).body.data.version_id,
      ).toBe(version_id);
      const second = (await put(slug, { config: OTHER })).body.data.version_id;
      expect(second).not.toBe(version_id);
      expect(await inForce(slug)).toMatchObject({ versionId: second });

      const { body } = await app.call('GET', `${CONFIGS}/${slug}/versions`);
      expect(body.total).toBe(2);
      expect(body.data.map(({ version }: Json) => version)).toEqual([2, 1]);
      expect(JSON.parse(body.data[1].config)).toEqual(SIMPLE);
      const first = await app.call('GET', `${CONFIGS}/${slug}/versions/${version_id}`);
      expect(first.body.data).toMatchObject({ version: 1, config: SIMPLE, version_id });
    });

    it('that can be compared and put in force again', async () => {
      const { slug, version_id } = await aConfig();
      const second = (await put(slug, { config: OTHER })).body.data.version_id;
      const changes = [{ op: 'replace', path: '/retry/attempts', value: 3, old_value: 2 }];
      const diff = `${CONFIGS}/${slug}/diff`;
      expect((await app.call('GET', diff)).body).toEqual({
        object: 'config-diff',
        from: version_id,
        to: second,
        changes,
      });
      expect((await app.call('GET', `${diff}?from=${second}&to=${version_id}`)).body.changes).toMatchObject([
        { value: 2 },
      ]);
      expect((await app.call('GET', `${diff}?from=never`)).status).toBe(404);

      const back = await app.call('POST', `${CONFIGS}/${slug}/rollback`, { body: { version_id } });
      expect(back.status).toBe(200);
      expect(await read(slug)).toMatchObject({
        version: 3,
        config: SIMPLE,
        version_id: back.body.data.version_id,
      });
      const elsewhere = await aConfig();
      expect(
        (
          await app.call('POST', `${CONFIGS}/${slug}/rollback`, {
            body: { version_id: elsewhere.version_id },
          })
        ).status,
      ).toBe(404);
    });

    it('with numbers of their own, also when two clients change at once', async () => {
      const { slug } = await aConfig();
      const changes = [4, 5, 1].map((attempts) =>
        put(slug, { config: { provider: 'sandbox', retry: { attempts } } }),
      );
      expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([200, 200, 200]);
      const { body } = await app.call('GET', `${CONFIGS}/${slug}/versions`);
      expect(body.data.map(({ version }: Json) => version)).toEqual([4, 3, 2, 1]);
    });
  });

  it('have a dry run that changes nothing', async () => {
    const { slug, version_id } = await aConfig();
    const counts = () =>
      app.dataSource.query(
        'SELECT (SELECT count(*) FROM audit_records), (SELECT count(*) FROM config_versions) AS versions',
      );
    const before = await counts();

    expect((await make({}, '?dry_run=true')).body.data).toEqual({
      dry_run: true,
      config: SIMPLE,
      changes: [
        { op: 'add', path: '/retry', value: { attempts: 2 } },
        { op: 'add', path: '/provider', value: 'sandbox' },
      ],
    });
    expect((await put(slug, { config: OTHER }, '?dry_run=true')).body.data).toMatchObject({
      dry_run: true,
      changes: [{ op: 'replace', path: '/retry/attempts', value: 3, old_value: 2 }],
    });
    expect((await put(slug, { config: { virtual_key: 'never' } }, '?dry_run=true')).status).toBe(400);
    expect((await put(slug, { config: OTHER }, '?dry_run=perhaps')).status).toBe(400);
    const back = await app.call('POST', `${CONFIGS}/${slug}/rollback?dry_run=true`, { body: { version_id } });
    expect(back.body.data).toEqual({ dry_run: true, config: SIMPLE, changes: [] });
    expect(await read(slug)).toMatchObject({ version_id });
    const [{ count, versions }] = await counts();
    expect(versions).toBe(before[0].versions);
    // The misspelled rehearsal was no rehearsal, and is a failed attempt like any other.
    expect(Number(count)).toBe(Number(before[0].count) + 1);
  });

  it('list what uses them: keys, keys of users, and requests that name none', async () => {
    const config = { name: 'Used', slug: 'pc-used', config: SIMPLE, workspace_id: app.first.workspace_id };
    expect((await app.call('POST', CONFIGS, { body: config })).status).toBe(200);
    const usage = async () => (await app.call('GET', `${CONFIGS}/pc-used/usage`)).body;
    expect(await usage()).toEqual({
      object: 'config-usage',
      api_keys: 0,
      user_keys_of: null,
      is_default: false,
    });

    const key = { name: 'Key', scopes: ['logs.view'], workspace_id: app.first.workspace_id };
    const defaults = { config_id: 'pc-used' };
    const made = await app.call('POST', '/v1/api-keys/workspace/service', { body: { ...key, defaults } });
    expect(made.status, made.text).toBe(200);
    expect(await usage()).toMatchObject({ api_keys: 1 });
    expect((await app.call('DELETE', `${CONFIGS}/pc-used`)).body.error.message).toContain('1 API keys');
  });

  it('are the default of a workspace one at a time, also when two become it at once', async () => {
    const made = await Promise.all([aConfig({ isDefault: 1 }), aConfig({ is_default: true })]);
    const defaults = (await Promise.all(made.map(({ slug }) => read(slug)))).filter(
      ({ is_default }) => is_default === 1,
    );
    expect(defaults).toHaveLength(1);
    const [{ id, slug }] = defaults as [Json];
    const named = async () =>
      (
        await app.dataSource.query('SELECT default_config_id FROM workspaces WHERE id = $1', [
          app.first.workspace_id,
        ])
      )[0];
    expect(await named()).toEqual({ default_config_id: id });
    expect((await put(slug, { status: 'archived' })).status).toBe(409);
    expect((await put(slug, { isDefault: 0, status: 'archived' })).status).toBe(200);
    expect(await named()).toEqual({ default_config_id: null });
    expect(await inForce(slug)).toBeNull();
  });

  it('have a dry run for the way back as well', async () => {
    const { slug, version_id } = await aConfig();
    const second = (await put(slug, { config: OTHER })).body.data.version_id;

    const back = await app.call('POST', `${CONFIGS}/${slug}/rollback?dry_run=true`, { body: { version_id } });

    expect(back.body.data).toMatchObject({
      dry_run: true,
      config: SIMPLE,
      changes: [{ op: 'replace', path: '/retry/attempts', value: 2, old_value: 3 }],
    });
    expect(await read(slug)).toMatchObject({ version: 2, version_id: second });
  });

  it('are not archived while an API key goes by them', async () => {
    const { slug, id } = await aConfig();
    const { id: keyId } = await app.workspaceKey();
    await app.call('PUT', `/v1/api-keys/${keyId}`, { body: { defaults: { config_id: id } } });

    expect((await put(slug, { status: 'archived' })).status).toBe(409);
    expect((await put(slug, { name: 'renamed', status: 'active' })).status).toBe(200);
    await app.call('PUT', `/v1/api-keys/${keyId}`, { body: { defaults: { config_id: null } } });
    expect((await put(slug, { status: 'archived' })).status).toBe(200);
  });

  it('may be named by their id, with their slug repeated in the body', async () => {
    const { slug, id } = await aConfig();

    expect((await put(id, { slug, name: 'By id' })).status).toBe(200);
    expect((await put(id, { slug: id, name: 'By id' })).status).toBe(200);
    expect((await put(id, { slug: 'pc-another' })).status).toBe(400);
  });

  it('are not removed while an API key goes by them', async () => {
    const { slug, id } = await aConfig();
    await app.dataSource.query(
      'UPDATE api_keys SET default_config_id = $1 WHERE key_hash IS NOT NULL AND workspace_id IS NOT NULL',
      [id],
    );
    expect((await app.call('DELETE', `${CONFIGS}/${slug}`)).body.error.code).toBe('conflict');
    await app.dataSource.query('UPDATE api_keys SET default_config_id = NULL');
    expect((await app.call('DELETE', `${CONFIGS}/${slug}`)).status).toBe(200);
    expect((await app.call('GET', `${CONFIGS}/${slug}`)).status).toBe(404);
    expect(await inForce(slug)).toBeNull();
  });

  it('are changed only if unchanged since they were read, where the client requests that', async () => {
    const { slug } = await aConfig();
    const { headers } = await app.call('GET', `${CONFIGS}/${slug}`);
    const change = (attempts: number) =>
      app.call('PUT', `${CONFIGS}/${slug}`, {
        body: { config: { provider: 'sandbox', retry: { attempts } } },
        headers: { 'if-match': String(headers.etag) },
      });
    expect((await change(4)).status).toBe(200);
    expect((await change(5)).status).toBe(412);
  });

  it('record who did what, with the document before and after', async () => {
    const { slug, id } = await aConfig();
    await put(slug, { config: OTHER });
    const record = (await app.audited()).at(-1);
    expect(record).toMatchObject({
      action: 'configs.update',
      target_id: id,
      before: { config: SIMPLE },
      after: { config: OTHER },
    });
  });

  it.each(['GET', 'PUT', 'DELETE'])("G01: %s of another workspace's is as of none", async (method) => {
    const { slug } = await aConfig({ workspace_id: 'ws-two' });
    const call = (name: string) =>
      app.call(method, `${CONFIGS}/${name}`, {
        key: own.key,
        ...(method === 'PUT' ? { body: { name: 'x' } } : {}),
      });
    const [theirs, none] = [await call(slug), await call(`pc-none-${++named}`)];
    expect(theirs.status).toBe(404);
    expect({ ...theirs.body.error, request_id: '' }).toEqual({ ...none.body.error, request_id: '' });
  });

  it('need their scopes', async () => {
    const { key } = await app.workspaceKey(['configs.list']);
    const { slug } = await aConfig();
    expect((await app.call('GET', `${CONFIGS}/${slug}`, { key })).status).toBe(403);
    expect((await app.call('GET', CONFIGS, { key })).status).toBe(200);
  });
});
