import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bootstrap, type BootstrapResult, verifyMasterKey } from '../../../src/admin/bootstrap/bootstrap.js';
import { hashApiKey } from '../../../src/common/crypto/key-hash.js';
import { isPassword } from '../../../src/admin/passwords/password.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { createDataSource } from '../../../src/schema/data-source.js';
import { ApiKey } from '../../../src/admin/api-keys/api-key.entity.js';
import { Organization } from '../../../src/admin/tenancy/organization.entity.js';
import { UserCredential } from '../../../src/admin/passwords/user-credential.entity.js';
import { migrate } from '../../../src/schema/migrate.js';
import { emptyDatabase, freshDatabase, type TestDatabase } from '../../support/database.js';

const aKey = () => new Secret(randomBytes(32).toString('base64'));
const noted = async () => undefined;

describe('bootstrap', () => {
  let database: TestDatabase;
  const keys = { masterKey: aKey(), keyPepper: aKey() };

  beforeEach(async () => {
    database = await freshDatabase();
  });
  afterEach(() => database.drop());

  it('makes an organization, a workspace, an owner and two keys, and hands them over once', async () => {
    const kept: BootstrapResult[] = [];
    const result = await bootstrap(database.dataSource, keys, async (made) => void kept.push(made));

    expect(kept).toEqual([result]);
    const rows = await database.dataSource.getRepository(ApiKey).find({ order: { id: 'ASC' } });
    expect(rows.map(({ kind }) => kind)).toEqual(['organisation-service', 'workspace-service']);
    expect(rows[0]?.keyHash).toEqual(hashApiKey(keys.keyPepper, result?.admin_api_key ?? ''));
    expect(rows[1]?.keyHash).toEqual(hashApiKey(keys.keyPepper, result?.workspace_api_key ?? ''));
    expect(rows[0]?.scopes).toContain('organisation_service_api_keys.create');
    expect(rows[0]?.scopes).not.toContain('completions.write');
    expect(rows[1]?.scopes).toContain('completions.write');
    expect(rows[1]?.workspaceId).toBe(result?.workspace_id);
  });

  it('stores none of the secrets in clear', async () => {
    const result = await bootstrap(database.dataSource, keys, noted);
    const all = JSON.stringify(
      await database.dataSource.query('SELECT * FROM api_keys, users, organizations, sign_in_links'),
    );

    for (const secret of [result?.admin_api_key, result?.workspace_api_key, result?.setup_token])
      expect(all).not.toContain(secret);
  });

  it('gives the owner of the settings their password and makes no link', async () => {
    const owner = { email: 'ada@example.com', password: new Secret('purple-tractor-eats-moonlight') };
    const result = await bootstrap(database.dataSource, keys, noted, owner);
    const [credential] = await database.dataSource.getRepository(UserCredential).find();

    expect(result?.setup_token).toBeNull();
    expect(await isPassword(owner.password, credential?.passwordHash ?? '')).toBe(true);
    expect(await database.dataSource.query('SELECT email, role FROM users')).toEqual([
      { email: 'ada@example.com', role: 'owner' },
    ]);
    expect(await database.dataSource.query('SELECT * FROM sign_in_links')).toEqual([]);
  });

  it('makes nothing with a password that is easy to guess', async () => {
    const owner = { email: 'ada@example.com', password: new Secret('passwordpassword') };

    await expect(bootstrap(database.dataSource, keys, noted, owner)).rejects.toThrow('easy to guess');
    expect(await database.dataSource.getRepository(Organization).count()).toBe(0);
  });

  it('does nothing when there is an organization already', async () => {
    await bootstrap(database.dataSource, keys, noted);

    expect(await bootstrap(database.dataSource, keys, noted)).toBeNull();
    expect(await database.dataSource.getRepository(Organization).count()).toBe(1);
  });

  it('makes one organization when two processes start at once', async () => {
    const other = await createDataSource(database.url).initialize();
    const results = await Promise.all([
      bootstrap(database.dataSource, keys, noted),
      bootstrap(other, keys, noted),
      bootstrap(database.dataSource, keys, noted),
    ]);
    await other.destroy();

    expect(results.filter((result) => result !== null)).toHaveLength(1);
    expect(await database.dataSource.getRepository(Organization).count()).toBe(1);
  });

  it('leaves nothing behind when the result could not be kept', async () => {
    const full = () => Promise.reject(new Error('The disk is full.'));

    await expect(bootstrap(database.dataSource, keys, full)).rejects.toThrow('The disk is full.');
    expect(await database.dataSource.getRepository(Organization).count()).toBe(0);
    expect(await bootstrap(database.dataSource, keys, noted)).not.toBeNull();
  });

  it('refuses to start with another master key or pepper', async () => {
    await bootstrap(database.dataSource, keys, noted);

    await expect(verifyMasterKey(database.dataSource, keys)).resolves.toBeUndefined();
    await expect(verifyMasterKey(database.dataSource, { masterKey: aKey() })).rejects.toThrow(
      'The master key does not open this database.',
    );
    await expect(bootstrap(database.dataSource, { ...keys, keyPepper: aKey() }, noted)).rejects.toThrow(
      'pepper',
    );
  });
});

describe('migrate', () => {
  it('lets instances that start at the same time take turns', async () => {
    const database = await emptyDatabase();
    const instances = await Promise.all(
      [1, 2, 3].map(() => createDataSource(database.url, 2, 'migrations').initialize()),
    );

    await Promise.all(instances.map((each) => migrate(each)));

    expect(await instances[0]?.showMigrations()).toBe(false);
    await Promise.all(instances.map((instance) => instance.destroy()));
    await database.drop();
  });

  it('goes back to an empty database and forth again', async () => {
    const database = await freshDatabase();
    const { dataSource } = database;
    for (let left = dataSource.migrations.length; left > 0; left -= 1) await dataSource.undoLastMigration();

    const left = await dataSource.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    expect(left).toEqual([{ tablename: 'migrations' }]);
    await migrate(dataSource);
    await database.drop();
  });
});
