import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresApiKeyDirectory } from '../../../src/adapters/directories/postgres-api-key-directory.js';
import type { Principal } from '../../../src/auth/principal.js';
import type { Secret } from '../../../src/common/settings/secret.js';
import { AdminApp } from '../../support/admin-app.js';

const ORGANIZATION = '/v1/admin/organisation';
const CHECKS = [{ id: 'default.contains', parameters: { operator: 'none', words: ['Apollo'] } }];

describe('what an organization and a workspace impose on requests', () => {
  let app: AdminApp;
  let elsewhere: string;
  beforeAll(async () => {
    app = await AdminApp.start();
    elsewhere = await app.anotherWorkspace('ws-two');
  });
  afterAll(() => app.close());

  const make = async (where: object): Promise<string> =>
    (await app.call('POST', '/v1/guardrails', { body: { name: 'One', checks: CHECKS, ...where } })).body.slug;
  const own = (): Promise<string> => make({ workspace_id: app.first.workspace_id });
  const general = (): Promise<string> => make({ organisation_id: app.first.organisation_id });
  const putWorkspace = (defaults: object) =>
    app.call('PUT', '/v1/admin/workspaces/ws-default', { body: { defaults } });
  const putOrganization = (body: object) => app.call('PUT', ORGANIZATION, { body });
  const remove = (slug: string) => app.call('DELETE', `/v1/guardrails/${slug}`);
  const aConfig = (config: object, more: object = {}) =>
    app.call('POST', '/v1/configs', { body: { name: 'C', workspace_id: 'ws-default', config, ...more } });
  const principalOf = async (key: string): Promise<Principal | undefined> => {
    const pepper = app.settings.keyPepper as Secret;
    const directory = new PostgresApiKeyDirectory(
      app.dataSource,
      { subscribe: () => undefined },
      { pepper, staleKeysMs: 0 },
    );
    return (await directory.find(key))?.principal;
  };

  it('must exist: a config, a workspace and an organization get the place of a missing one', async () => {
    const [here, there] = [await own(), await make({ workspace_id: elsewhere })];
    const config = {
      ...{ provider: 'sandbox', input_guardrails: [here, 'pg-nowhere'] },
      outputGuardrails: [there, { 'default.contains': { operator: 'none', words: ['x'] } }],
    };

    const saved = await aConfig(config);
    const workspace = await putWorkspace({ input_guardrails: [here], output_guardrails: [there] });
    const organization = await putOrganization({ input_guardrails: [here] });
    const defaultConfig = await putWorkspace({ user_api_key_config: 'pc-nowhere' });

    expect([saved.status, saved.body.error.code]).toEqual([400, 'config_invalid']);
    expect(saved.body.error.message).toContain(
      'config.input_guardrails[1] names the guardrail "pg-nowhere", which does not exist here',
    );
    expect(saved.body.error.message).toContain('config.output_guardrails[0] names the guardrail');
    expect(saved.body.error.message).not.toContain('input_guardrails[0]');
    expect([workspace.status, workspace.body.error.message]).toEqual([
      400,
      expect.stringContaining('defaults.output_guardrails[0]'),
    ]);
    // A guardrail of one workspace is none of the organization's.
    expect([organization.status, organization.body.error.message]).toEqual([
      400,
      expect.stringContaining('input_guardrails[0]'),
    ]);
    expect(defaultConfig.body.error.message).toContain('defaults.user_api_key_config');
  });

  it('may be the response cache: what it names must be there, and every key of the workspace gets it', async () => {
    const { key } = (
      await app.call('POST', '/v1/api-keys/workspace/service', {
        body: { name: 'K', workspace_id: 'ws-default', scopes: ['completions.write'] },
      })
    ).body;
    const { slug } = (
      await app.call('POST', '/v1/virtual-keys', {
        body: { name: 'Vectors', provider: 'openai', key: 'sk-v', workspace_id: 'ws-default' },
      })
    ).body.data;
    const semantic = { mode: 'semantic' };
    const embedding = { virtualKey: `@${slug}`, model: 'text-embedding-3-small' };
    const nowhere = { virtual_key: 'nowhere', model: 'm' };
    const messages = async (cache: unknown) => {
      const { status, body } = await putWorkspace({ cache });
      return [status, body.error?.message as string | undefined] as const;
    };

    expect(await messages(semantic)).toEqual([
      400,
      expect.stringContaining('defaults.cache.embedding is missing'),
    ]);
    expect(await messages({ ...semantic, embedding: nowhere })).toEqual([
      400,
      expect.stringContaining('defaults.cache.embedding.virtual_key names the virtual key "nowhere"'),
    ]);
    expect(await messages({ mode: 'simple', maximum: 1 })).toEqual([
      400,
      expect.stringContaining('defaults.cache.maximum'),
    ]);
    expect(await messages('simple')).toEqual([400, expect.stringContaining('cache')]);

    const config = { provider: 'sandbox', cache: semantic };
    const early = await aConfig(config);
    expect([early.status, early.body.error?.message]).toEqual([
      400,
      expect.stringContaining('config.cache.embedding is missing'),
    ]);
    const unknown = await aConfig({ ...config, cache: { ...semantic, embedding: nowhere } });
    expect(unknown.body.error.message).toContain(
      'config.cache.embedding.virtual_key names the virtual key "nowhere"',
    );

    expect((await putWorkspace({ cache: { mode: 'off', maxAge: 60, embedding } })).status).toBe(200);
    const cache = {
      mode: 'off',
      max_age: 60,
      embedding: { virtual_key: `@${slug}`, model: 'text-embedding-3-small' },
    };
    expect((await app.call('GET', '/v1/admin/workspaces/ws-default')).body.defaults.cache).toEqual(cache);
    expect((await principalOf(key))?.cache).toEqual(cache);
    expect((await aConfig(config)).status).toBe(200);
    expect((await putWorkspace({ cache: null })).status).toBe(200);
    expect((await principalOf(key))?.cache).toBeUndefined();
  });

  it('are joined by what a key gives its requests: metadata, a config, and whether they may bring one', async () => {
    const slug = (await aConfig({ provider: 'sandbox' })).body.data.slug as string;
    const { id: configId } = (await app.call('GET', `/v1/configs/${slug}`)).body.data;
    const there = await aConfig({ provider: 'sandbox' }, { workspace_id: elsewhere });
    const keys = '/v1/api-keys/workspace/service';
    const aKey = (defaults: object, more: object = {}) =>
      app.call('POST', keys, {
        body: {
          name: 'K',
          workspace_id: 'ws-default',
          scopes: ['completions.write', 'workspace_service_api_keys.update'],
          defaults,
          ...more,
        },
      });
    await putWorkspace({ metadata: { team: 'a' } });

    expect((await aKey({ config_id: there.body.data.slug })).body.error.message).toContain(
      'defaults.config_id',
    );
    const made = await aKey(
      { metadata: { team: 'b', app: 'shop' }, config_id: slug, allow_config_override: false },
      { alert_emails: ['Team@Example.com', 'team@example.com'] },
    );
    const path = `/v1/api-keys/${made.body.id}`;
    const defaults = {
      metadata: { team: 'b', app: 'shop' },
      config_id: configId,
      allow_config_override: false,
    };
    expect((await app.call('GET', path)).body).toMatchObject({
      defaults,
      alert_emails: ['team@example.com'],
    });
    expect(await principalOf(made.body.key)).toMatchObject({
      metadata: { team: 'a', app: 'shop' },
      routing: { configId, allowsOverride: false },
    });

    const own = await app.call('PUT', path, {
      body: { defaults: { allow_config_override: true } },
      key: made.body.key,
    });
    expect(own.status).toBe(403);
    expect((await app.call('PUT', path, { body: { defaults: { config_id: null } } })).status).toBe(200);
    expect((await app.call('GET', path)).body.defaults).toEqual({ ...defaults, config_id: null });
    const cleared = { defaults: { metadata: null, allow_config_override: true }, alert_emails: null };
    expect((await app.call('PUT', path, { body: cleared })).status).toBe(200);
    expect((await app.call('GET', path)).body).toMatchObject({
      defaults: { metadata: null, config_id: null, allow_config_override: true },
      alert_emails: [],
    });
    expect(await principalOf(made.body.key)).toMatchObject({ metadata: { team: 'a' } });
    await putWorkspace({ metadata: {} });
  });

  it('stay while something names them, at any depth and by slug or id', async () => {
    const slug = await own();
    const { id } = (await app.call('GET', `/v1/guardrails/${slug}`)).body;
    const { body } = await aConfig({
      strategy: { mode: 'fallback' },
      targets: [{ provider: 'sandbox' }, { provider: 'sandbox', after_request_hooks: [id] }],
    });

    const refused = await remove(slug);
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining(body.data.slug as string),
    ]);
    await app.call('PUT', `/v1/configs/${body.data.slug}`, { body: { config: { provider: 'sandbox' } } });
    await putWorkspace({ input_guardrails: [slug] });
    expect((await remove(slug)).body.error.message).toContain('the workspace ws-default');
    await putWorkspace({ input_guardrails: [] });
    expect((await remove(slug)).status).toBe(200);
  });

  it('are not removed and named at the same moment', async () => {
    for (let round = 0; round < 4; round++) {
      const slug = await own();
      const [removed, named] = await Promise.all([remove(slug), putWorkspace({ input_guardrails: [slug] })]);

      expect([removed.status, named.status].sort()).toEqual([200, removed.status === 200 ? 400 : 409]);
      await putWorkspace({ input_guardrails: [] });
    }
  });

  it('reach every key: guardrails of the organization first, metadata, and the config of users', async () => {
    const [ofAll, ofWorkspace] = [await general(), await own()];
    const { slug } = (await aConfig({ provider: 'sandbox' })).body.data;
    const { key } = await app.workspaceKey();
    expect(await principalOf(key)).not.toHaveProperty('guardrails');

    await putOrganization({ input_guardrails: [ofAll] });
    await putWorkspace({
      ...{ input_guardrails: [ofWorkspace], output_guardrails: [ofWorkspace] },
      ...{ metadata: { team: 'search' }, user_api_key_config: slug },
    });

    const principal = await principalOf(key);
    expect(principal).toMatchObject({
      guardrails: { input_guardrails: [ofAll, ofWorkspace], output_guardrails: [ofWorkspace] },
      metadata: { team: 'search' },
    });
    expect(principal?.routing).toBeUndefined();
    await app.dataSource.query(
      "UPDATE api_keys SET kind = 'workspace-user', user_id = created_by_user_id WHERE id = $1",
      [principal?.apiKeyId],
    );
    expect((await principalOf(key))?.routing).toEqual({ configId: slug, allowsOverride: true });

    const kept = await app.call('DELETE', `/v1/configs/${slug}`);
    const archived = await app.call('PUT', `/v1/configs/${slug}`, { body: { status: 'archived' } });
    expect([kept.status, archived.status]).toEqual([409, 409]);
    await putOrganization({ input_guardrails: null });
    await putWorkspace({
      input_guardrails: [],
      output_guardrails: [],
      metadata: {},
      user_api_key_config: null,
    });
    expect(await principalOf(key)).not.toHaveProperty('guardrails');
    expect((await app.call('DELETE', `/v1/configs/${slug}`)).status).toBe(200);
  });

  it('may be the rule for clients that leave, which every key of the workspace inherits until it is removed', async () => {
    const { key } = await app.workspaceKey();
    const rule = async (): Promise<unknown> => (await principalOf(key))?.onClientDisconnect;

    expect((await putWorkspace({ on_client_disconnect: 'wait' })).status).toBe(400);
    expect((await putWorkspace({ on_client_disconnect: 'finish' })).status).toBe(200);
    expect(await rule()).toBe('finish');
    expect((await putWorkspace({ on_client_disconnect: null })).status).toBe(200);
    expect(await rule()).toBeUndefined();
  });
});
