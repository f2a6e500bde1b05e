import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credentialBindingOf } from '../../../src/common/crypto/credential-binding.js';
import { VirtualKey } from '../../../src/admin/virtual-keys/virtual-key.entity.js';
import { Organization } from '../../../src/admin/tenancy/organization.entity.js';
import { AdminApp, type Json } from '../../support/admin-app.js';

const KEYS = '/v1/virtual-keys';
/** Fields that are enough for Azure OpenAI, with others put in. */
const azure = (more: object) => ({ 'azure-resource-name': 'r', 'azure-api-version': 'v1', ...more });
const aSecret = () => `sk-canary-${randomBytes(24).toString('hex')}`;

describe('virtual keys', () => {
  let app: AdminApp;
  let workspaceTwo: string;

  beforeAll(async () => {
    app = await AdminApp.start();
    workspaceTwo = await app.anotherWorkspace('ws-two');
  });
  afterAll(() => app.close());

  const make = (more: object = {}, key?: string) =>
    app.call('POST', KEYS, {
      key,
      body: {
        name: 'OpenAI',
        provider: 'openai',
        key: aSecret(),
        workspace_id: app.first.workspace_id,
        ...more,
      },
    });
  const aSlug = async (more: object = {}): Promise<string> => (await make(more)).body.data.slug;
  const rowOf = (slug: string) => app.dataSource.getRepository(VirtualKey).findOneByOrFail({ slug });

  async function openedSecret(slug: string): Promise<string | null> {
    const row = await rowOf(slug);
    const { wrappedKey } = await app.dataSource
      .getRepository(Organization)
      .findOneByOrFail({ id: row.organizationId });
    if (!row.sealedCredentials) return null;
    const key = { organizationId: row.organizationId, wrapped: wrappedKey };
    return app.box.open(key, credentialBindingOf(row), row.sealedCredentials).reveal();
  }

  describe('making one', () => {
    it('returns its slug, and seals the secret', async () => {
      const secret = aSecret();
      const made = await make({ name: 'OpenAI (Prod)', key: secret, note: 'mine' });

      expect(made).toMatchObject({ status: 200, body: { success: true, data: { slug: 'openai-prod' } } });
      expect(await openedSecret('openai-prod')).toBe(secret);
      expect((await app.call('GET', `${KEYS}/openai-prod`)).body).toMatchObject({
        name: 'OpenAI (Prod)',
        provider: 'openai',
        note: 'mine',
        status: 'active',
        custom_host: null,
        fields: {},
        workspace_id: app.first.workspace_id,
        object: 'virtual-key',
      });
    });

    it.each([
      ['on_client_disconnect', 'finish'],
      ['unsupported_parameters', 'drop'],
    ])('keeps the rule of "%s", until it is removed', async (field, value) => {
      const slug = await aSlug({ [field]: value });
      const change = (rule: string | null) => app.call('PUT', `${KEYS}/${slug}`, { body: { [field]: rule } });
      const rule = async (): Promise<unknown> => (await app.call('GET', `${KEYS}/${slug}`)).body[field];

      expect(await rule()).toBe(value);
      expect((await change(null)).status).toBe(200);
      expect(await rule()).toBeNull();
      const refused = await change('wait');
      expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining(field)]);
    });

    it('shows the secret nowhere: responses, audit, database', async () => {
      const secret = aSecret();
      const slug = await aSlug({ key: secret });
      const again = aSecret();
      const texts = [
        (await app.call('PUT', `${KEYS}/${slug}`, { body: { key: again } })).text,
        (await app.call('PUT', `${KEYS}/${slug}`, { body: { key: again, nonsense: again } })).text,
        (await make({ key: secret, apiKey: secret, name: 7 })).text,
        (await app.call('GET', `${KEYS}/${slug}`)).text,
        (await app.call('GET', `${KEYS}?page_size=100`)).text,
        JSON.stringify(await app.audited()),
        JSON.stringify(
          await app.dataSource.query("SELECT *, encode(sealed_credentials, 'escape') FROM virtual_keys"),
        ),
      ];

      for (const text of texts)
        for (const value of [secret, again])
          for (const form of [
            value,
            Buffer.from(value).toString('base64').slice(0, 40),
            Buffer.from(value).toString('hex'),
          ])
            expect(text).not.toContain(form);
    });

    it('gives a slug that was taken an ending, unless the client chose it', async () => {
      const first = await aSlug({ name: 'Twice' });
      const second = await aSlug({ name: 'Twice' });
      const chosen = await make({ slug: 'twice' });

      expect(first).toBe('twice');
      expect(second).toMatch(/^twice-[a-z0-9]{6}$/);
      expect(chosen).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    });

    it('gives one of two clients a slug that both chose at once', async () => {
      const answers = await Promise.all([make({ slug: 'wanted' }), make({ slug: 'wanted' })]);

      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    });

    it('keeps a slug unique in the whole organization, other workspaces included', async () => {
      await make({ slug: 'shared-name' });

      expect((await make({ slug: 'shared-name', workspace_id: workspaceTwo })).status).toBe(409);
    });

    it('needs no secret for a provider that requires none', async () => {
      const slug = await aSlug({ provider: 'sandbox', key: undefined });

      expect((await rowOf(slug)).sealedCredentials).toBeNull();
    });

    it.each([
      [{ key: undefined }, 'credential_required'],
      [{ key: '' }, 'invalid_request'],
      [{ key: 'sk-a\r\nX-Evil: 1' }, 'invalid_request'],
      [{ key: ' sk-padded ' }, 'invalid_request'],
      [{ key: 123 }, 'invalid_request'],
      [{ key: ['sk'] }, 'invalid_request'],
      [{ provider: 'nobody' }, 'provider_unknown'],
      [{ provider: '__proto__' }, 'provider_unknown'],
      [{ provider: 'OPENAI' }, 'provider_unknown'],
      [{ slug: 'Upper' }, 'invalid_request'],
      [{ slug: '-a' }, 'invalid_request'],
      [{ slug: 'a/b' }, 'invalid_request'],
      [{ name: '' }, 'invalid_request'],
      [{ resourceName: 'evil.com#' }, 'invalid_request'],
      [{ fields: { resourceName: 'evil.com#' } }, 'invalid_request'],
      [{ fields: { 'openai-project': 'a\r\nb' } }, 'invalid_request'],
      [{ fields: { 'openai-project': 7 } }, 'invalid_request'],
      [{ fields: ['openai-project'] }, 'invalid_request'],
      [{ expires_at: '2001-01-01T00:00:00Z' }, 'invalid_request'],
      [{ usage_limits: { credit_limit: -5 } }, 'invalid_request'],
      [{ rate_limits: { type: 'requests', unit: 'rpx', value: 1 } }, 'invalid_request'],
      [{ secret_mappings: [7] }, 'invalid_request'],
      [{ sealed_credentials: 'AAAA' }, 'invalid_request'],
    ])('refuses %j with %s', async (more, code) => {
      const refused = await make(more);

      expect(refused.status).toBe(400);
      expect(refused.body.error.code).toBe(code);
    });

    it("refuses a gateway key in the provider's place", async () => {
      const { key } = await app.workspaceKey();
      const refused = await make({ key });

      expect(refused.body.error.message).toContain('gateway key');
      expect(refused.text).not.toContain(key);
    });

    it.each([
      ['http://127.0.0.1:9/', 403, 'custom_host_blocked'],
      ['http://169.254.169.254/latest', 403, 'custom_host_blocked'],
      ['https://10.0.0.1/v1', 403, 'custom_host_blocked'],
      ['https://localhost/v1', 403, 'custom_host_blocked'],
      ['https://user:pass@example.com/v1', 400, 'custom_host_invalid'],
      ['file:///etc/passwd', 400, 'custom_host_invalid'],
      ['//example.com', 400, 'custom_host_invalid'],
      ['', 400, 'custom_host_invalid'],
    ])('refuses the custom host %s', async (custom_host, status, code) => {
      const refused = await make({ custom_host });

      expect(refused.status).toBe(status);
      expect(refused.body.error.code).toBe(code);
    });

    it('stores a custom host in one spelling', async () => {
      const slug = await aSlug({ custom_host: 'https://LLM.example.com/v1/' });

      expect((await app.call('GET', `${KEYS}/${slug}`)).body.custom_host).toBe('https://llm.example.com/v1');
    });

    it('stores the fields that the provider knows', async () => {
      const slug = await aSlug({ fields: { 'openai-project': 'proj_4711' } });

      expect((await rowOf(slug)).fields).toEqual({ 'openai-project': 'proj_4711' });
    });

    it.each([
      ['azure-openai', { 'azure-resource-name': 'my-resource', 'azure-api-version': '2024-10-21' }],
      [
        'azure-openai',
        {
          'azure-resource-name': 'my-resource',
          'azure-api-version': 'v1',
          'azure-deployment-id': 'gpt-4.1_prod',
          'openai-beta': 'assistants=v2',
        },
      ],
      ['bedrock', { 'aws-access-key-id': 'AKIAIOSFODNN7EXAMPLE' }],
      ['bedrock', { 'aws-region': 'us-gov-west-1' }],
      [
        'azure-openai-entra',
        {
          'azure-resource-name': 'my-resource',
          'azure-api-version': 'v1',
          'azure-entra-tenant-id': 'contoso.onmicrosoft.com',
          'azure-entra-client-id': '0f9e8d7c-6b5a-4f3e-2d1c-0b9a8f7e6d5c',
        },
      ],
      [
        'bedrock',
        {
          'aws-access-key-id': 'AKIAIOSFODNN7EXAMPLE',
          'aws-region': 'eu-central-1',
          'aws-role-arn': 'arn:aws:iam::123456789012:role/team/gateway',
          'aws-external-id': 'customer:4711',
        },
      ],
      ['vertex-ai', { 'vertex-project-id': 'my-project-4711', 'vertex-region': 'europe-west4' }],
      ['bedrock-mantle', {}],
      [
        'anthropic',
        { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'files-api-2025-04-14,mcp-client-2025-04-04' },
      ],
    ])('stores the fields of %s as they were given: %j', async (provider, fields) => {
      const slug = await aSlug({ provider, fields });

      expect((await rowOf(slug)).fields).toEqual(fields);
      expect((await app.call('GET', `${KEYS}/${slug}`)).body.fields).toEqual(fields);
    });

    it.each([
      ['azure-openai', { 'azure-api-version': 'v1' }, 'needs the field "fields.azure-resource-name"'],
      ['azure-openai', { 'azure-resource-name': 'r' }, 'needs the field "fields.azure-api-version"'],
      ['vertex-ai', undefined, 'needs the field "fields.vertex-project-id"'],
      ['databricks', {}, 'for instance "dbc-a1b2c3d4-e5f6"'],
      [
        'azure-openai',
        azure({ 'azure-resource-name': 'evil.example/' }),
        '"fields.azure-resource-name" is invalid',
      ],
      [
        'azure-openai',
        azure({ 'azure-resource-name': 'a.evil.example' }),
        '"fields.azure-resource-name" is invalid',
      ],
      [
        'azure-openai',
        azure({ 'azure-resource-name': 'user@evil' }),
        '"fields.azure-resource-name" is invalid',
      ],
      ['azure-openai', azure({ 'azure-resource-name': '' }), '"fields.azure-resource-name" is invalid'],
      ['azure-openai', azure({ 'azure-resource-name': null }), '"fields.azure-resource-name" is invalid'],
      [
        'azure-openai',
        azure({ 'azure-resource-name': 'x'.repeat(10_000) }),
        '"fields.azure-resource-name" is invalid',
      ],
      [
        'azure-openai',
        azure({ 'azure-api-version': '2024-10-21&x=1' }),
        '"fields.azure-api-version" is invalid',
      ],
      ['azure-openai', azure({ 'azure-deployment-id': '..' }), '"fields.azure-deployment-id" is invalid'],
      ['azure-openai', azure({ 'azure-region': 'eu' }), 'has no field "azure-region"'],
      ['bedrock', { 'aws-access-key-id': 'AKIA/1' }, '"fields.aws-access-key-id" is invalid'],
      [
        'bedrock',
        { 'aws-region': 'evil.example', 'aws-access-key-id': 'AKIAIOSFODNN7EXAMPLE' },
        '"fields.aws-region"',
      ],
      [
        'vertex-ai',
        { 'vertex-project-id': '../x', 'vertex-region': 'europe-west4' },
        '"fields.vertex-project-id"',
      ],
      ['openai', { 'openai-project': 'x'.repeat(129) }, '"fields.openai-project" is invalid'],
      ['groq', { 'openai-project': 'p' }, 'The provider "groq" has no field "openai-project".'],
    ])('refuses for %s the fields %j and says why', async (provider, fields, reason) => {
      const refused = await make({ provider, fields });

      expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
      expect(refused.body.error.message).toContain(reason);
      expect(refused.body.error.message.length).toBeLessThan(300);
    });

    it('needs no field for an address that a custom host replaces, but the others', async () => {
      const custom_host = 'https://azure.example.com/openai';
      const fields = { 'azure-api-version': '2024-10-21' };

      expect((await make({ provider: 'azure-openai', custom_host, fields })).status).toBe(200);
      expect((await make({ provider: 'azure-openai', custom_host })).body.error.message).toContain(
        'needs the field "fields.azure-api-version"',
      );
      expect((await make({ provider: 'sagemaker', custom_host })).body.error.message).toContain(
        'needs the field "fields.aws-access-key-id"',
      );
    });

    it('suggests the provider that was probably meant', async () => {
      expect((await make({ provider: 'azure' })).body.error.message).toContain('azure-openai');
    });

    it.each(['ollama', 'vllm', 'qdrant', 'azure-ai'])(
      'needs the address of %s, which has none of its own',
      async (provider) => {
        const refused = await make({ provider });
        const made = await make({ provider, custom_host: 'https://llm.example.com/v1' });

        expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
        expect(refused.body.error.message).toContain('custom_host');
        expect(made.status).toBe(200);
      },
    );
  });

  describe('changing one', () => {
    it('changes what is named and keeps the secret', async () => {
      const secret = aSecret();
      const slug = await aSlug({ key: secret, note: 'before' });
      const changed = await app.call('PUT', `${KEYS}/${slug}`, { body: { name: 'After', note: null } });

      expect(changed).toMatchObject({ status: 200, body: {} });
      expect((await app.call('GET', `${KEYS}/${slug}`)).body).toMatchObject({
        name: 'After',
        note: null,
        slug,
      });
      expect(await openedSecret(slug)).toBe(secret);
    });

    it.each([
      [{ provider: 'groq' }],
      [{ custom_host: 'https://evil.example.com/v1' }],
      [{ custom_host: 'https://evil.example.com/v1', provider: 'openai' }],
    ])('refuses %j without the secret, and changes nothing', async (body) => {
      const slug = await aSlug();
      const before = await rowOf(slug);
      const refused = await app.call('PUT', `${KEYS}/${slug}`, { body: { ...body, name: 'Changed' } });

      expect(refused).toMatchObject({ status: 400, body: { error: { code: 'credential_required' } } });
      expect(await rowOf(slug)).toEqual(before);
    });

    it('takes another provider or host together with the secret', async () => {
      const slug = await aSlug();
      const secret = aSecret();
      const body = { provider: 'groq', custom_host: 'https://llm.example.com/v1', key: secret };
      expect((await app.call('PUT', `${KEYS}/${slug}`, { body })).status).toBe(200);

      expect(await rowOf(slug)).toMatchObject({
        providerId: 'groq',
        customHost: 'https://llm.example.com/v1',
      });
      expect(await openedSecret(slug)).toBe(secret);
    });

    it('refuses to go back to the provider without the secret', async () => {
      const slug = await aSlug({ custom_host: 'https://llm.example.com/v1' });
      const refused = await app.call('PUT', `${KEYS}/${slug}`, { body: { custom_host: null } });

      expect(refused.body.error.code).toBe('credential_required');
    });

    it('takes the same host without the secret', async () => {
      const slug = await aSlug({ custom_host: 'https://llm.example.com/v1' });
      const body = { custom_host: 'https://llm.example.com/v1/', provider: 'openai' };

      expect((await app.call('PUT', `${KEYS}/${slug}`, { body })).status).toBe(200);
    });

    it('refuses fields that the new provider does not know', async () => {
      const slug = await aSlug({ fields: { 'openai-project': 'proj_1' } });
      const body = { provider: 'groq', key: aSecret() };

      expect((await app.call('PUT', `${KEYS}/${slug}`, { body })).status).toBe(400);
      expect((await app.call('PUT', `${KEYS}/${slug}`, { body: { ...body, fields: {} } })).status).toBe(200);
    });

    it('refuses to remove the address of a provider without a default one', async () => {
      const slug = await aSlug({ provider: 'vllm', custom_host: 'https://llm.example.com/v1' });
      const body = { custom_host: null, key: aSecret() };
      const refused = await app.call('PUT', `${KEYS}/${slug}`, { body });

      expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
      expect(refused.body.error.message).toContain('custom_host');
    });

    it('refuses to remove a field that the provider needs, and accepts another value for it', async () => {
      const slug = await aSlug({ provider: 'azure-openai', fields: azure({}) });
      const put = (fields: object) => app.call('PUT', `${KEYS}/${slug}`, { body: { fields } });

      expect((await put({})).body.error.message).toContain('azure-resource-name');
      expect((await put(azure({ 'azure-api-version': '2025-01-01' }))).status).toBe(200);
      expect((await rowOf(slug)).fields).toEqual(azure({ 'azure-api-version': '2025-01-01' }));
    });

    it('needs the secret again for a field that is a part of the host', async () => {
      const slug = await aSlug({ provider: 'azure-openai', fields: azure({}) });
      const fields = azure({ 'azure-resource-name': 'other' });
      const put = (body: object) => app.call('PUT', `${KEYS}/${slug}`, { body });

      expect(await put({ fields })).toMatchObject({
        status: 400,
        body: { error: { code: 'credential_required' } },
      });
      expect((await put({ fields, key: 'sk-of-the-other' })).status).toBe(200);
      expect((await rowOf(slug)).fields).toEqual(fields);
      expect(await openedSecret(slug)).toBe('sk-of-the-other');
    });

    it.each(['slug', 'workspace_id', 'organisation_id', 'id', 'origin', 'sealed_credentials', 'created_at'])(
      'refuses to change %s',
      async (field) => {
        const slug = await aSlug();

        expect((await app.call('PUT', `${KEYS}/${slug}`, { body: { [field]: 'x' } })).status).toBe(400);
      },
    );
  });

  describe('in the database', () => {
    it('does not open after it was swapped with another one', async () => {
      const [one, two] = [await aSlug({ name: 'One' }), await aSlug({ name: 'Two' })];
      const { sealedCredentials } = await rowOf(two);
      await app.dataSource.getRepository(VirtualKey).update({ slug: one }, { sealedCredentials });

      await expect(openedSecret(one)).rejects.toMatchObject({ code: 'credential_unusable' });
      expect(await openedSecret(two)).toMatch(/^sk-canary/);
    });

    it.each([
      ['custom_host', 'https://evil.example.com'],
      ['provider_id', 'groq'],
    ])('does not open after its %s was changed behind our back', async (column, value) => {
      const slug = await aSlug();
      await app.dataSource.query(`UPDATE virtual_keys SET ${column} = $1 WHERE slug = $2`, [value, slug]);

      await expect(openedSecret(slug)).rejects.toMatchObject({ code: 'credential_unusable' });
    });

    it('cannot belong to a workspace of another organization', async () => {
      const other = await app.anotherOrganization();
      const slug = await aSlug();

      await expect(
        app.dataSource.query('UPDATE virtual_keys SET workspace_id = $1 WHERE slug = $2', [
          other.workspaceId,
          slug,
        ]),
      ).rejects.toThrow('foreign key');
    });
  });

  describe('removing one', () => {
    it('removes the credentials with it, and frees the slug', async () => {
      const slug = await aSlug({ slug: 'short-lived' });
      const { id } = await rowOf(slug);
      expect(await app.call('DELETE', `${KEYS}/${slug}`)).toMatchObject({ status: 200, body: {} });

      expect((await app.call('GET', `${KEYS}/${slug}`)).status).toBe(404);
      expect((await app.call('DELETE', `${KEYS}/${slug}`)).status).toBe(404);
      expect(app.changes.filter((change) => change.id === id)).toHaveLength(2);
      expect((await make({ slug: 'short-lived' })).status).toBe(200);
    });
  });

  describe('removing one that a config names', () => {
    it.each([
      ['as a virtual key', (slug: string) => ({ virtual_key: slug })],
      ['as a provider', (slug: string) => ({ provider: `@${slug}` })],
      [
        'in a nested target',
        (slug: string) => ({ strategy: { mode: 'fallback' }, targets: [{ provider: `@${slug}` }] }),
      ],
    ])('%s is refused with the config until it is taken out there', async (_, documentOf) => {
      const slug = await aSlug();
      const config = `pc-${randomUUID()}`;
      const workspace_id = app.first.workspace_id;
      const body = { name: config, slug: config, config: documentOf(slug), workspace_id };
      expect((await app.call('POST', '/v1/configs', { body })).status).toBe(200);
      const refused = await app.call('DELETE', `${KEYS}/${slug}`);
      expect(refused.status).toBe(409);
      expect(JSON.stringify(refused.body)).toContain(`used by the config ${config}`);

      const free = { config: { provider: 'sandbox' } };
      expect((await app.call('PUT', `/v1/configs/${config}`, { body: free })).status).toBe(200);
      expect((await app.call('DELETE', `${KEYS}/${slug}`)).status).toBe(200);
    });
  });

  describe('out of reach', () => {
    it('suggests the nearest names within reach, and no others', async () => {
      await aSlug({ slug: 'anthropic-research' });
      await aSlug({ slug: 'anthropic-elsewhere', workspace_id: workspaceTwo });
      const { key } = await app.workspaceKey();
      const messageOf = async (slug: string): Promise<string> =>
        (await app.call('GET', `${KEYS}/${slug}`, { key })).body.error.message as string;

      expect(await messageOf('anthropic-reserch')).toBe(
        'There is no such virtual key (did you mean "anthropic-research"?).',
      );
      expect(await messageOf('anthropic-elsewere')).toBe('There is no such virtual key.');
    });

    it('is the same response as for one that does not exist', async () => {
      const slug = await aSlug({ name: 'Out of reach', workspace_id: workspaceTwo });
      const { key } = await app.workspaceKey();
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const at = (name: string) =>
          app.call(method, `${KEYS}/${name}`, { key, ...(method === 'GET' ? {} : { body: {} }) });
        const absent = await at(randomUUID());
        expect(absent.status).toBe(404);
        for (const name of [
          slug,
          'no-such',
          '%00',
          encodeURIComponent("' OR 1=1--"),
          'UPPER',
          'x'.repeat(90),
        ]) {
          const answer = await at(name);
          expect(answer.text.replace(answer.body.error.request_id, '')).toBe(
            absent.text.replace(absent.body.error.request_id, ''),
          );
        }
      }
      expect(await rowOf(slug)).toMatchObject({ workspaceId: workspaceTwo });
    });

    it('is not in the list of another workspace', async () => {
      await aSlug({ name: 'Hidden', workspace_id: workspaceTwo });
      const { key } = await app.workspaceKey();
      const mine = (await app.call('GET', `${KEYS}?page_size=100&current_page=0`, { key })).body;
      const theirs = (await app.call('GET', `${KEYS}?workspace_id=ws-two`)).body;

      expect(mine.data.every((row: Json) => row.workspace_id === app.first.workspace_id)).toBe(true);
      expect(mine.total).toBe(mine.data.length);
      expect(theirs.data.every((row: Json) => row.workspace_id === workspaceTwo)).toBe(true);
      expect(theirs.total).toBeGreaterThan(0);
    });

    it('needs the scope of each operation, and names it', async () => {
      const slug = await aSlug();
      const { key } = await app.workspaceKey(['logs.view']);
      const body = { name: 'x' };
      for (const [method, path, scope] of [
        ['POST', KEYS, 'create'],
        ['GET', KEYS, 'list'],
        ['GET', `${KEYS}/${slug}`, 'read'],
        ['PUT', `${KEYS}/${slug}`, 'update'],
        ['DELETE', `${KEYS}/${slug}`, 'delete'],
      ] as const) {
        const refused = await app.call(method, path, { key, ...(method === 'GET' ? {} : { body }) });
        expect(refused.status).toBe(403);
        expect(refused.body.error.message).toContain(`virtual_keys.${scope}`);
      }
    });
  });

  describe("in the compatible API's words", () => {
    const AZURE = {
      'azure-resource-name': 'res',
      'azure-api-version': '2024-10-21',
      'azure-deployment-id': 'dep',
    };
    const deployment = [
      { apiVersion: '2024-10-21', deploymentName: 'dep', alias: 'gpt-4o', is_default: true },
    ];

    it.each([
      ['flat', { resourceName: 'res', apiVersion: '2024-10-21', deploymentName: 'dep' }],
      ['as the SDK sends them', { resource_name: 'res', api_version: '2024-10-21', deployment_name: 'dep' }],
      ['as a deployment', { resourceName: 'res', deploymentConfig: deployment }],
      ["as the SDK's deployment", { resource_name: 'res', deployment_config: deployment }],
    ])('names Azure %s', async (_, words) => {
      const slug = await aSlug({ provider: 'azure-openai', ...words });
      expect((await rowOf(slug)).fields).toEqual(AZURE);
    });

    it('changes one field of it and leaves the others and the secret', async () => {
      const slug = await aSlug({
        provider: 'azure-openai',
        resourceName: 'res',
        deploymentConfig: deployment,
      });
      const secret = await openedSecret(slug);
      expect((await app.call('PUT', `${KEYS}/${slug}`, { body: { deploymentName: 'other' } })).status).toBe(
        200,
      );
      expect((await rowOf(slug)).fields).toEqual({ ...AZURE, 'azure-deployment-id': 'other' });
      expect(await openedSecret(slug)).toBe(secret);
    });

    it.each([
      ['of a provider that has none', { resourceName: 'x' }, 'azure-resource-name'],
      [
        'with two deployments',
        { provider: 'azure-openai', deploymentConfig: [...deployment, ...deployment] },
        'deployment',
      ],
      ['with a mapping of no secret', { secret_mappings: [{ target_field: 'key' }] }, 'secret_mappings'],
    ])('refuses a key %s', async (_, words, word) => {
      const answer = await make(words);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(word);
    });
  });

  describe('a second one with the same credential', () => {
    it('stays in its workspace, and opens for its own row only', async () => {
      const secret = aSecret();
      const slug = await aSlug({ key: secret, note: 'n', name: 'First' });
      const { status, body } = await app.call('POST', `${KEYS}/${slug}/duplicate`, { body: {} });
      expect(status).toBe(200);
      const second = body.data.slug as string;
      expect(second).not.toBe(slug);
      expect(await openedSecret(second)).toBe(secret);
      expect(await rowOf(second)).toMatchObject({
        name: 'First',
        note: 'n',
        workspaceId: app.first.workspace_id,
      });
      expect((await rowOf(second)).sealedCredentials).not.toEqual((await rowOf(slug)).sealedCredentials);
    });

    it.each(['duplicate', 'copy'])('has the same limits, and counts them apart (%s)', async (verb) => {
      const limits = {
        rate_limits: [{ type: 'requests', unit: 'rpm', value: 60 }],
        usage_limits: [{ credit_limit: 10, periodic_reset_days: 7 }],
      };
      const first = await rowOf(await aSlug(limits));
      const body = verb === 'copy' ? { workspace_id: workspaceTwo } : {};
      const made = await app.call('POST', `${KEYS}/${first.slug}/${verb}`, { body });
      const second = await rowOf(made.body.data.slug);

      const [rate, budget] = [first.rateLimits?.[0], first.usageLimits?.[0]];
      expect(second.rateLimits).toEqual([{ ...rate, id: expect.any(String) }]);
      expect(second.usageLimits).toEqual([{ ...budget, id: expect.any(String) }]);
      expect(second.rateLimits?.[0]?.id).not.toBe(rate?.id);
      expect(second.usageLimits?.[0]?.id).not.toBe(budget?.id);
    });

    it('goes into another workspace within reach', async () => {
      const secret = aSecret();
      const slug = await aSlug({ key: secret });
      const to = { workspace_id: workspaceTwo, slug: 'copied-there' };
      expect((await app.call('POST', `${KEYS}/${slug}/copy`, { body: to })).body.data).toEqual({
        slug: 'copied-there',
      });
      expect((await rowOf('copied-there')).workspaceId).toBe(workspaceTwo);
      expect(await openedSecret('copied-there')).toBe(secret);
    });

    it('goes nowhere out of reach, and needs its scope', async () => {
      const slug = await aSlug();
      const own = await app.workspaceKey();
      const to = { workspace_id: workspaceTwo };
      expect((await app.call('POST', `${KEYS}/${slug}/copy`, { body: to, key: own.key })).status).toBe(404);
      const { key } = await app.workspaceKey(['virtual_keys.create']);
      expect((await app.call('POST', `${KEYS}/${slug}/duplicate`, { body: {}, key })).status).toBe(403);
      const elsewhere = await app.workspaceKey(undefined, workspaceTwo);
      expect(
        (await app.call('POST', `${KEYS}/${slug}/duplicate`, { body: {}, key: elsewhere.key })).status,
      ).toBe(404);
    });
  });
});
