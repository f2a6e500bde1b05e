import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostgresVirtualKeyDirectory } from '../../../src/adapters/directories/postgres-virtual-key-directory.js';
import { type ChangeFeed, ChangePublisher } from '../../../src/common/changes/change.js';
import { SecretManagers } from '../../../src/external-credentials/secret-managers/secret-managers.js';
import { mintApiKey } from '../../../src/common/crypto/api-key-format.js';
import { hashApiKey } from '../../../src/common/crypto/key-hash.js';
import type { Secret } from '../../../src/common/settings/secret.js';
import { AdminApp, adminScopes } from '../../support/admin-app.js';
import { mappedCredentials } from '../../support/external-secrets.js';
import { VaultServer } from '../../support/upstreams/vault.js';

const REFERENCES = '/v1/secret-references';
const KEYS = '/v1/virtual-keys';
const TTL_MS = 60_000;
const aSecret = () => `sk-canary-${randomBytes(24).toString('hex')}`;
let named = 0;
const aName = () => `thing-${++named}`;

describe('secret references', () => {
  let app: AdminApp;
  let vault: VaultServer;
  let folder: string;
  let workspaceTwo: string;
  let ownTwo: { key: string };
  let now: number;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'secret-files-'));
    vault = await VaultServer.start();
    app = await AdminApp.start({
      GATEHOUSE_EGRESS_ALLOW: `127.0.0.1:${new URL(vault.address).port}`,
      GATEHOUSE_SECRETS_DIR: folder,
    });
    workspaceTwo = await app.anotherWorkspace('ws-two');
    ownTwo = await app.workspaceKey(undefined, workspaceTwo);
  });
  beforeEach(() => {
    now = 0;
    vault.fault = null;
    vault.calls.length = 0;
  });
  afterAll(async () => {
    await app.close();
    await vault.close();
    rmSync(folder, { recursive: true });
  });

  /** An admin key of another organization. */
  const aStranger = async (): Promise<string> => {
    const { organizationId } = await app.anotherOrganization();
    const [userId, ownerId, secret] = [randomUUID(), await app.anOwner(), mintApiKey('admin')];
    const copy = (table: string, changes: object, where: string, id: string) =>
      app.dataSource.query(
        `INSERT INTO ${table} SELECT (jsonb_populate_record(NULL::${table}, to_jsonb(row) || $1)).* FROM ${table} row WHERE ${where} = $2`,
        [JSON.stringify({ organization_id: organizationId, ...changes }), id],
      );
    await copy('users', { id: userId, email: `${userId}@example.com` }, 'id', ownerId);
    const { id } = (
      await app.call('POST', '/v1/api-keys/organisation/service', {
        body: { name: 'x', scopes: adminScopes() },
      })
    ).body;
    const pepper = app.settings.keyPepper as Secret;
    const key_hash = `\\x${hashApiKey(pepper, secret.reveal()).toString('hex')}`;
    await copy('api_keys', { id: randomUUID(), created_by_user_id: userId, key_hash }, 'id', id);
    return secret.reveal();
  };

  /** What a gateway process holds, with a clock of the test. */
  const aProcess = () => {
    const changes = app.app.get<ChangePublisher & ChangeFeed>(ChangePublisher);
    const mapped = mappedCredentials(app.box, app.app.get(SecretManagers), { ttlMs: TTL_MS, now: () => now });
    const directory = new PostgresVirtualKeyDirectory(app.dataSource, changes, app.box, 60_000, mapped);
    const find = async (slug: string, workspaceId = app.first.workspace_id) =>
      (await directory.find({ organizationId: app.first.organisation_id, workspaceId }, slug))?.credentials;
    return {
      directory,
      values: mapped.values,
      find,
      keyOf: async (slug: string) => (await find(slug))?.key?.reveal(),
    };
  };

  const tokenAuth = () => ({
    vault_auth_type: 'token',
    vault_addr: vault.address,
    vault_token: vault.rootToken,
  });
  const roleAuth = () => ({
    vault_auth_type: 'approle',
    vault_addr: vault.address,
    vault_role_id: vault.role.role_id,
    vault_secret_id: vault.role.secret_id,
  });

  const create = (more: object = {}, key?: string) =>
    app.call('POST', REFERENCES, {
      body: {
        name: 'A secret',
        slug: aName(),
        manager_type: 'hashicorp_vault',
        auth_config: tokenAuth(),
        secret_path: 'secret/openai',
        ...more,
      },
      key,
    });
  const createKey = (more: object = {}, key?: string) =>
    app.call('POST', KEYS, {
      body: { name: 'A key', slug: aName(), provider: 'openai', workspace_id: 'ws-default', ...more },
      key,
    });
  const mapping = (reference: string, more: object = {}) => ({
    secret_mappings: [{ target_field: 'key', secret_reference_id: reference, ...more }],
  });
  /** A virtual key whose key is in a secret of its own. */
  const mappedKey = async (value = aSecret(), more: object = {}) => {
    const path = aName();
    vault.put(`secret/data/${path}`, { api_key: value });
    const created = await create({ secret_path: `secret/${path}`, ...more });
    expect(created.text).toContain('"object":"secret-reference"');
    const reference = created.body;
    const made = await createKey(mapping(reference.slug));
    expect(made.text).toContain('"success":true');
    return { slug: made.body.data.slug as string, path: `secret/data/${path}`, value, reference };
  };

  describe('as a resource', () => {
    it('are created, listed, read, changed and deleted, with masked credentials', async () => {
      const slug = aName();
      const made = await create({ slug, auth_config: roleAuth(), tags: { team: slug }, description: 'x' });
      expect(made).toMatchObject({ status: 200, body: { slug, object: 'secret-reference' } });
      const { id } = made.body;

      const read = await app.call('GET', `${REFERENCES}/${slug}`);
      expect(read.body).toMatchObject({
        id,
        manager_type: 'hashicorp_vault',
        secret_path: 'secret/openai',
        allow_all_workspaces: true,
        status: 'ACTIVE',
        auth_config: { vault_role_id: vault.role.role_id, vault_secret_id: '***' },
      });
      expect(read.text).not.toContain(vault.role.secret_id);

      for (const query of [
        `search=${slug}`,
        `tags=team:${slug}`,
        `search=${slug}&manager_type=hashicorp_vault`,
      ])
        expect((await app.call('GET', `${REFERENCES}?${query}`)).body).toMatchObject({
          total: 1,
          data: [{ id, slug }],
        });
      expect((await app.call('GET', `${REFERENCES}?search=${slug}&manager_type=aws_sm`)).body.total).toBe(0);

      const changed = await app.call('PUT', `${REFERENCES}/${id}`, {
        body: { name: 'Renamed', allowed_workspaces: ['ws-two'], allow_all_workspaces: false },
      });
      expect(changed.status).toBe(200);
      expect((await app.call('GET', `${REFERENCES}/${id}`)).body).toMatchObject({
        name: 'Renamed',
        allow_all_workspaces: false,
        allowed_workspaces: [workspaceTwo],
      });
      expect((await app.call('DELETE', `${REFERENCES}/${id}`)).status).toBe(200);
      expect((await app.call('GET', `${REFERENCES}/${id}`)).status).toBe(404);
    });

    it.each([
      [{ auth_config: { vault_auth_type: 'ldap' } }, 'auth_config.vault_auth_type'],
      [{ auth_config: {} }, 'auth_config.vault_auth_type'],
      [{ auth_config: { ...{ vault_auth_type: 'token', vault_token: 'x' } } }, 'auth_config.vault_addr'],
      [{ secret_path: 'secret/../other' }, 'secret_path'],
      [{ secret_path: 'no-mount' }, 'secret_path'],
      [{ manager_type: 'file', auth_config: { x: '1' }, secret_path: 'a' }, 'auth_config.x'],
      [{ manager_type: 'file', auth_config: {}, secret_path: '../a' }, 'secret_path'],
      [{ allow_all_workspaces: false }, 'allowed_workspaces'],
      [{ organisation_id: randomUUID() }, 'organisation_id'],
    ])('with %j are refused by the name of the field', async (body, param) => {
      expect(await create(body)).toMatchObject({ status: 400, body: { error: { param } } });
    });

    it('refuse an address that the egress rules block', async () => {
      const auth = { ...tokenAuth(), vault_addr: 'http://169.254.169.254/latest' };
      expect(await create({ auth_config: auth })).toMatchObject({
        status: 403,
        body: { error: { code: 'custom_host_blocked' } },
      });
    });

    it('refuse the identity of the machine unless the operator allows it', async () => {
      const machine = [
        ['aws_sm', { aws_auth_type: 'serviceRole', aws_region: 'eu-central-1' }, 'a'],
        [
          'hashicorp_vault',
          { vault_auth_type: 'kubernetes', vault_addr: vault.address, vault_role: 'x' },
          'a/b',
        ],
        ['azure_kv', { azure_auth_mode: 'managed', azure_vault_url: 'https://x.vault.azure.net' }, 'a'],
        ['gcp_sm', { gcp_auth_type: 'workloadIdentity' }, 'projects/p/secrets/s'],
      ] as const;
      for (const [manager_type, auth_config, secret_path] of machine)
        expect(await create({ manager_type, auth_config, secret_path })).toMatchObject({
          status: 403,
          body: { error: { code: 'workload_identity_refused' } },
        });
    });

    it('with the identity of the machine are refused at an address of the tenant, and taken at the cloud', async () => {
      const allowed = await AdminApp.start({ GATEHOUSE_WORKLOAD_IDENTITY_ORGANIZATIONS: '*' });
      try {
        const save = (slug: string, auth_config: object, manager_type = 'azure_kv') =>
          allowed.call('POST', REFERENCES, {
            body: {
              name: slug,
              slug,
              manager_type,
              auth_config,
              secret_path: manager_type === 'azure_kv' ? 'a' : 'a/b',
            },
          });
        const azure = (azure_vault_url: string) => ({ azure_auth_mode: 'managed', azure_vault_url });
        const kubernetes = { vault_auth_type: 'kubernetes', vault_role: 'x' };
        const refused = { status: 403, body: { error: { code: 'workload_identity_address_refused' } } };
        expect(await save('own-azure', azure('https://vault.example.com'))).toMatchObject(refused);
        expect(
          await save(
            'own-vault',
            { ...kubernetes, vault_addr: 'https://vault.example.com' },
            'hashicorp_vault',
          ),
        ).toMatchObject(refused);
        expect((await save('azure', azure('https://my-vault.vault.azure.net'))).status).toBe(200);
        const changed = { auth_config: azure('https://vault.example.com') };
        expect(await allowed.call('PUT', `${REFERENCES}/azure`, { body: changed })).toMatchObject(refused);
      } finally {
        await allowed.close();
      }
    });

    it('of another organization are not found', async () => {
      const stranger = await aStranger();
      const { slug, id } = (await create()).body;
      for (const name of [slug, id])
        for (const [method, body] of [['GET'], ['PUT', { name: 'x' }], ['DELETE']] as const)
          expect((await app.call(method, `${REFERENCES}/${name}`, { key: stranger, body })).status).toBe(404);
      expect((await app.call('GET', REFERENCES, { key: stranger })).body.total).toBe(0);
    });

    it('are deleted only when nothing uses them, also if a virtual key is saved at the same time', async () => {
      const { reference, slug } = await mappedKey();
      const refused = await app.call('DELETE', `${REFERENCES}/${reference.id}`);
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
      expect(refused.text).toContain(`virtual key ${slug}`);

      const other = (await create()).body;
      const [made, removed] = await Promise.all([
        createKey(mapping(other.slug)),
        app.call('DELETE', `${REFERENCES}/${other.id}`),
      ]);
      expect([
        [200, 409],
        [404, 200],
      ]).toContainEqual([made.status, removed.status]);
    });
  });

  describe('in a virtual key', () => {
    it('provide its key, and only the first request reads it', async () => {
      const { slug, value, path } = await mappedKey();
      const { keyOf, directory } = aProcess();
      expect(await keyOf(slug)).toBe(value);
      expect(vault.calls).toEqual([`read ${path}`]);
      const reach = { organizationId: app.first.organisation_id, workspaceId: app.first.workspace_id };
      const found = directory.find(reach, slug);
      expect(found).not.toBeInstanceOf(Promise);
      expect(directory.find(reach, slug)).toBe(found);
      expect(vault.calls).toHaveLength(1);
    });

    it('are shown by id, without their values', async () => {
      const { slug, value, reference } = await mappedKey();
      const shown = await app.call('GET', `${KEYS}/${slug}`);
      expect(shown.body.secret_mappings).toEqual([
        { target_field: 'key', secret_reference_id: reference.id, secret_key: null, value_format: null },
      ]);
      expect(shown.text).not.toContain(value);
    });

    it('provide account fields, too, each from its own member of the secret', async () => {
      const path = aName();
      const value = aSecret();
      vault.put(`secret/data/${path}`, { id: 'AKIAIOSFODNN7EXAMPLE', secret: value });
      const { slug: reference } = (await create({ secret_path: `secret/${path}` })).body;
      const made = await createKey({
        provider: 'bedrock',
        secret_mappings: [
          {
            target_field: 'configurations.aws_secret_access_key',
            secret_reference_id: reference,
            secret_key: 'secret',
          },
          {
            target_field: 'configurations.aws_access_key_id',
            secret_reference_id: reference,
            secret_key: 'id',
          },
        ],
      });
      expect(made.status).toBe(200);
      const credentials = await aProcess().find(made.body.data.slug);
      expect(credentials?.key?.reveal()).toBe(value);
      expect(credentials?.fields).toMatchObject({ 'aws-access-key-id': 'AKIAIOSFODNN7EXAMPLE' });
    });

    it('may not decide where requests go, may not be combined with a key, and may not be mapped twice', async () => {
      const { slug } = (await create()).body;
      const one = (target_field: string) => ({ target_field, secret_reference_id: slug });
      for (const body of [
        { provider: 'bedrock', secret_mappings: [one('configurations.aws_region')] },
        { provider: 'bedrock', secret_mappings: [one('key'), one('configurations.workload_identity')] },
        { secret_mappings: [one('configurations.unknown')] },
        { secret_mappings: [one('key'), one('key')] },
        { secret_mappings: [one('key')], key: aSecret() },
      ])
        expect(await createKey(body)).toMatchObject({
          status: 400,
          body: { error: { code: 'invalid_request' } },
        });
    });

    it('of another organization, and of other workspaces only, are not found', async () => {
      const stranger = await aStranger();
      const theirs = (await create({}, stranger)).body;
      const notOurs = (await create({ allow_all_workspaces: false, allowed_workspaces: ['ws-two'] })).body;
      for (const { slug, id } of [theirs, notOurs])
        for (const name of [slug, id])
          expect(await createKey(mapping(name))).toMatchObject({
            status: 404,
            body: { error: { code: 'not_found' } },
          });
      expect((await createKey({ ...mapping(notOurs.slug), workspace_id: 'ws-two' }, ownTwo.key)).status).toBe(
        200,
      );
    });

    it('leave a workspace that may no longer use them at once', async () => {
      const { slug, reference } = await mappedKey();
      const { keyOf } = aProcess();
      await keyOf(slug);
      await app.call('PUT', `${REFERENCES}/${reference.id}`, {
        body: { allow_all_workspaces: false, allowed_workspaces: ['ws-two'] },
      });
      await expect(keyOf(slug)).rejects.toMatchObject({ code: 'secret_unusable' });
    });

    it('go to a custom host only for an administrator, and to another one only if they are named again', async () => {
      const own = await app.workspaceKey();
      const { reference, slug } = await mappedKey();
      const host = { custom_host: 'https://elsewhere.example/v1' };
      expect((await createKey({ ...mapping(reference.slug), ...host }, own.key)).status).toBe(403);
      expect((await app.call('PUT', `${KEYS}/${slug}`, { body: host, key: own.key })).status).toBe(403);
      expect(await app.call('PUT', `${KEYS}/${slug}`, { body: host })).toMatchObject({
        status: 400,
        body: { error: { code: 'credential_required', param: 'secret_mappings' } },
      });
      const again = { ...host, ...mapping(reference.slug) };
      expect((await app.call('PUT', `${KEYS}/${slug}`, { body: again })).status).toBe(200);
    });

    it('are replaced by a key of its own, and the other way round', async () => {
      const { slug, reference, value } = await mappedKey();
      const { keyOf } = aProcess();
      const own = aSecret();
      const put = (body: object) => app.call('PUT', `${KEYS}/${slug}`, { body });
      expect((await put({ secret_mappings: null })).body.error.code).toBe('credential_required');
      expect((await put({ secret_mappings: null, key: own })).status).toBe(200);
      expect(await keyOf(slug)).toBe(own);
      expect((await put(mapping(reference.slug))).status).toBe(200);
      expect(await keyOf(slug)).toBe(value);
      const [row] = await app.dataSource.query(
        'SELECT sealed_credentials FROM virtual_keys WHERE slug = $1',
        [slug],
      );
      expect(row.sealed_credentials).toBeNull();
    });

    it('are checked again when the virtual key is copied to another workspace', async () => {
      const { slug, reference } = await mappedKey();
      await app.call('PUT', `${REFERENCES}/${reference.id}`, {
        body: { allow_all_workspaces: false, allowed_workspaces: ['ws-default'] },
      });
      const copied = await app.call('POST', `${KEYS}/${slug}/copy`, { body: { workspace_id: 'ws-two' } });
      expect(copied.status).toBe(404);
      expect((await app.call('POST', `${KEYS}/${slug}/duplicate`, { body: {} })).status).toBe(200);
    });
  });

  it('provide the key of an integration for the workspaces that may use both', async () => {
    const path = aName();
    const value = aSecret();
    vault.put(`secret/data/${path}`, { api_key: value });
    const reference = (
      await create({
        secret_path: `secret/${path}`,
        allow_all_workspaces: false,
        allowed_workspaces: ['ws-default'],
      })
    ).body;
    const made = await app.call('POST', '/v1/integrations', {
      body: { name: 'OpenAI', slug: aName(), ai_provider_id: 'openai', ...mapping(reference.slug) },
    });
    expect(made.status).toBe(200);
    const { slug } = made.body;
    await app.call('PUT', `/v1/integrations/${slug}/workspaces`, {
      body: { workspaces: [{ id: 'ws-default', enabled: true }] },
    });
    const second = await app.call('POST', '/v1/providers', {
      body: { name: 'x', slug: aName(), integration_id: slug, workspace_id: 'ws-two' },
    });
    const { find } = aProcess();
    expect((await find(slug))?.key?.reveal()).toBe(value);
    expect(second.status).toBe(404);
    await app.call('PUT', `/v1/integrations/${slug}/workspaces`, {
      body: { workspaces: [{ id: 'ws-two', enabled: true }] },
    });
    const provider = await app.call('POST', '/v1/providers', {
      body: { name: 'x', slug: aName(), integration_id: slug, workspace_id: 'ws-two' },
    });
    await expect(find(provider.body.slug, workspaceTwo)).rejects.toMatchObject({ code: 'secret_unusable' });
    expect((await app.call('DELETE', `${REFERENCES}/${reference.id}`)).text).toContain(`integration ${slug}`);
    expect((await app.call('GET', `/v1/integrations/${slug}`)).body).toMatchObject({ masked_key: null });
  });

  describe('of a secret that changes', () => {
    it('are read again in the background after their lifetime, in every process', async () => {
      const { slug, path, value } = await mappedKey();
      const [one, two] = [aProcess(), aProcess()];
      for (const process of [one, two]) expect(await process.keyOf(slug)).toBe(value);
      const next = aSecret();
      vault.put(path, { api_key: next });
      expect(await one.keyOf(slug)).toBe(value);
      now += TTL_MS + 1;
      for (const process of [one, two]) {
        expect(await process.keyOf(slug)).toBe(value);
        await expect.poll(() => process.keyOf(slug)).toBe(next);
      }
    });

    it('are read before they are used after twice their lifetime', async () => {
      const { slug, path } = await mappedKey();
      const { keyOf } = aProcess();
      await keyOf(slug);
      const next = aSecret();
      vault.put(path, { api_key: next });
      now += 2 * TTL_MS;
      expect(await keyOf(slug)).toBe(next);
    });

    it('are read early once when the provider refuses them', async () => {
      const { slug, path, value } = await mappedKey();
      const { directory, find, keyOf } = aProcess();
      await find(slug);
      const { id } = (await app.call('GET', `${KEYS}/${slug}`)).body;
      const next = aSecret();
      vault.put(path, { api_key: next });
      expect(await keyOf(slug)).toBe(value);
      directory.credentialRefused(id);
      await expect.poll(() => keyOf(slug)).toBe(next);

      vault.calls.length = 0;
      directory.credentialRefused(id);
      await expect.poll(() => vault.calls.length).toBe(1);
      for (let times = 0; times < 5; times++) directory.credentialRefused(id);
      await keyOf(slug);
      expect(vault.calls).toHaveLength(1);
    });

    it('are read again after a change of the reference', async () => {
      const { slug, reference } = await mappedKey();
      const { keyOf } = aProcess();
      await keyOf(slug);
      const next = aSecret();
      const other = aName();
      vault.put(`secret/data/${other}`, { api_key: next });
      await app.call('PUT', `${REFERENCES}/${reference.id}`, { body: { secret_path: `secret/${other}` } });
      await expect.poll(() => keyOf(slug)).toBe(next);
    });
  });

  describe('whose manager fails', () => {
    it('keep their last value while it is unavailable, and read the new one afterwards', async () => {
      const { slug, value, path } = await mappedKey();
      const { keyOf } = aProcess();
      await keyOf(slug);
      for (const fault of ['down', 'sealed'] as const) {
        vault.fault = fault;
        now += 3 * TTL_MS;
        expect(await keyOf(slug)).toBe(value);
      }
      vault.fault = null;
      const next = aSecret();
      vault.put(path, { api_key: next });
      now += 10_000;
      await keyOf(slug);
      await expect.poll(() => keyOf(slug)).toBe(next);
    });

    it('are refused with 503 while they have no value, without a flood of calls', async () => {
      const { slug, value } = await mappedKey();
      vault.fault = 'down';
      const { keyOf } = aProcess();
      await expect(keyOf(slug)).rejects.toMatchObject({ code: 'secret_unavailable' });
      const calls = vault.calls.length;
      await expect(keyOf(slug)).rejects.toMatchObject({ code: 'secret_unavailable' });
      expect(vault.calls).toHaveLength(calls);
      vault.fault = null;
      now += 6_000;
      expect(await keyOf(slug)).toBe(value);
    });

    it('lose their value when it denies access or has no such secret', async () => {
      for (const [fault, remove] of [
        ['denied', false],
        [null, true],
      ] as const) {
        const { slug, path } = await mappedKey();
        const { keyOf } = aProcess();
        await keyOf(slug);
        vault.fault = fault;
        if (remove) vault.delete(path);
        now += 3 * TTL_MS;
        const error: unknown = await keyOf(slug).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: 'secret_unusable' });
        expect(String(error)).not.toContain(vault.rootToken);
        vault.fault = null;
      }
    });

    it('start from the snapshot of the previous process, and without one are refused', async () => {
      const { slug, value } = await mappedKey();
      const before = aProcess();
      before.values.keepRows();
      await before.keyOf(slug);
      const rows = [...before.values.kept()];
      expect(JSON.stringify(rows)).not.toContain(value);
      vault.fault = 'down';

      const [restored, without] = [aProcess(), aProcess()];
      expect(rows.filter((row) => restored.values.takeBack(row))).toHaveLength(1);
      expect(await restored.keyOf(slug)).toBe(value);
      await expect(without.keyOf(slug)).rejects.toMatchObject({ code: 'secret_unavailable' });

      vault.fault = null;
      const next = aSecret();
      vault.put(rowPath(rows), { api_key: next });
      const later = aProcess();
      for (const row of rows) later.values.takeBack(row);
      expect(await later.keyOf(slug)).toBe(next);
    });
  });

  describe('of Vault', () => {
    it('sign in by AppRole once for all secrets, and again when the token has expired or was revoked', async () => {
      const keys = [await mappedKey(aSecret(), { auth_config: roleAuth() })];
      keys.push(await mappedKey(aSecret(), { auth_config: roleAuth() }));
      const { keyOf } = aProcess();
      for (const { slug, value } of keys) expect(await keyOf(slug)).toBe(value);
      expect(vault.calls.filter((call) => call === 'login').length).toBeLessThanOrEqual(1);
      vault.revokeTokens();
      vault.calls.length = 0;
      now += 2 * TTL_MS;
      for (const { slug, value } of keys) expect(await keyOf(slug)).toBe(value);
      expect(vault.calls.filter((call) => call === 'login')).toHaveLength(1);
    });

    it('with a wrong secret id are refused without the secret in the error', async () => {
      const { slug } = await mappedKey(aSecret(), {
        auth_config: { ...roleAuth(), vault_secret_id: 'canary-wrong-id' },
      });
      const error: unknown = await aProcess()
        .keyOf(slug)
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'secret_unusable' });
      expect(String(error)).not.toContain('canary');
    });
  });

  describe('of files', () => {
    const fileKey = async (secret_path: string) => {
      const reference = (await create({ manager_type: 'file', auth_config: {}, secret_path })).body;
      return (await createKey(mapping(reference.slug))).body.data.slug as string;
    };
    const own = () => join(folder, app.first.organisation_id);
    beforeAll(() => mkdirSync(own(), { recursive: true }));
    afterEach(() => rmSync(join(folder, 'outside'), { force: true }));

    it('read a file of the organization, without white space around it', async () => {
      const value = aSecret();
      writeFileSync(join(own(), 'openai'), `${value}\n`);
      expect(await aProcess().keyOf(await fileKey('openai'))).toBe(value);
    });

    it('refuse a link out of the folder, a folder, and a file that is absent', async () => {
      writeFileSync(join(folder, 'outside'), aSecret());
      symlinkSync(join(folder, 'outside'), join(own(), 'link'));
      mkdirSync(join(own(), 'sub'), { recursive: true });
      for (const path of ['link', 'sub', 'absent'])
        await expect(aProcess().keyOf(await fileKey(path))).rejects.toMatchObject({
          code: 'secret_unusable',
        });
    });
  });

  it('never show a secret: not in a response, an audit record, a row of the database or a snapshot', async () => {
    const canaries: string[] = [vault.rootToken, vault.role.secret_id];
    for (let times = 0; times < 2; times++) {
      const { slug, value } = await mappedKey(aSecret(), { auth_config: times ? roleAuth() : tokenAuth() });
      canaries.push(value);
      await aProcess().keyOf(slug);
      await app.call('PUT', `${KEYS}/${slug}`, { body: { name: 'x' } });
    }
    const tables: { name: string }[] = await app.dataSource.query(
      "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    for (const { name } of tables) {
      const rows: { row: string }[] = await app.dataSource.query(`SELECT t::text AS row FROM ${name} t`);
      const text = rows.map(({ row }) => row).join('\n');
      for (const canary of canaries) {
        expect(text, name).not.toContain(canary);
        expect(text, name).not.toContain(Buffer.from(canary).toString('hex'));
      }
    }
  });
});

/** The path at the manager of the only row. */
const rowPath = (rows: readonly { readonly asked: unknown }[]): string =>
  (rows[0]?.asked as { secret_path: string }).secret_path.replace('secret/', 'secret/data/');
