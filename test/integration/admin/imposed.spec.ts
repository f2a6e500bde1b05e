import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresApiKeyDirectory } from '../../../src/adapters/postgres-api-key-directory.js';
import type { Principal } from '../../../src/auth/principal.js';
import type { Secret } from '../../../src/common/crypto/secret.js';
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

  it('must be there: a config, a workspace and an organization are told the place of what is not', async () => {
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
      'config.input_guardrails[1] names a guardrail that does not exist',
    );
    expect(saved.body.error.message).toContain('config.output_guardrails[0] names a guardrail');
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

  it('reach every key: guardrails of the organization first, metadata, and the config of people', async () => {
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
});
