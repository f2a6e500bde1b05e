import { randomUUID } from 'node:crypto';
import { Between, ILike, In, IsNull, LessThan, Not, Or, Equal, Repository } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKey } from '../../../src/admin/api-keys/api-key.entity.js';
import { User } from '../../../src/admin/tenancy/user.entity.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let unit: UnitOfWork;
const organizationId = randomUUID();
const workspaceId = randomUUID();
const ids = Array.from({ length: 6 }, (_, index) => `0199a0e4-0000-7000-8000-00000000000${index}`);

beforeAll(async () => {
  database = await freshDatabase();
  unit = new UnitOfWork(database.dataSource);
  const sql = (text: string, parameters: unknown[]) => database.dataSource.query(text, parameters);
  await sql("INSERT INTO organizations (id, name, wrapped_key) VALUES ($1, 'o', $2)", [
    organizationId,
    Buffer.alloc(1),
  ]);
  await sql("INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, 'w', 'w')", [
    workspaceId,
    organizationId,
  ]);
  for (const [index, id] of ids.entries())
    await unit.repository(ApiKey).insert({
      id,
      kind: index === 0 ? 'organisation-service' : 'workspace-service',
      organizationId,
      workspaceId: index === 0 ? null : workspaceId,
      creationMode: 'api',
      name: `Key ${index}`,
      description: index === 1 ? 'a "quoted" \\ text' : null,
      keyHash: index === 5 ? null : Buffer.alloc(32, 250 + index),
      prefix: 'gw_ws_',
      lastFour: 'abcd',
      scopes: ['logs.view', 'a,b', '{"c"}'],
      expiresAt: new Date('2030-01-31T12:00:00.123Z'),
      status: 'active',
      rateLimits: [{ id: randomUUID(), type: 'requests', unit: 'rpm', value: 3 }],
      defaultMetadata: { team: 'x' },
      deletedAt: index === 5 ? new Date() : null,
    });
});
afterAll(() => database.drop());

const keys = () => unit.repository(ApiKey);
/** TypeORM's own, which is what ours must be equal to. */
const builtAnew = () => new Repository(ApiKey, database.dataSource.manager);
const order = { id: 'DESC' } as const;

describe('a repository that reads plain rows without the query builder', () => {
  it.each([
    [{ where: { organizationId }, order }],
    [{ where: { id: ids[1] } }],
    [{ where: { organizationId, workspaceId: IsNull() }, order }],
    [{ where: { organizationId, workspaceId: Not(IsNull()) }, order: { name: 'ASC', id: 'DESC' } as const }],
    [
      {
        where: { organizationId, kind: In(['workspace-service']), id: LessThan(ids[4]) },
        order,
        skip: 1,
        take: 2,
      },
    ],
    [{ where: { organizationId, id: In([]) } }],
    [{ where: { id: Between(ids[1], ids[3]), allowConfigOverride: true }, order }],
    [{ where: { organizationId }, select: { id: true, scopes: true } as const, order }],
    [{ where: { name: ILike('key 1%') } }],
    [{ where: { name: Or(Equal('Key 1'), Equal('Key 2')) }, order }],
    [{ where: [{ id: ids[1] }, { id: ids[2] }], order }],
    [{ where: { organizationId }, order, withDeleted: true }],
    [{ order }],
  ])('finds what TypeORM finds: %j', async (options) => {
    const found = await keys().find(options as object);
    expect(found).toStrictEqual(await builtAnew().find(options as object));
    expect(found.every((key) => key instanceof ApiKey)).toBe(true);
  });

  it.each([
    { where: { organizationId }, order, skip: 0, take: 2 },
    { where: { organizationId }, order, skip: 4, take: 2 },
    { where: { organizationId }, order, skip: 40, take: 2 },
    { where: { organizationId }, order },
    { where: { organizationId: randomUUID() }, order, skip: 0, take: 2 },
  ])('counts what TypeORM counts: $skip, $take', async (options) => {
    expect(await keys().findAndCount(options)).toStrictEqual(await builtAnew().findAndCount(options));
  });

  it('finds one, none, or fails as TypeORM does', async () => {
    expect(await keys().findOneBy({ id: ids[2] as string })).toStrictEqual(
      await builtAnew().findOneBy({ id: ids[2] as string }),
    );
    expect(await keys().findOneBy({ id: ids[5] as string })).toBeNull();
    await expect(keys().findOneByOrFail({ id: randomUUID() })).rejects.toThrow('Could not find');
    await expect(keys().findOneBy({ id: undefined as never })).rejects.toThrow('ndefined');
    expect(await keys().countBy({ organizationId })).toBe(5);
  });

  it('shows no column that is hidden', async () => {
    await unit.repository(User).insert({
      id: randomUUID(),
      organizationId,
      email: 'a@example.com',
      role: 'owner',
      status: 'active',
    } as never);
    const [user] = await unit.repository(User).findBy({ organizationId });
    expect(user).toStrictEqual((await new Repository(User, database.dataSource.manager).find())[0]);
  });

  it('locks what it is asked to lock', async () => {
    await unit.run(async () => {
      await keys().findOne({ where: { id: ids[1] as string }, lock: { mode: 'pessimistic_write' } });
      const others = database.dataSource.query(
        'SELECT id FROM api_keys WHERE id = ANY($1) FOR UPDATE SKIP LOCKED',
        [ids.slice(1, 3)],
      );
      expect(await others).toEqual([{ id: ids[2] }]);
    });
  });
});

describe('a row that is added without the query builder', () => {
  const aKey = (more: object) => ({
    kind: 'workspace-service' as const,
    organizationId,
    workspaceId,
    creationMode: 'api' as const,
    name: 'Added',
    keyHash: Buffer.alloc(32, randomUUID().charCodeAt(0)),
    prefix: 'gw_ws_',
    lastFour: 'abcd',
    scopes: ['a,b', '{"c"}'],
    expiresAt: new Date('2030-01-31T12:00:00.123Z'),
    status: 'active' as const,
    rateLimits: [{ id: ids[0] as string, type: 'requests' as const, unit: 'rpm' as const, value: 3 }],
    alertEmails: null,
    ...more,
  });

  it('is what TypeORM would have added, and knows what the database put into it', async () => {
    const [ours, theirs] = [
      keys().create(aKey({ id: randomUUID() })),
      keys().create(aKey({ id: randomUUID(), keyHash: Buffer.alloc(32, 9) })),
    ];
    await keys().insert(ours);
    await builtAnew().insert(theirs);

    const stored = await builtAnew().findOneByOrFail({ id: ours.id });
    expect(ours).toEqual(stored);
    const own = {
      id: theirs.id,
      keyHash: theirs.keyHash,
      createdAt: theirs.createdAt,
      updatedAt: theirs.updatedAt,
    };
    expect(Object.assign(stored, own)).toEqual(await builtAnew().findOneByOrFail({ id: theirs.id }));
    await builtAnew().delete([ours.id, theirs.id]);
  });

  it('is refused by an index as TypeORM would have been', async () => {
    const row = aKey({ id: ids[1] });

    await expect(keys().insert(row)).rejects.toMatchObject({ code: '23505' });
    await expect(builtAnew().insert(row)).rejects.toMatchObject({ code: '23505' });
  });
});

describe('a locked row', () => {
  const lockedKey = async () =>
    (await keys().findOne({
      where: { id: ids[1] as string },
      lock: { mode: 'pessimistic_write' },
    })) as ApiKey;

  it('is saved in what differs, documents that were changed in place too', async () => {
    const before = await keys().findOneByOrFail({ id: ids[1] as string });
    await unit.run(async () => {
      const key = await lockedKey();
      key.name = 'Changed';
      key.keyHash = Buffer.alloc(32, 9);
      Object.assign(key.rateLimits?.[0] ?? {}, { value: 4 });
      key.usageLimits = [];
      expect(await keys().saveLocked(key)).toBe(key);
      expect(key.updatedAt.getTime()).toBeGreaterThan(before.updatedAt.getTime());
    });
    const after = await builtAnew().findOneByOrFail({ id: ids[1] as string });
    const changes = {
      name: 'Changed',
      keyHash: Buffer.alloc(32, 9),
      usageLimits: [],
      updatedAt: after.updatedAt,
    };
    const rateLimits = [{ ...before.rateLimits?.[0], value: 4 }];
    expect(after).toEqual(Object.assign(before, changes, { rateLimits }));
  });

  it('is left alone when nothing differs, and saved again when it was saved before', async () => {
    const before = await keys().findOneByOrFail({ id: ids[1] as string });
    await unit.run(async () => {
      const key = await lockedKey();
      await keys().saveLocked(key);
      expect(key.updatedAt).toEqual(before.updatedAt);
      key.name = 'Once';
      await keys().saveLocked(key);
      key.name = before.name;
      await keys().saveLocked(key);
    });
    expect((await keys().findOneByOrFail({ id: ids[1] as string })).name).toBe(before.name);
  });

  it('must be one that was locked', async () => {
    const key = await keys().findOneByOrFail({ id: ids[1] as string });
    await expect(keys().saveLocked(key)).rejects.toThrow('not read under a lock');
  });
});
