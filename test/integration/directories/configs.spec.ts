import { randomBytes, randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PostgresApiKeyDirectory } from '../../../src/adapters/directories/postgres-api-key-directory.js';
import { PostgresChangeFeed } from '../../../src/adapters/changes/postgres-change-feed.js';
import { PostgresChangePublisher } from '../../../src/adapters/changes/postgres-change-publisher.js';
import { PostgresConfigDirectory } from '../../../src/adapters/directories/postgres-config-directory.js';
import { mintApiKey, visiblePartsOf } from '../../../src/common/crypto/api-key-format.js';
import { hashApiKey } from '../../../src/common/crypto/key-hash.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { Config } from '../../../src/admin/configs/config.entity.js';
import { ConfigVersion } from '../../../src/admin/configs/config-version.entity.js';
import { QueryPool } from '../../../src/database/sessions/query-pool.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { type TestDatabase, freshDatabase } from '../../support/database.js';

const PEPPER = new Secret(randomBytes(32).toString('base64'));
const organizationId = randomUUID();
const workspaceId = randomUUID();
const otherWorkspaceId = randomUUID();
const reach = { organizationId, workspaceId };

let database: TestDatabase;
let admin: DataSource;
let publisher: PostgresChangePublisher;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  admin = database.dataSource;
  publisher = new PostgresChangePublisher(new UnitOfWork(admin));
  await admin.query("INSERT INTO organizations (id, name, wrapped_key) VALUES ($1, 'Org', '')", [
    organizationId,
  ]);
  for (const id of [workspaceId, otherWorkspaceId])
    await admin.query("INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, 'W', $3)", [
      id,
      organizationId,
      id,
    ]);
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
afterAll(() => database.drop());

async function aProcess(staleMs = 60_000) {
  const pool = new QueryPool(database.url, 2);
  const changes = new PostgresChangeFeed(new Secret(database.url));
  const configs = new PostgresConfigDirectory(pool, changes, staleMs);
  const apiKeys = new PostgresApiKeyDirectory(pool, changes, { pepper: PEPPER, staleKeysMs: staleMs });
  let isHearing = false;
  changes.subscribe(() => (isHearing = true));
  closers.push(
    () => pool.close(),
    () => changes.onApplicationShutdown(),
  );
  await expect.poll(() => isHearing).toBe(true);
  return { configs, apiKeys };
}

async function addVersion(configId: string, number: number, document: object): Promise<string> {
  const id = randomUUID();
  await admin.getRepository(ConfigVersion).insert({ id, organizationId, configId, number, document });
  return id;
}

/** A config and its first version, inserted together as the administration does. */
async function aConfig(document: object, given: Partial<Config> = {}): Promise<Config> {
  const id = randomUUID();
  await admin.transaction(async (manager) => {
    const versionId = randomUUID();
    const row = {
      id,
      organizationId,
      workspaceId,
      slug: `pc-${id}`,
      name: 'c',
      isDefault: false,
      status: 'active' as const,
    };
    await manager.getRepository(Config).insert({ ...row, versionId, ...given });
    await manager
      .getRepository(ConfigVersion)
      .insert({ id: versionId, organizationId, configId: id, number: 1, document });
  });
  return admin.getRepository(Config).findOneByOrFail({ id });
}

async function putInForce({ id }: Config, versionId: string): Promise<void> {
  await admin.getRepository(Config).update({ id }, { versionId });
  await publisher.publish({ resource: 'config', id });
}

describe('PostgresConfigDirectory', () => {
  it('finds a config by slug and by id, the second time without a promise', async () => {
    const { configs } = await aProcess();
    const { id, slug, versionId } = await aConfig({ virtual_key: 'v' });

    const found = await configs.find(reach, slug);

    expect(found).toEqual({ id, slug, versionId, document: { virtual_key: 'v' } });
    expect(configs.find(reach, slug)).toBe(found);
    expect(await configs.find(reach, id)).toBe(found);
  });

  it("shows no workspace another's, and all of them the organization's own", async () => {
    const { configs } = await aProcess();
    const theirs = await aConfig({ virtual_key: 'v' }, { workspaceId: otherWorkspaceId });
    const shared = await aConfig({ virtual_key: 'v' }, { workspaceId: null });

    expect(await configs.find(reach, theirs.slug)).toBeNull();
    expect(await configs.find(reach, theirs.id)).toBeNull();
    expect(await configs.find({ organizationId }, theirs.id)).not.toBeNull();
    expect(await configs.find({ organizationId: randomUUID() }, shared.slug)).toBeNull();
    expect(await configs.find(reach, shared.slug)).not.toBeNull();
    expect(await configs.find(reach, "' OR true --\0")).toBeNull();
  });

  it('lists the slugs within reach for a suggestion, with one query for a repeated mistake', async () => {
    const pool = new QueryPool(database.url, 1);
    closers.push(() => pool.close());
    const query = vi.spyOn(pool, 'query');
    const configs = new PostgresConfigDirectory(pool, { subscribe: () => undefined }, 60_000);
    const own = await aConfig({ virtual_key: 'v' });
    const theirs = await aConfig({ virtual_key: 'v' }, { workspaceId: otherWorkspaceId });
    const archived = await aConfig({ virtual_key: 'v' }, { status: 'archived' });

    const [slugs] = await Promise.all([configs.slugs(reach), configs.slugs(reach)]);
    await configs.slugs(reach);

    expect(slugs).toContain(own.slug);
    expect(slugs).not.toContain(theirs.slug);
    expect(slugs).not.toContain(archived.slug);
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('knows no archived one', async () => {
    const { configs } = await aProcess();
    const { slug } = await aConfig({ virtual_key: 'v' }, { status: 'archived' });

    expect(await configs.find(reach, slug)).toBeNull();
  });

  it('receives a new version within two seconds, and keeps the object while nothing changes', async () => {
    const { configs } = await aProcess();
    const config = await aConfig({ virtual_key: 'one' });
    const first = await configs.find(reach, config.slug);
    await publisher.publish({ resource: 'config', id: config.id });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await configs.find(reach, config.slug)).toBe(first);

    await putInForce(config, await addVersion(config.id, 2, { virtual_key: 'two' }));

    const named = async () => (await configs.find(reach, config.slug))?.document.virtual_key;
    await expect.poll(named, { timeout: 2_000, interval: 20 }).toBe('two');
  });

  it('keeps the last good version in force when a bad one is written past the administration', async () => {
    const config = await aConfig({ virtual_key: 'good' });
    const broken = await addVersion(config.id, 2, { strategy: { mode: 'nonsense' } });
    await putInForce(config, await addVersion(config.id, 3, { virtual_key: 'x', name: 'y'.repeat(300_000) }));

    const { configs } = await aProcess();

    expect((await configs.find(reach, config.slug))?.document.virtual_key).toBe('good');
    expect(broken).toBeTypeOf('string');
  });

  it('refuses a config without any good version', async () => {
    const { configs } = await aProcess();
    const { slug } = await aConfig({ nonsense: true });

    await expect(configs.find(reach, slug)).rejects.toMatchObject({ code: 'config_invalid' });
  });

  it('uses what it holds while the database is unavailable', async () => {
    const { slug } = await aConfig({ virtual_key: 'v' });
    const pool = new QueryPool(database.url, 1);
    let isUnavailable = false;
    const feed = { subscribe: (listener: (change: null) => void) => (forget = () => listener(null)) };
    let forget = (): void => undefined;
    const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
    const query = <Row>(sql: string, parameters?: unknown[]): Promise<Row[]> =>
      isUnavailable ? Promise.reject(away) : pool.query<Row>(sql, parameters);
    const configs = new PostgresConfigDirectory({ query }, feed, 60_000);
    closers.push(() => pool.close());
    const known = await configs.find(reach, slug);

    isUnavailable = true;
    forget();

    expect(await configs.find(reach, slug)).toBe(known);
    await expect(configs.find(reach, 'pc-unknown')).rejects.toMatchObject({ code: 'auth_unavailable' });
  });
});

describe('the default config of a key', () => {
  async function aKey(more: object = {}): Promise<string> {
    const secret = mintApiKey('ws');
    const { prefix, lastFour } = visiblePartsOf(secret);
    const row: Record<string, unknown> = {
      id: randomUUID(),
      kind: 'workspace-service',
      organization_id: organizationId,
      workspace_id: workspaceId,
      creation_mode: 'api',
      name: 'k',
      key_hash: hashApiKey(PEPPER, secret.reveal()),
      prefix,
      last_four: lastFour,
      scopes: [],
      ...more,
    };
    const names = Object.keys(row);
    await admin.query(
      `INSERT INTO api_keys (${names.join()}) VALUES (${names.map((_, at) => `$${at + 1}`).join()})`,
      Object.values(row),
    );
    return secret.reveal();
  }

  it("is its own, else its workspace's, else its organization's, else none", async () => {
    const own = await aConfig({ virtual_key: 'own' });
    const ofWorkspace = await aConfig({ virtual_key: 'workspace' });
    const ofOrganization = await aConfig({ virtual_key: 'organization' }, { workspaceId: null });
    const routingOf = async (secret: string) =>
      (await (await aProcess()).apiKeys.find(secret))?.principal.routing;
    const [plain, withOwn, strict] = [
      await aKey(),
      await aKey({ default_config_id: own.id }),
      await aKey({ allow_config_override: false }),
    ];

    expect(await routingOf(plain)).toBeUndefined();
    expect(await routingOf(strict)).toEqual({ configId: null, allowsOverride: false });
    expect(await routingOf(withOwn)).toEqual({ configId: own.id, allowsOverride: true });

    await admin.query('UPDATE organizations SET default_config_id = $1', [ofOrganization.id]);
    expect(await routingOf(plain)).toMatchObject({ configId: ofOrganization.id });
    await admin.query('UPDATE workspaces SET default_config_id = $1 WHERE id = $2', [
      ofWorkspace.id,
      workspaceId,
    ]);
    expect(await routingOf(plain)).toMatchObject({ configId: ofWorkspace.id });
    expect(await routingOf(withOwn)).toMatchObject({ configId: own.id });

    await admin.getRepository(Config).delete({ id: own.id });
    expect(await routingOf(withOwn)).toMatchObject({ configId: ofWorkspace.id });
  });
});
