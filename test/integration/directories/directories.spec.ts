import { randomBytes, randomUUID } from 'node:crypto';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PostgresApiKeyDirectory } from '../../../src/adapters/directories/postgres-api-key-directory.js';
import { PostgresChangeFeed } from '../../../src/adapters/changes/postgres-change-feed.js';
import { PostgresChangePublisher } from '../../../src/adapters/changes/postgres-change-publisher.js';
import { PostgresUsableKeys } from '../../../src/adapters/directories/postgres-usable-keys.js';
import { PostgresVirtualKeyDirectory } from '../../../src/adapters/directories/postgres-virtual-key-directory.js';
import type { Change } from '../../../src/common/changes/change.js';
import { SecretBox } from '../../../src/common/crypto/envelope.js';
import type { OrganizationRole, WorkspaceRole } from '../../../src/common/contracts/roles.js';
import { type ApiKeyKind, mintApiKey, visiblePartsOf } from '../../../src/common/crypto/api-key-format.js';
import { hashApiKey } from '../../../src/common/crypto/key-hash.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { QueryPool } from '../../../src/database/sessions/query-pool.js';
import { credentialBindingOf } from '../../../src/common/crypto/credential-binding.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { AppError } from '../../../src/common/errors/app-error.js';
import { mappedCredentials } from '../../support/external-secrets.js';
import { type TestDatabase, freshDatabase } from '../../support/database.js';
import { sleep } from '../../support/waiting.js';

const key32 = () => new Secret(randomBytes(32).toString('base64'));
const PEPPER = key32();
const BOX = new SecretBox(key32());
const STALE_MS = 60_000;

const issueApiKey = (kind: ApiKeyKind) => {
  const secret = mintApiKey(kind);
  return { secret, keyHash: hashApiKey(PEPPER, secret.reveal()), ...visiblePartsOf(secret) };
};

let database: TestDatabase;
let admin: DataSource;
let publisher: PostgresChangePublisher;
const tenant = { organizationId: randomUUID(), workspaceId: randomUUID() };
const otherWorkspaceId = randomUUID();
const crowdedWorkspaceId = randomUUID();
let owner: string;
const organizationKey = BOX.makeOrganizationKey(tenant.organizationId);

/** What each test opens, closed after it, the newest first. */
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  admin = database.dataSource;
  publisher = new PostgresChangePublisher(new UnitOfWork(admin));
  await admin.query('INSERT INTO organizations (id, name, wrapped_key) VALUES ($1, $2, $3)', [
    tenant.organizationId,
    'Org',
    organizationKey.wrapped,
  ]);
  for (const id of [tenant.workspaceId, otherWorkspaceId, crowdedWorkspaceId])
    await admin.query('INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, $3, $4)', [
      id,
      tenant.organizationId,
      'Workspace',
      id,
    ]);
  owner = await aPerson('owner');
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

afterAll(() => database.drop());

/** A TCP relay before PostgreSQL that can be stopped, as a database goes away without anyone's telling. */
const relay = async () => {
  const target = new URL(database.url);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;
  const start = async () => {
    const made = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname);
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => [client, upstream].forEach((one) => one.destroy()));
      }
      client.pipe(upstream).pipe(client);
    });
    server = made;
    await new Promise<void>((ready) => made.listen(port, '127.0.0.1', ready));
    port = (made.address() as AddressInfo).port;
  };
  const stop = async () => {
    const stopping = server;
    server = undefined;
    const closed = new Promise<void>((done) => (stopping ? stopping.close(() => done()) : done()));
    sockets.forEach((socket) => socket.destroy());
    sockets.clear();
    await closed;
  };
  await start();
  closers.push(stop);
  const url = new URL(database.url);
  url.port = String(port);
  return { url: url.href, start, stop };
};

/** What a gateway process holds: a pool, a bus and both directories of its own. */
const aProcess = async (url = database.url, staleKeysMs = STALE_MS) => {
  const pool = new QueryPool(url, 4);
  const changes = new PostgresChangeFeed(new Secret(url));
  const heard: (Change | null)[] = [];
  const apiKeys = new PostgresApiKeyDirectory(pool, changes, { pepper: PEPPER, staleKeysMs });
  const virtualKeys = new PostgresVirtualKeyDirectory(
    pool,
    changes,
    BOX,
    staleKeysMs,
    mappedCredentials(BOX),
  );
  const usableKeys = new PostgresUsableKeys(pool, changes, staleKeysMs);
  changes.subscribe((change) => heard.push(change));
  closers.push(
    () => pool.close(),
    () => changes.onApplicationShutdown(),
  );
  await expect.poll(() => heard.length).toBeGreaterThan(0);
  return { apiKeys, virtualKeys, usableKeys, heard };
};

const anApiKey = async (given: Readonly<Record<string, unknown>> = {}, kind: ApiKeyKind = 'ws') => {
  const { secret, keyHash, prefix, lastFour } = issueApiKey(kind);
  const row = {
    id: randomUUID(),
    kind: kind === 'admin' ? 'organisation-service' : 'workspace-service',
    organization_id: tenant.organizationId,
    workspace_id: kind === 'admin' ? null : tenant.workspaceId,
    creation_mode: 'api',
    created_by_user_id: owner,
    name: 'a key',
    key_hash: keyHash,
    prefix,
    last_four: lastFour,
    scopes: ['completions.write', 'logs.list', 'no.such.scope'],
    ...given,
  };
  await insert('api_keys', row);
  return { id: row.id, secret: secret.reveal() };
};

const aVirtualKey = async (given: Readonly<Record<string, unknown>> = {}) => {
  const id = randomUUID();
  const row = {
    id,
    organization_id: tenant.organizationId,
    workspace_id: tenant.workspaceId,
    slug: `vk-${id}`,
    name: 'a virtual key',
    provider_id: 'openai',
    custom_host: null as string | null,
    fields: JSON.stringify({ project: 'p1' }),
    ...given,
  };
  const binding = credentialBindingOf({ ...tenant, id, providerId: 'openai', customHost: row.custom_host });
  await insert('virtual_keys', {
    ...row,
    sealed_credentials: BOX.seal(organizationKey, binding, new Secret('sk-one')),
  });
  return { id, slug: row.slug };
};

const insert = (table: string, row: Readonly<Record<string, unknown>>) => {
  const names = Object.keys(row);
  const places = names.map((_, i) => `$${i + 1}`);
  return admin.query(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`,
    Object.values(row),
  );
};

const aPerson = async (role: OrganizationRole, inWorkspace?: WorkspaceRole): Promise<string> => {
  const { organizationId, workspaceId } = tenant;
  const id = randomUUID();
  await insert('users', { id, organization_id: organizationId, email: `${id}@example.com`, role });
  if (inWorkspace)
    await insert('workspace_members', {
      workspace_id: workspaceId,
      user_id: id,
      organization_id: organizationId,
      role: inWorkspace,
    });
  return id;
};

const revoke = async (id: string) => {
  await admin.query('UPDATE api_keys SET deleted_at = now(), key_hash = NULL WHERE id = $1', [id]);
  await publisher.publish({ resource: 'api_key', id });
};

const code = async (found: unknown): Promise<unknown> => {
  try {
    return await found;
  } catch (error) {
    return error instanceof AppError ? error.code : error;
  }
};

describe('PostgresApiKeyDirectory', () => {
  it('knows who a key belongs to, the second time without a promise', async () => {
    const { apiKeys } = await aProcess();
    const { id, secret } = await anApiKey();

    const known = await apiKeys.find(secret);

    expect(known).toEqual({
      expiresAt: null,
      principal: {
        kind: 'workspace_service_key',
        apiKeyId: id,
        name: 'a key',
        organizationId: tenant.organizationId,
        workspaceId: tenant.workspaceId,
        userId: null,
        authorityId: owner,
        policy: null,
        scopes: new Set(['completions.write', 'logs.list']),
      },
    });
    expect(apiKeys.find(secret)).toBe(known);
  });

  it('lets a key do no more than its creator may do now', async () => {
    const { apiKeys } = await aProcess();
    const manager = await aPerson('member', 'manager');
    const { secret } = await anApiKey({
      created_by_user_id: manager,
      scopes: ['completions.write', 'virtual_keys.create', 'organisation_users.create'],
    });
    const scopes = async () => [...((await apiKeys.find(secret))?.principal.scopes ?? [])];
    expect(await scopes()).toEqual(['completions.write', 'virtual_keys.create']);

    await admin.query("UPDATE workspace_members SET role = 'member' WHERE user_id = $1", [manager]);
    await publisher.publish({ resource: 'user', id: manager });
    await expect.poll(scopes).toEqual(['completions.write']);

    await admin.query('DELETE FROM workspace_members WHERE user_id = $1', [manager]);
    await publisher.publish({ resource: 'user', id: manager });
    await expect.poll(scopes).toEqual([]);
  });

  it('lets a key without an owner do nothing', async () => {
    const { apiKeys } = await aProcess();
    const { secret } = await anApiKey({ created_by_user_id: null });

    expect((await apiKeys.find(secret))?.principal.scopes).toEqual(new Set());
  });

  it('rejects a key that was never made', async () => {
    const { apiKeys } = await aProcess();
    const { secret } = issueApiKey('ws');

    expect(await apiKeys.find(secret.reveal())).toBeNull();
    expect(apiKeys.find(secret.reveal())).toBeNull();
  });

  it('is refused in every process within two seconds of its deletion', async () => {
    const processes = [await aProcess(), await aProcess()];
    const { id, secret } = await anApiKey();
    for (const { apiKeys } of processes) expect(await apiKeys.find(secret)).not.toBeNull();

    await revoke(id);

    for (const { apiKeys } of processes)
      await expect.poll(() => apiKeys.find(secret), { timeout: 2_000, interval: 20 }).toBeNull();
  });

  it('is refused after a deletion that a running lookup had not seen', async () => {
    const { apiKeys, heard } = await aProcess();
    const { id, secret } = await anApiKey();
    // The row is locked against changes of its columns only, so readers see the old version until the commit.
    const runner = admin.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE api_keys SET deleted_at = now(), key_hash = NULL WHERE id = $1', [id]);
    await runner.query('SELECT pg_notify($1, $2)', ['gatehouse_changes', `api_key ${id}`]);
    const lookups = Array.from({ length: 20 }, async () => apiKeys.find(secret));
    await runner.commitTransaction();
    await runner.release();
    await Promise.all(lookups);

    await expect.poll(() => heard).toContainEqual({ resource: 'api_key', id });

    expect(await apiKeys.find(secret)).toBeNull();
  });

  it('ends on the millisecond it expires, however it is remembered', async () => {
    const { apiKeys } = await aProcess();
    const expiresAt = Date.now() + 2_500;
    const { secret } = await anApiKey({ expires_at: new Date(expiresAt) });
    expect(await apiKeys.find(secret)).toMatchObject({ expiresAt });

    for (;;) {
      const found = apiKeys.find(secret);
      if (Date.now() >= expiresAt) break;
      expect(found).not.toBeNull();
      await sleep(10);
    }

    expect(apiKeys.find(secret)).toBeNull();
  });

  it('accepts the secret before a rotation until the overlap ends, or the key does', async () => {
    const { apiKeys } = await aProcess();
    const before = issueApiKey('ws');
    const overlapEnds = Date.now() + 60_000;
    const rotated = (ends: number, given = {}) =>
      anApiKey({
        previous_key_hash: before.keyHash,
        previous_key_expires_at: new Date(ends),
        ...given,
      });

    const current = await rotated(overlapEnds);
    expect(await apiKeys.find(before.secret.reveal())).toMatchObject({
      expiresAt: overlapEnds,
      principal: { apiKeyId: current.id },
    });
    expect(await apiKeys.find(current.secret)).toMatchObject({ expiresAt: null });

    await admin.query('DELETE FROM api_keys WHERE id = $1', [current.id]);
    await publisher.publish({ resource: 'api_key', id: current.id });
    await rotated(overlapEnds, { expires_at: new Date(overlapEnds - 1_000) });
    await expect
      .poll(async () => (await apiKeys.find(before.secret.reveal()))?.expiresAt)
      .toBe(overlapEnds - 1_000);
  });

  it('refuses the secret before a rotation whose overlap has ended', async () => {
    const { apiKeys } = await aProcess();
    const before = issueApiKey('ws');
    await anApiKey({
      previous_key_hash: before.keyHash,
      previous_key_expires_at: new Date(Date.now() - 1),
    });

    expect(await apiKeys.find(before.secret.reveal())).toBeNull();
  });

  it('works for known keys while the database is unavailable, refuses unknown ones as such, and catches up afterwards', async () => {
    const { url, stop, start } = await relay();
    const { apiKeys, heard } = await aProcess(url);
    const [known, unknown] = [await anApiKey(), await anApiKey()];
    await apiKeys.find(known.secret);
    heard.length = 0;

    await stop();
    expect(await code(apiKeys.find(unknown.secret))).toBe('auth_unavailable');
    expect(apiKeys.find(known.secret)).toMatchObject({ principal: { apiKeyId: known.id } });
    // Deleted while this process cannot hear of it.
    await revoke(known.id);
    await start();

    await expect.poll(() => heard).toContain(null);
    await expect.poll(() => code(apiKeys.find(known.secret))).toBeNull();
    await expect.poll(() => code(apiKeys.find(unknown.secret))).toMatchObject({ expiresAt: null });
  });

  it('lets no key work without the database when the operator allows no staleness', async () => {
    const { url, stop } = await relay();
    const { apiKeys, heard } = await aProcess(url, 0);
    const { secret } = await anApiKey();
    await apiKeys.find(secret);
    heard.length = 0;

    await stop();

    await expect
      .poll(() => code(apiKeys.find(secret)), { timeout: 25_000, interval: 500 })
      .toBe('auth_unavailable');
  }, 40_000);
});

describe('PostgresVirtualKeyDirectory', () => {
  const reach = { ...tenant };

  it('opens the credentials once and hides them when printed', async () => {
    const { virtualKeys } = await aProcess();
    const { id, slug } = await aVirtualKey({ custom_host: 'https://vllm.example.com/v1' });

    const found = await virtualKeys.find(reach, slug);

    expect(found).toMatchObject({
      id,
      slug,
      workspaceId: tenant.workspaceId,
      providerId: 'openai',
      customHost: 'https://vllm.example.com/v1',
      credentials: { fields: { project: 'p1' } },
      expiresAt: null,
    });
    expect(found?.credentials.key?.reveal()).toBe('sk-one');
    expect(JSON.stringify(found)).not.toContain('sk-one');
    expect(virtualKeys.find(reach, slug)).toBe(found);
  });

  it('is null outside the reach: another organization, another workspace', async () => {
    const { virtualKeys } = await aProcess();
    const { slug } = await aVirtualKey();

    expect(await virtualKeys.find({ organizationId: tenant.organizationId }, slug)).not.toBeNull();
    expect(await virtualKeys.find({ ...reach, workspaceId: otherWorkspaceId }, slug)).toBeNull();
    expect(await virtualKeys.find({ organizationId: randomUUID() }, slug)).toBeNull();
    expect(await virtualKeys.find(reach, `${slug}\0`)).toBeNull();
    expect(await virtualKeys.find(reach, 'a'.repeat(10_000))).toBeNull();
  });

  it('is found as soon as it is made, even where its absence was remembered', async () => {
    const { virtualKeys } = await aProcess();
    const slug = `late-${randomUUID()}`;
    expect(await virtualKeys.find(reach, slug)).toBeNull();

    const { id } = await aVirtualKey({ slug });
    await publisher.publish({ resource: 'virtual_key', id });

    await expect.poll(() => virtualKeys.find(reach, slug)).not.toBeNull();
  });

  it('is refused in every process within two seconds of its deletion', async () => {
    const processes = [await aProcess(), await aProcess()];
    const { id, slug } = await aVirtualKey();
    for (const { virtualKeys } of processes) expect(await virtualKeys.find(reach, slug)).not.toBeNull();

    await admin.query('DELETE FROM virtual_keys WHERE id = $1', [id]);
    await publisher.publish({ resource: 'virtual_key', id });

    for (const { virtualKeys } of processes)
      await expect.poll(() => virtualKeys.find(reach, slug), { timeout: 2_000, interval: 20 }).toBeNull();
  });

  it('does not open for another host or provider than it was sealed for, and works again when entered again', async () => {
    const { virtualKeys } = await aProcess();
    const { id, slug } = await aVirtualKey();
    await admin.query('UPDATE virtual_keys SET custom_host = $2 WHERE id = $1', [
      id,
      'https://evil.example.com',
    ]);

    expect(await code(virtualKeys.find(reach, slug))).toBe('credential_unusable');
    expect(await code(virtualKeys.find(reach, slug))).toBe('credential_unusable');

    await admin.query('UPDATE virtual_keys SET custom_host = NULL WHERE id = $1', [id]);
    await expect.poll(() => code(virtualKeys.find(reach, slug))).toMatchObject({ id });
  });

  it('works while the database is unavailable', async () => {
    const { url, stop } = await relay();
    const { virtualKeys } = await aProcess(url);
    const [known, unknown] = [await aVirtualKey(), await aVirtualKey()];
    await virtualKeys.find(reach, known.slug);

    await stop();

    expect(await code(virtualKeys.find(reach, unknown.slug))).toBe('auth_unavailable');
    expect(virtualKeys.find(reach, known.slug)).toMatchObject({ id: known.id });
  });
});

describe('PostgresUsableKeys', () => {
  const there = { organizationId: tenant.organizationId, workspaceId: otherWorkspaceId };
  const slugsOf = async (found: unknown) => ((await found) as { slug: string }[]).map(({ slug }) => slug);
  const anIntegration = async (
    given: Readonly<Record<string, unknown>> = {},
    workspace_id = otherWorkspaceId,
  ) => {
    const id = randomUUID();
    const { organizationId: organization_id } = tenant;
    await insert('integrations', { id, organization_id, slug: id, name: 'I', provider_id: 'groq', ...given });
    const slug = `p-${id}`;
    const key = { id: randomUUID(), workspace_id, integration_id: id, slug, name: 'P' };
    await insert('virtual_keys', { ...key, organization_id });
    return { id, slug };
  };
  const allow = (id: string, is_enabled: boolean) =>
    insert('integration_workspaces', {
      integration_id: id,
      workspace_id: otherWorkspaceId,
      organization_id: tenant.organizationId,
      is_enabled,
    });

  it('lists what a workspace may use, and nothing of others or of the past', async () => {
    const { usableKeys } = await aProcess();
    const own = await aVirtualKey({ workspace_id: otherWorkspaceId });
    await aVirtualKey({ workspace_id: otherWorkspaceId, expires_at: new Date(1) });
    const elsewhere = await aVirtualKey();
    const granted = await anIntegration();
    await allow(granted.id, true);
    await anIntegration();
    const left = await anIntegration({ is_open_to_all_workspaces: true });
    await allow(left.id, false);

    expect(await slugsOf(usableKeys.find(there))).toEqual([own.slug, granted.slug].sort());
    expect(await slugsOf(usableKeys.find(tenant))).toContain(elsewhere.slug);
    expect(await usableKeys.find({ organizationId: randomUUID(), workspaceId: otherWorkspaceId })).toEqual(
      [],
    );
  });

  it('lists one of each provider and integration first, however many keys there are', async () => {
    const { usableKeys } = await aProcess();
    const workspace_id = crowdedWorkspaceId;
    for (let at = 0; at < 120; at++)
      await aVirtualKey({ workspace_id, slug: `a-${String(at).padStart(3, '0')}` });
    await aVirtualKey({ workspace_id, slug: 'y', provider_id: 'groq' });
    const shared = await anIntegration({ is_open_to_all_workspaces: true }, workspace_id);

    const slugs = await slugsOf(
      usableKeys.find({ organizationId: tenant.organizationId, workspaceId: workspace_id }),
    );
    expect(slugs).toHaveLength(122);
    expect(slugs.slice(0, 4)).toEqual(['a-000', shared.slug, 'y', 'a-001']);
  });

  it('knows which models an integration has, and gives the same list while nothing changes', async () => {
    const { usableKeys } = await aProcess();
    const { id, slug } = await anIntegration({ allows_all_models: false, is_open_to_all_workspaces: true });
    const model = { integration_id: id, organization_id: tenant.organizationId };
    await insert('integration_models', { ...model, slug: 'on', is_enabled: true });
    await insert('integration_models', { ...model, slug: 'off', is_enabled: false });

    const found = await usableKeys.find(there);
    expect(found.find((key) => key.slug === slug)).toEqual({
      slug,
      providerId: 'groq',
      expiresAt: null,
      models: { names: new Set(['on']), areAllowed: true },
    });
    expect(usableKeys.find(there)).toBe(found);
  });

  it('receives a key that is made', async () => {
    const { usableKeys } = await aProcess();
    await usableKeys.find(there);
    const made = await aVirtualKey({ workspace_id: otherWorkspaceId });
    await publisher.publish({ resource: 'virtual_key', id: made.id });

    await expect.poll(async () => slugsOf(usableKeys.find(there))).toContain(made.slug);
  });
});
