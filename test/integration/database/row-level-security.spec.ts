import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type DataSource, QueryFailedError } from 'typeorm';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDataSource } from '../../../src/schema/data-source.js';
import { VirtualKey } from '../../../src/admin/virtual-keys/virtual-key.entity.js';
import { Workspace } from '../../../src/admin/tenancy/workspace.entity.js';
import { runMigrations } from '../../../src/cli/database/run-migrations.js';
import { explain } from '../../../src/cli/terminal.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { rowLevelSecurityCheck } from '../../../src/database/sessions/rls-check.js';
import { migrate } from '../../../src/schema/migrate.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { LogDatabase } from '../../../src/request-log/reading/log-database.js';
import { administer } from '../../support/administer.js';
import { emptyDatabase, freshDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let unit: UnitOfWork;
const tenants = [randomUUID(), randomUUID()] as const;
const [A, B] = tenants;

beforeAll(async () => {
  database = await freshDatabase();
  unit = new UnitOfWork(database.dataSource);
  for (const id of tenants) {
    await sql("INSERT INTO organizations (id, name, wrapped_key) VALUES ($1, 'An organization', $2)", [
      id,
      Buffer.alloc(1),
    ]);
    await sql('INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, $3, $3)', [
      randomUUID(),
      id,
      'w',
    ]);
    await sql(
      "INSERT INTO request_logs (id, created_at, batch_id, organisation_id, trace_id, method, path, streamed, ending, status, duration_ms, overhead_us, request_bytes, response_bytes, usage_source, attempt_count) VALUES ($1, now(), $1, $2, 't', 'GET', '/', false, 'completed', 200, 1, 1, 1, 1, 'none', 1)",
      [randomUUID(), id],
    );
  }
});
afterAll(() => database.drop());

const sql = (text: string, parameters: unknown[] = []) => database.dataSource.query(text, parameters);
const reading = <T>(organizationId: string, work: () => Promise<T>) =>
  unit.runFor({ organizationId, isReading: true }, work);
const writing = <T>(organizationId: string, work: () => Promise<T>) =>
  unit.runFor({ organizationId, isReading: false }, work);
/** As the role, with whatever was set before. */
const asRole = (setting: string, query: string) =>
  database.dataSource.transaction(async (manager) => {
    await manager.query(`SET LOCAL ROLE gatehouse_tenant; ${setting}`);
    return manager.query(query);
  });
const setTo = (value: string) => `SET LOCAL gatehouse.organization_id = '${value}'`;

/** Every table of tenants, as the catalogue has them. */
const TENANT_TABLES = `
  SELECT class.relname AS name, attribute.attname AS tenant, class.relrowsecurity AS protected,
    (SELECT pg_get_expr(polqual, polrelid) FROM pg_policy WHERE polrelid = class.oid) AS policy,
    has_table_privilege('gatehouse_tenant', class.oid, 'SELECT') AS readable,
    has_table_privilege('gatehouse_tenant', class.oid, 'TRUNCATE, TRIGGER, REFERENCES') AS too_open
  FROM pg_class class JOIN pg_attribute attribute ON attribute.attrelid = class.oid AND NOT attribute.attisdropped
  WHERE class.relnamespace = 'public'::regnamespace AND class.relkind IN ('r', 'p') AND NOT class.relispartition
    AND attribute.attname IN ('organization_id', 'organisation_id')
  ORDER BY 1`;

describe('row-level security', () => {
  it('covers every table that names an organization, those of later migrations too', async () => {
    const tables: { name: string; tenant: string }[] = await sql(TENANT_TABLES);

    expect(tables.length).toBeGreaterThan(10);
    for (const table of tables)
      expect(table).toMatchObject({
        protected: true,
        policy: expect.stringContaining(`(${table.tenant} = `),
        readable: true,
        too_open: false,
      });
  });

  it('is a role that owns nothing, cannot log in and passes no policy', async () => {
    const [role] = await sql(
      "SELECT rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, (SELECT count(*)::int FROM pg_class WHERE relowner = pg_roles.oid) AS owns FROM pg_roles WHERE rolname = 'gatehouse_tenant'",
    );
    expect(role).toEqual({
      rolcanlogin: false,
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      owns: 0,
    });
  });

  it('shows nothing to a query without a tenant, and to one of an unknown tenant', async () => {
    const tables: { name: string }[] = await sql(TENANT_TABLES);
    for (const setting of ['', setTo(''), setTo(randomUUID())])
      for (const { name } of [...tables, { name: 'organizations' }])
        expect(await asRole(setting, `SELECT count(*)::int AS rows FROM ${name}`)).toEqual([{ rows: 0 }]);
  });

  it("shows a tenant its own rows, and another's to no query", async () => {
    for (const [own, other] of [
      [A, B],
      [B, A],
    ] as const)
      await reading(own, async () => {
        expect((await unit.repository(Workspace).find()).map(({ organizationId }) => organizationId)).toEqual(
          [own],
        );
        expect(await unit.repository(Workspace).findBy({ organizationId: other })).toEqual([]);
        expect(await unit.manager.query('SELECT DISTINCT organisation_id AS id FROM request_logs')).toEqual([
          { id: own },
        ]);
        expect(await unit.manager.query('SELECT id FROM organizations')).toEqual([{ id: own }]);
      });
  });

  it('lets no tenant write for another', async () => {
    const row = { id: randomUUID(), organizationId: B, name: 'x', slug: 'x' };
    await expect(writing(A, () => unit.repository(Workspace).insert(row))).rejects.toThrow(
      'row-level security',
    );
    await writing(A, () => unit.manager.query('UPDATE workspaces SET name = $1', ['mine']));
    expect(await sql('SELECT name FROM workspaces WHERE organization_id = $1', [B])).toEqual([{ name: 'w' }]);
    await expect(
      writing(A, () => unit.manager.query('UPDATE workspaces SET organization_id = $1', [B])),
    ).rejects.toThrow('row-level security');
    expect(await writing(A, () => unit.repository(VirtualKey).delete({ organizationId: B }))).toMatchObject({
      affected: 0,
    });
  });

  it('lets nothing be written while reading', async () => {
    await expect(reading(A, () => unit.manager.query('DELETE FROM workspaces'))).rejects.toThrow('read-only');
  });

  it('ends with its transaction: the next one on the same connection has no tenant', async () => {
    const one = await createDataSource(database.url, 1).initialize();
    const alone = new UnitOfWork(one);
    try {
      await alone.runFor({ organizationId: A, isReading: true }, () => alone.manager.query('SELECT 1'));
      await alone
        .runFor({ organizationId: A, isReading: false }, () => alone.manager.query('SELECT nonsense'))
        .catch(() => undefined);
      expect(
        await one.query(
          "SELECT current_user <> 'gatehouse_tenant' AS free, nullif(current_setting('gatehouse.organization_id', true), '') AS tenant, current_setting('transaction_read_only') AS read_only",
        ),
      ).toEqual([{ free: true, tenant: null, read_only: 'off' }]);
    } finally {
      await one.destroy();
    }
  });

  it.each(["x'; SET ROLE postgres; --", '', 'not-an-id'])(
    'is not opened by an organization called %j',
    async (name) => {
      await expect(reading(name, () => unit.manager.query('SELECT 1'))).rejects.toThrow('named by its id');
    },
  );

  it.each([
    "UPDATE audit_records SET action = 'x'",
    'DELETE FROM audit_records',
    'TRUNCATE audit_records',
    'DELETE FROM audit_heads',
  ])('lets the audit trail only grow: %s is denied', async (statement) => {
    await expect(asRole(setTo(A), statement)).rejects.toThrow('permission denied');
  });

  it('covers the connections of the log too', async () => {
    const logs = new LogDatabase(database.dataSource, unit);
    const seen = await reading(A, () =>
      logs.read<{ id: string }>('SELECT organisation_id AS id FROM request_logs', []),
    );
    expect(seen).toEqual([{ id: A }]);
    await expect(reading(A, () => logs.read('DELETE FROM request_logs', []))).rejects.toThrow(
      /denied|read-only/,
    );
    await logs.onApplicationShutdown();
  });
});

describe('the transaction of a request', () => {
  it('takes no connection while it needs none, and gives it back while it waits for another', async () => {
    const one = await createDataSource(database.url, 1).initialize();
    const alone = new UnitOfWork(one);
    const select = () => alone.manager.query('SELECT 1 AS one');
    try {
      await alone.runFor({ organizationId: A, isReading: true }, async () => {
        expect(await one.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
        await select();
        await Promise.all([alone.beginningElsewhere(), alone.beginningElsewhere()]);
        expect(await one.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
        await select();
      });
      expect(await one.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      await one.destroy();
    }
  });

  it('is rolled back when a statement failed and its error was ignored', async () => {
    const work = writing(A, async () => {
      await unit.manager.query("UPDATE workspaces SET name = 'lost'");
      await unit.manager.query('SELECT nonsense').catch(() => undefined);
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await sql("SELECT 1 FROM workspaces WHERE name = 'lost'")).toEqual([]);
  });
});

describe('a statement of a tenant', () => {
  const alone = async (work: (unit: UnitOfWork, one: DataSource) => Promise<void>) => {
    const one = await createDataSource(database.url, 1).initialize();
    try {
      await work(new UnitOfWork(one), one);
    } finally {
      await one.destroy();
    }
  };
  const names = ({ manager }: UnitOfWork) => manager.query('SELECT name FROM workspaces');

  it('shows each tenant its own on one connection, in turns', async () => {
    await alone(async (work) => {
      const seen = () =>
        work.manager.query('SELECT organization_id AS id FROM workspaces WHERE slug = $1', ['w']);
      for (const organizationId of [A, B, A])
        for (const isReading of [true, false])
          expect(await work.runFor({ organizationId, isReading }, seen)).toEqual([{ id: organizationId }]);
    });
  });

  it('is refused when its transaction has ended, because the connection belongs to another one', async () => {
    await alone(async (work) => {
      let late = work.manager;
      let rows = work.repository(Workspace);
      await work.runFor({ organizationId: A, isReading: true }, async () => {
        await names(work);
        late = work.manager;
        rows = work.repository(Workspace);
      });
      await expect(late.query('SELECT name FROM workspaces')).rejects.toThrow('released');
      await expect(rows.findOneBy({ organizationId: A })).rejects.toThrow('released');
    });
  });

  it('fails as any statement of TypeORM fails', async () => {
    const broken = reading(A, () => unit.manager.query('SELECT 1 / $1::int', [0]));
    await expect(broken).rejects.toBeInstanceOf(QueryFailedError);
    await expect(broken).rejects.toMatchObject({
      query: 'SELECT 1 / $1::int',
      parameters: [0],
      code: '22012',
    });
  });

  it('never runs without its tenant, when the tenant could not be set and the error was caught', async () => {
    await alone(async (work, one) => {
      const writer = { organizationId: A, isReading: false };
      const change = () => work.manager.query("UPDATE workspaces SET name = 'everybody'");
      const query = Object.getOwnPropertyDescriptor(PostgresQueryRunner.prototype, 'query')?.value;
      const failing = vi.spyOn(PostgresQueryRunner.prototype, 'query').mockImplementation(function (
        this: PostgresQueryRunner,
        text,
        ...rest
      ) {
        return query.call(this, text.includes('set_config') ? 'SELECT nonsense' : text, ...rest);
      });
      try {
        const refused = work.runFor(writer, () => Promise.allSettled([names(work), change(), change()]));
        await expect(refused).rejects.toThrow();
      } finally {
        failing.mockRestore();
      }
      expect(await one.query("SELECT 1 FROM workspaces WHERE name = 'everybody'")).toEqual([]);
      expect(await one.query('SELECT pg_current_xact_id_if_assigned() AS id')).toEqual([{ id: null }]);
    });
  });

  it('may have a transaction of its own within, which alone is undone when it fails', async () => {
    const rename = (name: string) => unit.manager.query('UPDATE workspaces SET name = $1', [name]);
    await writing(A, async () => {
      await unit.manager.transaction(() => rename('inner'));
      const undone = unit.manager.transaction(async () => {
        await rename('undone');
        await unit.manager.query('SELECT nonsense');
      });
      await expect(undone).rejects.toThrow('nonsense');
    });
    expect(await sql('SELECT name FROM workspaces WHERE organization_id = $1', [A])).toEqual([
      { name: 'inner' },
    ]);
    expect(await sql('SELECT name FROM workspaces WHERE organization_id = $1', [B])).toEqual([{ name: 'w' }]);
  });

  it('gives each of several at once its own result, in one transaction', async () => {
    await alone(async (work) => {
      const asked = () =>
        Promise.all(
          [1, 2, 3].map((each) =>
            work.manager.query('SELECT $1::int AS each, pg_current_xact_id()::text AS xid', [each]),
          ),
        );
      const answers = await work.runFor({ organizationId: A, isReading: false }, asked);
      expect(answers.map(([row]) => row.each)).toEqual([1, 2, 3]);
      expect(new Set(answers.map(([row]) => row.xid)).size).toBe(1);
    });
  });

  it('notifies at the commit, and never after a rollback', async () => {
    const listener = new pg.Client({ connectionString: database.url });
    const heard: (string | undefined)[] = [];
    await listener.connect();
    listener.on('notification', ({ payload }) => heard.push(payload));
    try {
      await listener.query('LISTEN walls');
      const tell = async (payload: string, failure?: Error) => {
        await unit.manager.query('SELECT 1');
        await unit.notify('walls', payload);
        if (failure) throw failure;
      };
      await writing(A, () => tell('lost', new Error('undone'))).catch(() => undefined);
      await writing(A, () => tell("it's '; SELECT 1"));
      await writing(A, () => unit.notify('walls', 'alone'));
      await unit.notify('walls', 'last');
      await expect.poll(() => heard).toEqual(["it's '; SELECT 1", 'alone', 'last']);
    } finally {
      await listener.end();
    }
  });
});

describe('a login that may not make roles', () => {
  it('gets everything but the wall, and can have that later', async () => {
    const empty = await emptyDatabase();
    const [login, name] = [`plain_${randomUUID().slice(0, 8)}`, new URL(empty.url).pathname.slice(1)];
    await administer(
      empty.url,
      `CREATE ROLE ${login} LOGIN; GRANT CREATE ON SCHEMA public TO ${login}; GRANT ALL ON DATABASE ${name} TO ${login}`,
    );
    const url = new URL(empty.url);
    url.username = login;
    const opened: DataSource[] = [];
    try {
      const plain = await createDataSource(url.href, 2, 'migrations').initialize();
      opened.push(plain);
      await migrate(plain);
      const work = new UnitOfWork(plain);
      const asked = () =>
        work.runFor({ organizationId: A, isReading: true }, () =>
          work.manager.query('SELECT current_user AS name'),
        );
      expect(await asked()).toEqual([{ name: login }]);
      await expect(rowLevelSecurityCheck(plain).run()).rejects.toThrow(
        /Row-level security does not separate tenants/,
      );
      await administer(empty.url, `GRANT gatehouse_tenant TO ${login}`);
      await plain.query('SELECT protect_tenant_tables()');
      const later = new UnitOfWork(plain);
      expect(
        await later.runFor({ organizationId: A, isReading: true }, () =>
          later.manager.query('SELECT current_user AS name'),
        ),
      ).toEqual([{ name: 'gatehouse_tenant' }]);
      await rowLevelSecurityCheck(plain).run();
    } finally {
      for (const each of opened) await each.destroy();
      await empty.drop();
      await administer(new URL('/postgres', empty.url).href, `DROP ROLE ${login}`);
    }
  });

  it('and may not create tables gets a sentence with the statements to run, and no stack', async () => {
    const empty = await emptyDatabase();
    const login = `bare_${randomUUID().slice(0, 8)}`;
    await administer(empty.url, `CREATE ROLE ${login} LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC`);
    const url = new URL(empty.url);
    url.username = login;
    const bare = await createDataSource(url.href, 2, 'migrations').initialize();
    try {
      const failure: unknown = await runMigrations(bare, new Secret(url.href)).catch(
        (error: unknown) => error,
      );

      expect(explain(failure)).toMatch(
        new RegExp(
          `^The database user "${login}" lacks a privilege in .*GRANT CREATE ON SCHEMA public TO "${login}";`,
        ),
      );
      expect(explain(failure)).not.toMatch(/\n\s+at /);
    } finally {
      await bare.destroy();
      await empty.drop();
      await administer(new URL('/postgres', empty.url).href, `DROP ROLE ${login}`);
    }
  });

  it('has the same rights as before when they are granted again, on tables without a tenant too', async () => {
    const database = await freshDatabase();
    const rights = () =>
      database.dataSource.query(
        `SELECT table_name AS name, string_agg(privilege_type, ', ' ORDER BY privilege_type) AS rights
         FROM information_schema.role_table_grants WHERE grantee = 'gatehouse_tenant' AND table_schema = 'public'
         GROUP BY 1 ORDER BY 1`,
      );
    const granted = await rights();
    await database.dataSource.query('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM gatehouse_tenant');
    expect(await rights()).toEqual([]);

    await database.dataSource.query('SELECT protect_tenant_tables()');

    expect(await rights()).toEqual(granted);
    await database.drop();
  });
});
