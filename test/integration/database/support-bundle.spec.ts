import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { supportBundleCommand } from '../../../src/cli/support-bundle/support-bundle-command.js';
import { loadSettings } from '../../../src/common/settings/settings.js';
import { Canaries, type Sink } from '../../support/canaries.js';
import { freshDatabase } from '../../support/database.js';

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-support-'));
  ended.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  ended.push(() => client.end());
  return client;
}

const END_SLEEP = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%pg_sleep%'`;

interface Column {
  readonly table_name: string;
  readonly name: string;
  readonly type: string;
}

const COLUMNS = `
  SELECT c.relname AS table_name, a.attname AS name, format_type(a.atttypid, NULL) AS type
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname <> 'migrations' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  ORDER BY c.relname, a.attnum`;

const CHECKS = `
  SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', c.relname, k.conname) AS statement
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
  WHERE k.contype = 'c' AND c.relnamespace = 'public'::regnamespace AND k.coninhcount = 0`;

const MISSING_DEFAULTS = `
  SELECT format('CREATE TABLE %I PARTITION OF %I DEFAULT', c.relname || '_default', c.relname) AS statement
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'p'
    AND to_regclass(c.relname || '_default') IS NULL`;

const VALUES: Readonly<Record<string, (canary: string) => unknown>> = {
  text: (canary) => canary,
  'character varying': (canary) => canary,
  'text[]': (canary) => [canary],
  jsonb: (canary) => JSON.stringify({ [canary]: canary }),
  json: (canary) => JSON.stringify({ [canary]: canary }),
  bytea: (canary) => Buffer.from(canary),
};

const OTHERS: Readonly<Record<string, unknown>> = {
  uuid: '01890000-0000-7000-8000-000000000000',
  'uuid[]': [],
  'timestamp with time zone': '2030-01-01T00:00:00Z',
  date: '2030-01-01',
  boolean: false,
};

/** A row in every table, whose texts, documents and bytes are canaries. Returns the number of planted columns. */
async function plant(client: pg.Client, canaries: Canaries): Promise<number> {
  const { rows: checks } = await client.query<{ statement: string }>(CHECKS);
  for (const { statement } of checks) await client.query(statement);
  const { rows: defaults } = await client.query<{ statement: string }>(MISSING_DEFAULTS);
  for (const { statement } of defaults) await client.query(statement);
  await client.query('SET session_replication_role = replica');
  const { rows: columns } = await client.query<Column>(COLUMNS);
  const tables = new Map<string, Column[]>();
  for (const column of columns)
    tables.set(column.table_name, [...(tables.get(column.table_name) ?? []), column]);
  let planted = 0;
  for (const [table, of] of tables) {
    const values = of.map(({ name, type }) => {
      const make = VALUES[type];
      if (!make) return type in OTHERS ? OTHERS[type] : type.endsWith('[]') ? [] : 1;
      planted += 1;
      const mail = `${randomBytes(8).toString('hex')}@canary.example`;
      if (/mail/.test(name)) canaries.watch(`${table}.${name}`, mail);
      return make(/mail/.test(name) ? mail : canaries.make(`${table}-${name}`));
    });
    const names = of.map(({ name }) => pg.escapeIdentifier(name)).join(', ');
    const places = of.map((_, index) => `$${index + 1}`).join(', ');
    await client.query(`INSERT INTO ${table} (${names}) VALUES (${places})`, values);
  }
  return planted;
}

/** Every secret and free text of the settings is a canary. */
function plantedSettings(canaries: Canaries, databaseUrl: string, dataDir: string): Record<string, string> {
  const make = (name: string): string => {
    const canary = randomBytes(16).toString('hex');
    canaries.watch(name, canary, true);
    return canary;
  };
  const key = (name: string): string => {
    const bytes = randomBytes(32);
    canaries.watch(name, bytes.toString('base64'));
    canaries.watch(`${name} in hex`, bytes.toString('hex'));
    return bytes.toString('base64');
  };
  const url = new URL(databaseUrl);
  url.password = make('database');
  const folder = join(dataDir, 'settings');
  mkdirSync(folder, { recursive: true });
  const sinkSecret = join(folder, 'sink');
  writeFileSync(sinkSecret, make('sink'));
  return {
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_PORT: '0',
    DATABASE_URL: url.href,
    REDIS_URL: `redis://user:${make('redis')}@127.0.0.1:1`,
    CLICKHOUSE_URL: `http://user:${make('clickhouse')}@127.0.0.1:1/db`,
    GATEHOUSE_MASTER_KEY: key('master key'),
    GATEHOUSE_NEXT_MASTER_KEY: key('next master key'),
    GATEHOUSE_KEY_PEPPER: key('pepper'),
    GATEHOUSE_METRICS_TOKEN: make('metrics'),
    GATEHOUSE_SMTP_URL: `smtp://${make('smtp user')}:${make('smtp')}@127.0.0.1:1`,
    GATEHOUSE_MAIL_FROM: 'gatehouse@canary.example',
    GATEHOUSE_PUBLIC_URL: 'https://gateway.example',
    GATEHOUSE_S3_BUCKET: 'bucket',
    GATEHOUSE_S3_ENDPOINT: 'http://127.0.0.1:1',
    GATEHOUSE_S3_ACCESS_KEY_ID: make('s3 id'),
    GATEHOUSE_S3_SECRET_ACCESS_KEY: make('s3'),
    GATEHOUSE_SINK_WEBHOOK_URL: `https://127.0.0.1:1/hook?token=${make('webhook')}`,
    GATEHOUSE_SINK_WEBHOOK_SECRET_FILE: sinkSecret,
    HTTPS_PROXY: `http://proxy:${make('proxy')}@127.0.0.1:1`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${make('otlp')}`,
  };
}

function plantedLog(canaries: Canaries, folder: string): string {
  const [text, quoted, cut, query] = ['text', 'quoted', 'cut', 'query'].map((name) =>
    canaries.make(`log-${name}`),
  );
  const line = {
    level: 'error',
    time: '2030-01-01T00:00:00Z',
    component: 'shipper',
    request_id: 'x',
    status: 500,
  };
  const lines = [
    JSON.stringify({ ...line, msg: 'The batch failed.', body: text, headers: { authorization: text } }),
    JSON.stringify({ ...line, msg: `${text} was refused for ada@canary.example` }),
    JSON.stringify({
      ...line,
      err: { type: 'Error', message: `bad value "${quoted}"`, stack: `Error: '${cut}` },
    }),
    JSON.stringify({ ...line, msg: `GET https://me:hush@h.example/p?key=${query} failed`, user: text }),
    `A line of another program with ${text}`,
  ];
  const path = join(folder, 'service.log');
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

function unpacked(path: string): Sink[] {
  const folder = makeFolder();
  execFileSync('tar', ['xzf', path, '-C', folder]);
  return readdirSync(folder).map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
}

describe('a support bundle', () => {
  it(
    'holds no secret, body or mail address of the database, the settings or the log',
    { timeout: 180_000 },
    async () => {
      const database = await freshDatabase();
      ended.push(() => database.drop());
      const canaries = new Canaries();
      const client = await connect(database.url);
      expect(await plant(client, canaries)).toBeGreaterThan(250);
      const folder = makeFolder();
      const environment = plantedSettings(canaries, database.url, join(folder, 'data'));
      const statement = canaries.make('statement');
      const busy = await connect(database.url);
      void busy
        .query(`SELECT pg_sleep(60), '${statement}', $$${statement}$$ /* ${statement} */`)
        .catch(() => undefined);
      ended.push(() => client.query(END_SLEEP));
      expect(() => loadSettings(environment)).not.toThrow();
      const path = join(folder, 'bundle.tar.gz');

      expect(await supportBundleCommand(environment, { to: path, log: plantedLog(canaries, folder) })).toBe(
        0,
      );

      const files = unpacked(path);
      expect(canaries.scan(files)).toEqual([]);
      const text = files.map(({ name, bytes }) => `${name}\n${bytes.toString('utf8')}`).join('\n');
      expect(text.match(/[\w.+-]+@[\w-]+\.\w+/g)).toBeNull();
      expect(text).not.toContain('canary');

      const read = (name: string): string =>
        files.find((file) => file.name === name)?.bytes.toString('utf8') ?? '';
      const { migrations, tables, running_statements, resources } = JSON.parse(
        read('database.json'),
      ) as Record<string, unknown>;
      expect(migrations).toContainEqual(expect.objectContaining({ name: 'RowLevelSecurity1763800000001' }));
      expect(tables).toContainEqual(
        expect.objectContaining({ name: 'request_logs', parts: expect.any(Number) }),
      );
      expect(resources).toMatchObject({ organizations: 1, virtual_keys: 1 });
      expect(running_statements).toContainEqual(
        expect.objectContaining({ statement: 'SELECT pg_sleep(?), ?, ?' }),
      );
      expect(JSON.parse(read('settings.json'))).toMatchObject({
        GATEHOUSE_MASTER_KEY: '***',
        GATEHOUSE_S3_BUCKET: 'bucket',
        GATEHOUSE_MAIL_FROM: '(set, 24 characters)',
      });
      expect(read('doctor.jsonl')).toContain('"check":"Redis","result":"failed"');
      expect(read('log.jsonl')).toContain('"msg":"The batch failed."');
      expect(read('log.jsonl')).toContain('{"lines_without_json_left_out":1}');
    },
  );

  it('is written when the database is unavailable and a setting is wrong, and reports both', async () => {
    const folder = makeFolder();
    const path = join(folder, 'bundle.tar.gz');
    const environment = {
      GATEHOUSE_DATA_DIR: join(folder, 'data'),
      GATEHOUSE_PORT: '0',
      DATABASE_URL: 'postgres://me:hush-hush@127.0.0.1:1/db',
    };
    expect(await supportBundleCommand(environment, { to: path })).toBe(0);
    expect(textOf(path, 'database.json')).toContain('ECONNREFUSED');

    const other = join(folder, 'other.tar.gz');
    expect(await supportBundleCommand({ ...environment, GATEHOUSE_PORT: 'x' }, { to: other })).toBe(0);
    expect(textOf(other, 'instance.json')).toContain('GATEHOUSE_PORT');
    await expect(supportBundleCommand(environment, { to: path })).rejects.toThrow('exists already');
  });

  const textOf = (path: string, name: string): string =>
    unpacked(path)
      .find((file) => file.name === name)
      ?.bytes.toString('utf8') ?? '';
});
