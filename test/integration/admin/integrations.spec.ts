import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresVirtualKeyDirectory } from '../../../src/adapters/directories/postgres-virtual-key-directory.js';
import { type ChangeFeed, ChangePublisher } from '../../../src/common/changes/change.js';
import { mappedCredentials } from '../../support/external-secrets.js';
import { AdminApp } from '../../support/admin-app.js';

const INTEGRATIONS = '/v1/integrations';
const PROVIDERS = '/v1/providers';
const aSecret = () => `sk-canary-${randomBytes(24).toString('hex')}`;
let named = 0;
const aName = () => `thing-${++named}`;

describe('integrations', () => {
  let app: AdminApp;
  let directory: PostgresVirtualKeyDirectory;
  let workspaceTwo: string;
  let own: { key: string };
  let ownTwo: { key: string };

  beforeAll(async () => {
    app = await AdminApp.start();
    workspaceTwo = await app.anotherWorkspace('ws-two');
    own = await app.workspaceKey();
    ownTwo = await app.workspaceKey(undefined, workspaceTwo);
    const changes = app.app.get<ChangePublisher & ChangeFeed>(ChangePublisher);
    directory = new PostgresVirtualKeyDirectory(
      app.dataSource,
      changes,
      app.box,
      60_000,
      mappedCredentials(app.box),
    );
  });
  afterAll(() => app.close());

  const make = async (more: object = {}, key?: string) => {
    const body = { name: 'OpenAI', slug: aName(), ai_provider_id: 'openai', key: aSecret(), ...more };
    return app.call('POST', INTEGRATIONS, { body, key });
  };
  const aShared = async (more: object = {}): Promise<string> => (await make(more)).body.slug;
  const grant = (slug: string, id: string, more: object = {}, enabled = true) =>
    app.call('PUT', `${INTEGRATIONS}/${slug}/workspaces`, {
      body: { workspaces: [{ id, enabled }], ...more },
    });
  const onPath = async (slug: string, workspaceId = app.first.workspace_id) =>
    directory.find({ organizationId: app.first.organisation_id, workspaceId }, slug);

  describe('of the organization', () => {
    it('lend their credential to a workspace that was given access, and to no other', async () => {
      const secret = aSecret();
      const slug = await aShared({ key: secret });
      expect(await onPath(slug)).toBeNull();
      expect((await grant(slug, 'ws-default')).status).toBe(200);

      expect((await onPath(slug))?.credentials.key?.reveal()).toBe(secret);
      expect(await onPath(slug, workspaceTwo)).toBeNull();
      expect(
        await app.call('POST', PROVIDERS, { body: { name: 'x', integration_id: slug }, key: ownTwo.key }),
      ).toMatchObject({ status: 404, body: { error: { message: 'There is no such integration.' } } });
    });

    it('take their credential back at once when access is withdrawn, and give it again', async () => {
      const slug = await aShared();
      await grant(slug, 'ws-default');
      expect(await onPath(slug)).not.toBeNull();
      await grant(slug, 'ws-default', {}, false);
      expect(await onPath(slug)).toBeNull();
      await grant(slug, 'ws-default');
      expect(await onPath(slug)).not.toBeNull();
    });

    it('reach every workspace where they are open to all, but those that were left out', async () => {
      const slug = await aShared();
      await grant(slug, 'ws-two', {}, false);
      const open = await app.call('PUT', `${INTEGRATIONS}/${slug}/workspaces`, {
        body: { global_workspace_access: { enabled: true }, default_provider_slug: `${slug}-p` },
      });
      expect(open.status).toBe(200);
      const { body } = await app.call('GET', `${INTEGRATIONS}/${slug}/workspaces`);
      const access = new Map(
        body.workspaces.map((workspace: { slug: string; enabled: boolean }) => [
          workspace.slug,
          workspace.enabled,
        ]),
      );
      expect(access.get('ws-default')).toBe(true);
      expect(access.get('ws-two')).toBe(false);
      const behind = await app.call('GET', `${INTEGRATIONS}/${slug}/workspaces?current_page=9`);
      expect(behind.body).toMatchObject({ total: body.total, workspaces: [] });
      const made = (await app.call('GET', `${PROVIDERS}?page_size=100`)).body.data.filter(
        (provider: { slug: string }) => provider.slug.startsWith(`${slug}-p`),
      );
      expect(made.map((provider: { workspace_id: string }) => provider.workspace_id)).toEqual([
        app.first.workspace_id,
      ]);
      const later = await app.anotherWorkspace(aName());
      const provider = await app.call('POST', PROVIDERS, {
        body: { name: 'x', slug: aName(), integration_id: slug, workspace_id: later },
      });
      expect(provider.status).toBe(200);
      expect(await onPath(provider.body.slug, later)).not.toBeNull();
    });

    it('cannot be seen or changed by a workspace without access, which gets the response of a missing one', async () => {
      const slug = await aShared();
      const { body } = await app.call('GET', `${INTEGRATIONS}/${slug}`, { key: own.key });
      const absent = await app.call('GET', `${INTEGRATIONS}/never-there`, { key: own.key });
      const withoutId = ({ error }: { error: object }) => ({ ...error, request_id: null });
      expect(withoutId(body)).toEqual(withoutId(absent.body));
    });

    it('are changed by admin keys only, also where a workspace uses them', async () => {
      const slug = await aShared();
      await grant(slug, 'ws-default');
      const tried = await app.call('PUT', `${INTEGRATIONS}/${slug}`, {
        body: { name: 'mine' },
        key: own.key,
      });
      expect(tried).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
      expect(tried.text).toContain('organisation_integrations.update');
    });

    it('have an ETag by themselves, and none of their models and workspaces, which no change compares', async () => {
      const slug = await aShared();
      const tagOf = async (path: string) =>
        (await app.call('GET', `${INTEGRATIONS}/${slug}${path}`)).headers.etag;

      expect([await tagOf(''), await tagOf('/models'), await tagOf('/workspaces')]).toEqual([
        expect.any(String),
        undefined,
        undefined,
      ]);
    });

    it('show of the key its last four characters, and nothing anywhere else', async () => {
      const secret = aSecret();
      const slug = await aShared({ key: secret });
      const read = await app.call('GET', `${INTEGRATIONS}/${slug}`);
      expect(read.body.masked_key).toBe(`***${secret.slice(-4)}`);
      const texts = [
        read.text,
        (await app.call('GET', `${INTEGRATIONS}?page_size=100`)).text,
        JSON.stringify(await app.audited()),
        JSON.stringify(
          await app.dataSource.query("SELECT *, encode(sealed_credentials, 'escape') FROM integrations"),
        ),
      ];
      for (const text of texts) expect(text).not.toContain(secret.slice(0, 24));
    });

    it('need the secret again for another host, and keep it for another name', async () => {
      const secret = aSecret();
      const slug = await aShared({ key: secret });
      await grant(slug, 'ws-default');
      const moved = { configurations: { custom_host: 'https://llm.example.com/v1' } };
      expect(await app.call('PUT', `${INTEGRATIONS}/${slug}`, { body: moved })).toMatchObject({
        status: 400,
        body: { error: { code: 'credential_required' } },
      });
      await app.call('PUT', `${INTEGRATIONS}/${slug}`, { body: { name: 'Renamed' } });
      expect((await onPath(slug))?.credentials.key?.reveal()).toBe(secret);
      const again = aSecret();
      expect(
        (await app.call('PUT', `${INTEGRATIONS}/${slug}`, { body: { ...moved, key: again } })).status,
      ).toBe(200);
      expect(await onPath(slug)).toMatchObject({ customHost: 'https://llm.example.com/v1' });
      expect((await onPath(slug))?.credentials.key?.reveal()).toBe(again);
    });

    it('do not open when their row was pointed at another host in the database', async () => {
      const slug = await aShared();
      await grant(slug, 'ws-default');
      await app.dataSource.query('UPDATE integrations SET custom_host = $1 WHERE slug = $2', [
        'https://evil.example.com',
        slug,
      ]);
      await expect((async () => onPath(slug))()).rejects.toMatchObject({ code: 'credential_unusable' });
    });

    it('take their providers with them', async () => {
      const slug = await aShared();
      await grant(slug, 'ws-default');
      expect(await onPath(slug)).not.toBeNull();
      expect((await app.call('DELETE', `${INTEGRATIONS}/${slug}`)).status).toBe(200);
      expect(await onPath(slug)).toBeNull();
      expect((await app.call('GET', `${PROVIDERS}/${slug}`)).status).toBe(404);
    });
  });

  describe('of a workspace', () => {
    it('are made by its keys, with a provider, and cannot be shared', async () => {
      const { status, body } = await make({}, own.key);
      expect(status).toBe(200);
      expect(await onPath(body.slug)).toMatchObject({ slug: body.slug, providerId: 'openai' });
      expect((await app.call('GET', `${INTEGRATIONS}/${body.slug}`, { key: own.key })).body).toMatchObject({
        type: 'workspace',
        workspace_id: app.first.workspace_id,
      });
      expect((await app.call('GET', `${INTEGRATIONS}/${body.slug}`, { key: ownTwo.key })).status).toBe(404);
      expect((await grant(body.slug, 'ws-two')).status).toBe(400);
    });

    it("are kept out of workspaces that are not the key's own", async () => {
      expect((await make({ workspace_id: workspaceTwo }, own.key)).status).toBe(404);
    });

    it('are listed by level', async () => {
      const shared = await aShared();
      const mine = (await make({}, own.key)).body.slug;
      const slugs = async (query: string, key?: string): Promise<string[]> =>
        (await app.call('GET', `${INTEGRATIONS}?page_size=100&${query}`, { key })).body.data.map(
          ({ slug }: { slug: string }) => slug,
        );
      expect(await slugs('type=organisation')).toContain(shared);
      expect(await slugs('type=organisation')).not.toContain(mine);
      expect(await slugs('type=workspace')).toContain(mine);
      expect(await slugs('type=workspace')).not.toContain(shared);
      expect(await slugs('', own.key)).toContain(mine);
      expect(await slugs('', own.key)).not.toContain(shared);
      expect(await slugs('', ownTwo.key)).not.toContain(mine);
    });
  });

  describe('configurations', () => {
    it.each([
      [
        'azure-openai',
        {
          azure_auth_mode: 'default',
          azure_resource_name: 'res',
          azure_deployment_config: [
            { azure_api_version: '2024-10-21', azure_deployment_name: 'dep', azure_model_slug: 'gpt-4o' },
          ],
        },
        {
          providerId: 'azure-openai',
          fields: {
            'azure-resource-name': 'res',
            'azure-api-version': '2024-10-21',
            'azure-deployment-id': 'dep',
          },
        },
      ],
      [
        'bedrock',
        { aws_auth_type: 'accessKey', aws_region: 'eu-west-1', aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE' },
        {
          providerId: 'bedrock',
          fields: { 'aws-region': 'eu-west-1', 'aws-access-key-id': 'AKIAIOSFODNN7EXAMPLE' },
        },
      ],
      [
        'openai',
        { openai_organization: 'org-1', openai_project: 'proj_1' },
        { providerId: 'openai', fields: { 'openai-organization': 'org-1', 'openai-project': 'proj_1' } },
      ],
      [
        'openai',
        { custom_host: 'https://llm.example.com/v1/' },
        { customHost: 'https://llm.example.com/v1' },
      ],
    ])('of %s become its fields: %j', async (ai_provider_id, configurations, stored) => {
      const slug = await aShared({ ai_provider_id, configurations });
      expect(await app.dataSource.getRepository('Integration').findOneByOrFail({ slug })).toMatchObject(
        stored,
      );
    });

    it('may carry the secret, once', async () => {
      const account = {
        ai_provider_id: 'bedrock',
        configurations: { aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE', aws_secret_access_key: aSecret() },
      };
      expect((await make({ ...account, key: undefined })).status).toBe(200);
      const twice = await make(account);
      expect(twice.status).toBe(400);
      expect(twice.text).toContain('twice');
    });

    it.each([
      [{ nonsense: 'x' }, 'nonsense'],
      [{ custom_headers: { a: 'b' } }, 'custom_headers'],
      [{ azure_auth_mode: 'default' }, 'azure_auth_mode'],
      [{ custom_host: 7 }, 'custom_host'],
      [{ custom_host: 'file:///etc/passwd' }, 'custom host'],
      [{ __proto__x: 'x' }, 'x'],
    ])('that mean nothing are refused: %j', async (configurations, word) => {
      const answer = await make({ configurations });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(word);
    });

    it.each(['secret_mappings', 'pricing_adjustments'])(
      'of outside are refused with the reason: %s',
      async (field) => {
        expect((await make({ [field]: [{}] })).status).toBe(400);
      },
    );
  });

  describe('models', () => {
    const models = (slug: string, body: object) =>
      app.call('PUT', `${INTEGRATIONS}/${slug}/models`, { body });
    const granted = async (): Promise<string> => {
      const slug = await aShared();
      await grant(slug, 'ws-default');
      return slug;
    };

    it('are all allowed at first, and then those that are named', async () => {
      const slug = await granted();
      expect(await onPath(slug)).not.toHaveProperty('models');
      await models(slug, { allow_all_models: false, models: [{ slug: 'gpt-4o', enabled: true }] });
      expect((await onPath(slug))?.models).toEqual({ names: new Set(['gpt-4o']), areAllowed: true });
      await models(slug, { allow_all_models: true, models: [{ slug: 'gpt-4o', enabled: false }] });
      expect((await onPath(slug))?.models).toEqual({ names: new Set(['gpt-4o']), areAllowed: false });
    });

    it('are those of the catalogue and those that were added', async () => {
      const slug = await granted();
      await models(slug, {
        models: [{ slug: 'my-finetune', enabled: true, is_finetune: true, base_model_slug: 'gpt-4o' }],
      });
      const { body } = await app.call('GET', `${INTEGRATIONS}/${slug}/models`);
      expect(body.models).toContainEqual(
        expect.objectContaining({
          slug: 'my-finetune',
          is_custom: true,
          is_finetune: true,
          base_model_slug: 'gpt-4o',
        }),
      );
      expect(body.models).toContainEqual(
        expect.objectContaining({ slug: 'gpt-4o', is_custom: false, enabled: true }),
      );
      expect(body.total).toBe(body.models.length);
      expect((await app.call('DELETE', `${INTEGRATIONS}/${slug}/models?slugs=my-finetune`)).status).toBe(200);
      expect((await app.call('GET', `${INTEGRATIONS}/${slug}/models`)).text).not.toContain('my-finetune');
    });

    it('have prices of their own, in cents per token, which a later change may leave alone', async () => {
      const slug = await granted();
      const pricing_config = {
        type: 'static',
        pay_as_you_go: { request_token: { price: 0.000015 }, response_token: { price: 0.00006 } },
      };
      expect(
        (await models(slug, { models: [{ slug: 'gpt-4o', enabled: true, pricing_config }] })).status,
      ).toBe(200);
      await models(slug, { models: [{ slug: 'gpt-4o', enabled: true }] });
      expect((await onPath(slug))?.prices?.get('gpt-4o')).toMatchObject({
        input: 150_000_000,
        output: 600_000_000,
      });
      const { body } = await app.call('GET', `${INTEGRATIONS}/${slug}/models`);
      expect(body.models).toContainEqual(expect.objectContaining({ slug: 'gpt-4o', pricing_config }));
    });

    it.each([
      [
        { pay_as_you_go: { request_token: { price: -1 }, response_token: { price: 0 } } },
        'request_token.price',
      ],
      [{ pay_as_you_go: { request_token: { price: 1 } } }, 'response_token'],
      [{ pay_as_you_go: { request_token: { price: 1 }, response_token: { price: 1 }, gold: {} } }, 'gold'],
      [{ type: 'dynamic', pay_as_you_go: {} }, 'type'],
      [{}, 'pay_as_you_go'],
      [
        { pay_as_you_go: { request_token: { price: 1e30 }, response_token: { price: 0 } } },
        'request_token.price',
      ],
    ])('are not priced %j', async (pricing_config, word) => {
      const answer = await models(await granted(), {
        models: [{ slug: 'gpt-4o', enabled: true, pricing_config }],
      });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(word);
    });
  });

  describe('prices of the organization', () => {
    const PRICE = { pay_as_you_go: { request_token: { price: 0.0001 }, response_token: { price: 0.0002 } } };

    it('reach virtual keys and providers, and the nearer price wins', async () => {
      const slug = await aShared();
      await grant(slug, 'ws-default');
      const vk = aName();
      const near = { pay_as_you_go: { request_token: { price: 0.0007 }, response_token: { price: 0.0008 } } };
      await app.call('POST', '/v1/virtual-keys', {
        body: {
          name: 'k',
          slug: vk,
          provider: 'openai',
          key: aSecret(),
          workspace_id: 'ws-default',
          model_pricing: { near },
        },
      });
      expect(await onPath(vk)).not.toBeNull();
      for (const model of ['near', 'far%2Fmodel'])
        expect(
          (await app.call('PUT', `/v1/model-configs/pricing/openai/${model}`, { body: PRICE })).status,
        ).toBe(200);
      expect((await onPath(vk))?.prices?.get('near')?.input).toBe(7_000_000_000);
      expect((await onPath(vk))?.prices?.get('far/model')?.input).toBe(1_000_000_000);
      expect((await onPath(slug))?.prices?.get('near')?.input).toBe(1_000_000_000);
      const { body } = await app.call('GET', '/v1/model-configs/pricing');
      expect(body.data).toContainEqual(
        expect.objectContaining({ provider: 'openai', model: 'far/model', ...PRICE }),
      );
      expect((await app.call('DELETE', '/v1/model-configs/pricing/openai/near')).status).toBe(200);
      expect((await onPath(slug))?.prices?.has('near')).toBe(false);
      expect((await app.call('DELETE', '/v1/model-configs/pricing/openai/near')).status).toBe(404);
    });

    it('name units and images, reach the data plane and are shown as they were set', async () => {
      const slug = await aShared();
      await grant(slug, 'ws-default');
      const price = {
        pay_as_you_go: {
          additional_units: { input_character: { price: 0.0015 } },
          image: { hd: { '1024x1024': { price: 8 } }, default: { default: { price: 4 } } },
        },
      };
      const path = '/v1/model-configs/pricing/openai/own-media';

      expect((await app.call('PUT', path, { body: price })).status).toBe(200);
      expect((await onPath(slug))?.prices?.get('own-media')).toMatchObject({
        isByUnitOnly: true,
        units: {
          millionInputCharacters: 15_000_000_000,
          images: [
            { size: '1024x1024', quality: 'hd', amount: 80_000_000 },
            { size: null, quality: null, amount: 40_000_000 },
          ],
        },
      });
      const { body } = await app.call('GET', '/v1/model-configs/pricing');
      expect(body.data).toContainEqual(expect.objectContaining({ model: 'own-media', ...price }));
      const bad = { pay_as_you_go: { image: { hd: { '1024x1024': { price: -1 } } } } };
      expect(await app.call('PUT', path, { body: bad })).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining('image.hd.1024x1024.price') as string } },
      });
    });

    it('of a virtual key name units, too', async () => {
      const vk = aName();
      const model_pricing = {
        reader: { pay_as_you_go: { additional_units: { search_unit: { price: 0.2 } } } },
      };
      const made = await app.call('POST', '/v1/virtual-keys', {
        body: {
          name: 'k',
          slug: vk,
          provider: 'cohere',
          key: aSecret(),
          workspace_id: 'ws-default',
          model_pricing,
        },
      });

      expect(made.status).toBe(200);
      expect((await onPath(vk))?.prices?.get('reader')?.units).toEqual({
        thousandSearchUnits: 2_000_000_000,
      });
    });

    it('appear beside public list prices of units', async () => {
      const read = await app.call('GET', '/v1/model-configs/pricing/openai/tts-1', { key: '' });

      expect(read.body).toMatchObject({
        pay_as_you_go: { additional_units: { input_character: { price: 0.0015 } } },
      });
    });

    it('are hidden from workspace keys, and missing for unknown providers', async () => {
      const path = '/v1/model-configs/pricing/openai/x';
      expect((await app.call('PUT', path, { body: PRICE, key: own.key })).status).toBe(403);
      expect(
        (await app.call('PUT', '/v1/model-configs/pricing/nobody/x', { body: PRICE })).body.error.code,
      ).toBe('provider_unknown');
    });

    it('are not list prices, which are public', async () => {
      const read = await app.call('GET', '/v1/model-configs/pricing/openai/gpt-4o-mini', { key: '' });
      expect(read.status).toBe(200);
      expect(read.body).toMatchObject({
        pay_as_you_go: { request_token: { price: 0.000015 }, response_token: { price: 0.00006 } },
        currency: 'USD',
      });
      expect((await app.call('GET', '/v1/model-configs/pricing/openai/nonsense-9', { key: '' })).status).toBe(
        404,
      );
      expect((await app.call('GET', '/v1/model-configs/pricing', { key: '' })).status).toBe(401);
    });
  });

  describe('providers', () => {
    it('share the names of virtual keys, and have a list of their own', async () => {
      const slug = await aShared();
      await grant(slug, 'ws-default', { create_default_provider: false });
      const taken = aName();
      await app.call('POST', '/v1/virtual-keys', {
        body: { name: 'k', slug: taken, provider: 'openai', key: aSecret(), workspace_id: 'ws-default' },
      });
      const body = { name: 'P', integration_id: slug, workspace_id: 'ws-default' };
      expect((await app.call('POST', PROVIDERS, { body: { ...body, slug: taken } })).status).toBe(409);
      const made = await app.call('POST', PROVIDERS, { body: { ...body, slug: aName() } });
      expect(made).toMatchObject({ status: 200, body: { id: expect.any(String), slug: expect.any(String) } });
      const mine = made.body.slug as string;
      expect((await app.call('GET', `/v1/virtual-keys/${mine}`)).status).toBe(404);
      expect((await app.call('GET', '/v1/virtual-keys?page_size=100')).text).not.toContain(mine);
      expect((await app.call('GET', `${PROVIDERS}/${taken}`)).status).toBe(404);
      expect((await app.call('GET', `${PROVIDERS}/${mine}`)).body).toMatchObject({
        name: 'P',
        status: 'active',
        object: 'provider',
      });
    });

    it('are changed, and removed without their integration', async () => {
      const slug = await aShared();
      await grant(slug, 'ws-default');
      const put = await app.call('PUT', `${PROVIDERS}/${slug}`, {
        body: { name: 'New', note: 'n' },
        key: own.key,
      });
      expect(put).toMatchObject({ status: 200, body: { slug } });
      expect((await app.call('GET', `${PROVIDERS}/${slug}`)).body).toMatchObject({ name: 'New', note: 'n' });
      expect((await app.call('DELETE', `${PROVIDERS}/${slug}`, { key: ownTwo.key })).status).toBe(404);
      expect((await app.call('DELETE', `${PROVIDERS}/${slug}`, { key: own.key })).status).toBe(200);
      expect(await onPath(slug)).toBeNull();
      expect((await app.call('GET', `${INTEGRATIONS}/${slug}`)).status).toBe(200);
    });

    it.each(['the provider', 'its integration'])(
      'stay, and %s is not deleted, while a config names them',
      async (what) => {
        const slug = await aShared();
        await grant(slug, 'ws-default');
        const path = `${what === 'the provider' ? PROVIDERS : INTEGRATIONS}/${slug}`;
        const config = aName();
        const body = {
          name: config,
          slug: config,
          config: { provider: `@${slug}` },
          workspace_id: 'ws-default',
        };
        expect((await app.call('POST', '/v1/configs', { body })).status).toBe(200);
        const refused = await app.call('DELETE', path);
        expect(refused.status).toBe(409);
        expect(refused.text).toContain(`The provider ${slug} is used by the config ${config}.`);

        expect((await app.call('DELETE', `/v1/configs/${config}`)).status).toBe(200);
        expect((await app.call('DELETE', path)).status).toBe(200);
      },
    );

    it('find no integration of another organization', async () => {
      const { organizationId } = await app.anotherOrganization();
      const id = randomUUID();
      await app.dataSource.query(
        "INSERT INTO integrations (id, organization_id, slug, name, provider_id) VALUES ($1, $2, 'theirs', 'x', 'sandbox')",
        [id, organizationId],
      );
      for (const integration_id of [id, 'theirs'])
        expect(
          (
            await app.call('POST', PROVIDERS, {
              body: { name: 'P', integration_id, workspace_id: 'ws-default' },
            })
          ).status,
        ).toBe(404);
    });

    it('get one slug of two clients that chose it at once', async () => {
      const slug = await aShared();
      await grant(slug, 'ws-default', { create_default_provider: false });
      const body = { name: 'P', slug: aName(), integration_id: slug, workspace_id: 'ws-default' };
      const answers = await Promise.all([1, 2].map(() => app.call('POST', PROVIDERS, { body })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    });
  });
});
