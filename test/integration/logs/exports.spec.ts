import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { AddressInfo } from 'node:net';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { ExportLeases } from '../../../src/jobs/exports/export-lease.js';
import { SweepExports } from '../../../src/jobs/exports/sweep-exports.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { compileSource } from '../../support/compiled-source.js';
import { exportWriter, startExports } from '../../support/log-exports.js';
import { storeBatch, storeMessages, type StoredRequest } from '../../support/stored-batches.js';
import { eventually } from '../../support/waiting.js';

let app: AdminApp;
let folder: string;
let own: { id: string; key: string };
let workspaceTwo: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-exports-'));
  app = await AdminApp.start({ GATEHOUSE_EXPORT_DIR: folder });
  await app.app.listen(0, '127.0.0.1');
  workspaceTwo = await app.anotherWorkspace('ws-two');
  own = await app.workspaceKey(['logs.export']);
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

const inOwn = (request: StoredRequest = {}): StoredRequest => ({
  organisation_id: app.first.organisation_id,
  workspace_id: app.first.workspace_id,
  ...request,
});

/** Rows of an hour that no other test has. */
let hours = 0;
async function stored(count: number, of: (at: number) => StoredRequest = () => ({})) {
  const start = Date.parse('2026-11-18T00:00:00Z') + ++hours * 3_600_000;
  const rows = Array.from({ length: count }, (_, at) => ({
    id: uuidV7(start + at),
    created_at: new Date(start + Math.floor(at / 3) * 1_000),
    ...inOwn(of(at)),
  }));
  await storeBatch(app.dataSource, rows);
  const filters = {
    time_of_generation_min: new Date(start).toISOString(),
    time_of_generation_max: new Date(start + 3_599_000).toISOString(),
  };
  return { rows, filters };
}

const call = (method: string, path: string, body?: unknown, key = own.key) =>
  app.call(method, `/v1/logs/exports${path}`, { key, body });

async function started(body: object, key = own.key): Promise<string> {
  const { body: created, status, text } = await call('POST', '', { requested_data: ['id'], ...body }, key);
  expect(status, text).toBe(200);
  expect((await call('POST', `/${created.id}/start`, {}, key)).status).toBe(200);
  return created.id;
}

const write = (id: string, more: object = {}) => exportWriter(app.dataSource, { folder, ...more }).write(id);
const read = async (id: string): Promise<Json> => (await call('GET', `/${id}`)).body;

/** Over a real socket, because files are streamed. */
async function fetched(path: string, headers: Record<string, string> = {}) {
  const { port } = app.app.getHttpServer().address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}
const fileOf = (id: string, key = own.key) =>
  fetched(`/v1/logs/exports/${id}/file`, { 'x-gateway-api-key': key });
const linesIn = (bytes: Buffer): Json[] =>
  bytes
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe('an export', () => {
  it('goes from draft to a file of the rows that fit, oldest first, under the names of the compatible API', async () => {
    const { rows, filters } = await stored(7, (at) => ({
      model: at === 0 ? 'other' : 'gpt',
      cost_nano_usd: at === 1 ? null : 415_000,
      input_tokens: 12,
      output_tokens: 40,
      metadata: { _user: 'ada' },
    }));
    await storeBatch(app.dataSource, [{ ...rows[1], id: uuidV7(1), workspace_id: workspaceTwo }]);
    const { body: draft } = await call('POST', '', {
      filters: { ...filters, ai_model: 'gpt' },
      requested_data: ['id', 'created_at', 'is_success', 'total_units', 'cost', 'metadata'],
    });
    expect(draft).toMatchObject({ object: 'export', total: 6 });
    expect(await read(draft.id)).toMatchObject({ status: 'draft', format: 'jsonl', exported_rows: 0 });

    await call('POST', `/${draft.id}/start`, {});
    expect(await read(draft.id)).toMatchObject({ status: 'in_progress' });
    expect(await write(draft.id)).toBe('success');

    expect(await read(draft.id)).toMatchObject({ status: 'success', exported_rows: 6, created_by: own.id });
    const { bytes, headers } = await fileOf(draft.id);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="logs-${draft.id}.jsonl"`);
    expect(linesIn(bytes)).toEqual(
      rows.slice(1).map(({ id, created_at }, at) => ({
        id,
        created_at: created_at.toISOString(),
        is_success: true,
        total_units: 52,
        cost: at === 0 ? null : 0.0415,
        metadata: { _user: 'ada' },
      })),
    );
    expect((await stat(join(folder, `${draft.id}.jsonl`))).mode & 0o777).toBe(0o600);
  });

  it('holds requests and responses as they were stored', async () => {
    const { rows, filters } = await stored(1);
    await storeMessages(app.dataSource, rows[0]?.id as string, [
      {
        direction: 'request',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from('{"a":[1]}'),
      },
      { direction: 'response', body: Buffer.from('plain\n"text"'), content_type: 'text/plain' },
    ]);
    const id = await started({ filters, requested_data: ['request', 'response'] });
    await write(id);

    expect(linesIn((await fileOf(id)).bytes)).toEqual([
      {
        request: {
          url: '/v1/chat/completions',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: { a: [1] },
        },
        response: { status: 200, responseTime: 120, headers: {}, body: 'plain\n"text"' },
      },
    ]);
  });

  it('makes cells that no spreadsheet takes for a formula, and that say the same without the apostrophe', async () => {
    const evil = ['=1+1', '+cmd', '-2', '@x', '\tx', '\rx', '＝1', '"=1', 'a\nb,"c"', 'harmless'];
    const { filters } = await stored(evil.length, (at) => ({ trace_id: evil[at] }));
    const id = await started({ filters, requested_data: ['trace_id', 'total_units'], format: 'csv' });
    await write(id);

    const { bytes, headers } = await fileOf(id);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, ...cells] = rowsOfCsv(bytes.toString());
    expect(head).toEqual(['trace_id', 'total_units']);
    expect(cells.map(([cell]) => cell).filter((cell) => /^[=+\-@\t\r＝]/.test(cell as string))).toEqual([]);
    expect(cells.map(([cell]) => (cell as string).replace(/^'/, ''))).toEqual(evil);
  });

  it('makes Parquet that another reader reads back, with types and nulls', async () => {
    const { rows, filters } = await stored(30, (at) => ({
      cost_nano_usd: at % 2 === 0 ? null : at * 10_000_000,
      metadata: { n: String(at) },
      dropped_parameters: at === 1 ? ['seed', 'logit_bias'] : null,
    }));
    const requested_data = [
      'id',
      'created_at',
      'is_success',
      'total_units',
      'cost',
      'metadata',
      'prompt_slug',
      'dropped_parameters',
    ];
    const id = await started({ filters, requested_data, format: 'parquet' });
    expect(await write(id)).toBe('success');

    const file = await asyncBufferFromFile(join(folder, `${id}.parquet`));
    expect(await parquetReadObjects({ file })).toEqual(
      rows.map((row, at) => ({
        id: row.id,
        created_at: row.created_at,
        is_success: true,
        total_units: 15n,
        cost: at % 2 === 0 ? null : at,
        metadata: `{"n":"${at}"}`,
        prompt_slug: null,
        dropped_parameters: at === 1 ? '["seed","logit_bias"]' : null,
      })),
    );
    expect((await readdir(folder)).filter((name) => name.startsWith(id))).toEqual([`${id}.parquet`]);
  });

  it('is valid gzip also when it was written in pieces, and when nothing fits', async () => {
    const { rows, filters } = await stored(130);
    const whole = await started({ filters, requested_data: ['id', 'request'], compression: 'gzip' });
    const none = await started({ filters: { ...filters, ai_model: 'none' }, compression: 'gzip' });
    await write(whole);
    await write(none);

    expect(linesIn(gunzipSync((await fileOf(whole)).bytes)).map(({ id }) => id as string)).toEqual(
      rows.map(({ id }) => id),
    );
    expect(gunzipSync((await fileOf(none)).bytes).length).toBe(0);
  });

  it('has every row once after processes were killed at any piece, before or after its row recorded it', async () => {
    const { rows, filters } = await stored(220);
    const id = await started({ filters, requested_data: ['id', 'request'] });
    const source = compileSource();
    const program = source.program('killed-export.js', KILLED_EXPORT);
    const endings: (string | null)[] = [];
    for (const moment of ['before', 'after', 'torn', 'never']) {
      const child = spawn(process.execPath, [program, app.url, folder, id, moment], { stdio: 'inherit' });
      const [, signal] = (await once(child, 'exit')) as [number, string | null];
      endings.push(signal);
      await app.dataSource.query('UPDATE log_exports SET leased_until = NULL WHERE id = $1', [id]);
    }
    source.remove();

    expect(endings).toEqual([...Array<string>(3).fill('SIGKILL'), null]);
    expect(await read(id)).toMatchObject({ status: 'success', exported_rows: 220 });
    expect(linesIn((await fileOf(id)).bytes).map((line) => line.id as string)).toEqual(
      rows.map((row) => row.id),
    );
  }, 240_000);

  it('starts over when its file was lost, and continues where it was stopped', async () => {
    const { rows, filters } = await stored(120);
    const ids = rows.map((row) => row.id);
    const id = await started({ filters, requested_data: ['id', 'request'] });
    let steps = 0;
    expect(await write(id, { isStopping: () => ++steps > 1 })).toBe('released');
    expect(await read(id)).toMatchObject({ exported_rows: 50 });
    expect((await call('POST', `/${id}/cancel`, {})).status).toBe(200);
    expect(await write(id)).toBe('absent');
    expect((await fileOf(id)).status).toBe(409);

    await call('POST', `/${id}/start`, {});
    await truncate(join(folder, `${id}.jsonl`), 10);
    expect(await write(id)).toBe('success');
    expect(linesIn((await fileOf(id)).bytes).map((line) => line.id as string)).toEqual(ids);
  });

  it('is written by one process at a time, and the one that lost its lease writes nothing more', async () => {
    const { filters } = await stored(60);
    const id = await started({ filters, requested_data: ['id', 'request'] });
    const leases = new ExportLeases(app.dataSource);
    const first = await leases.claim(id);
    expect(await write(id)).toBe('absent');
    await app.dataSource.query('UPDATE log_exports SET leased_until = NULL WHERE id = $1', [id]);
    expect(await write(id)).toBe('success');

    const late = { after: null, rows: 1, bytes: 1 };
    expect(first && (await leases.advance(first, late))).toBe(false);
    expect(first && (await leases.fail(first, 'late'))).toBe(false);
    expect(await read(id)).toMatchObject({ status: 'success', exported_rows: 60 });
  });

  it('fails, and says why, when it grows too large', async () => {
    const { filters } = await stored(20);
    const id = await started({ filters });

    expect(await write(id, { limitBytes: 200 })).toBe('failed');
    expect(await read(id)).toMatchObject({ status: 'failed', problem: expect.stringContaining('200 bytes') });
  });

  it('says that a try failed and another follows, until one succeeds', async () => {
    const { filters } = await stored(3);
    const id = await started({ filters });
    const bucket = { putFile: () => Promise.reject(new Error('the bucket answers nonsense')) };

    await expect(write(id, { bucket })).rejects.toThrow('nonsense');
    expect(await read(id)).toMatchObject({
      status: 'in_progress',
      problem: 'Attempt 1 of 10 failed and will be retried. The log of the service has the cause.',
    });
    await app.dataSource.query('UPDATE log_exports SET leased_until = NULL WHERE id = $1', [id]);

    expect(await write(id)).toBe('success');
    expect(await read(id)).toMatchObject({ status: 'success', problem: null });
  });

  it('fails when the key that started it was deleted, or may not export any more', async () => {
    const { filters } = await stored(3);
    const [gone, lesser] = [await app.workspaceKey(['logs.export']), await app.workspaceKey(['logs.export'])];
    const [one, other] = [await started({ filters }, gone.key), await started({ filters }, lesser.key)];
    await app.call('DELETE', `/v1/api-keys/${gone.id}`);
    await app.call('PUT', `/v1/api-keys/${lesser.id}`, { body: { scopes: ['logs.list'] } });

    expect([await write(one), await write(other)]).toEqual(['failed', 'failed']);
    expect(await read(one)).toMatchObject({ problem: expect.stringContaining('can no longer export') });
    expect((await readdir(folder)).filter((name) => name.startsWith(one)).length).toBeLessThan(2);
  });
});

describe('a link to an export', () => {
  let id: string;
  let maker: { id: string; key: string };
  beforeAll(async () => {
    const { filters } = await stored(3);
    maker = await app.workspaceKey(['logs.export']);
    id = await started({ filters });
    await write(id);
  });
  const linkOf = async (key = own.key): Promise<string> => {
    const { pathname, search } = new URL(
      (await call('GET', `/${id}/download`, undefined, key)).body.signed_url,
    );
    return pathname + search;
  };

  it('opens the file without a key, and leaves an audit record of whom it was given to', async () => {
    const { status, bytes } = await fetched(await linkOf());

    expect([status, linesIn(bytes).length]).toEqual([200, 3]);
    expect((await app.audited()).at(-1)).toMatchObject({
      action: 'log_exports.download',
      target_id: id,
      actor_id: own.id,
      method: 'GET',
    });
    const { body } = await app.call('GET', '/v1/audit-logs?method=GET');
    expect(body.records[0]).toMatchObject({ method: 'GET', user_id: own.id });
  });

  it('is invalid when a character is changed, for another export, or when it has expired', async () => {
    const link = new URL(await linkOf(), 'http://x');
    const changed = (name: string, value: string) => {
      const copy = new URL(link);
      copy.searchParams.set(name, value);
      return copy.pathname + copy.search;
    };
    const { filters } = await stored(1);
    const other = await started({ filters });
    await write(other);
    const over = String(Math.floor(Date.now() / 1000) - 1);

    for (const path of [
      changed('signature', 'AAAA'),
      changed('expires', '99999999999'),
      changed('expires', over),
      changed('by', `key-${maker.id}`),
      link.pathname.replace(id, other) + link.search,
      link.pathname.replace(id, '..%2f..%2fsecrets') + link.search,
    ])
      expect((await fetched(path)).status, path).toBe(404);
    expect((await fetched(link.pathname)).status).toBe(401);
  });

  it('does not open it any more when its maker may not export any more', async () => {
    const link = await linkOf(maker.key);
    expect((await fetched(link)).status).toBe(200);
    await app.call('DELETE', `/v1/api-keys/${maker.id}`);

    expect((await fetched(link)).status).toBe(404);
  });
});

describe('exports of others', () => {
  it('are not there for a key of another workspace or without the scope', async () => {
    const { filters } = await stored(2);
    const id = await started({ filters });
    await write(id);
    const [elsewhere, without] = [
      await app.workspaceKey(['logs.export'], workspaceTwo),
      await app.workspaceKey(['logs.list']),
    ];
    const absent = (await call('GET', `/${uuidV7(Date.now())}`, undefined, elsewhere.key)).text.replace(
      /"request_id":"[^"]*"/,
      '',
    );

    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['POST', '/start'],
      ['POST', '/cancel'],
      ['GET', '/download'],
    ] as const) {
      const foreign = await call(method, `/${id}${path}`, method === 'GET' ? undefined : {}, elsewhere.key);
      expect([foreign.status, foreign.text.replace(/"request_id":"[^"]*"/, '')], path).toEqual([404, absent]);
      const refused = await call(method, `/${id}${path}`, method === 'GET' ? undefined : {}, without.key);
      expect(refused.status, path).toBe(403);
    }
    expect((await fileOf(id, elsewhere.key)).status).toBe(404);
    expect((await fileOf(id, without.key)).status).toBe(403);
    expect((await call('GET', '', undefined, elsewhere.key)).body).toMatchObject({ total: 0 });
  });
});

describe('requested fields', () => {
  it.each([
    [{ filters: { nonsense: '1' } }, 'nonsense'],
    [{ filters: { status_code: 'x' } }, 'status_code'],
    [{ filters: {}, requested_data: ['password'] }, 'requested_data'],
    [{ filters: {}, requested_data: [] }, 'requested_data'],
    [{ filters: {}, requested_data: undefined }, 'requested_data'],
    [{ filters: {}, format: '../../x' }, 'format'],
    [{ filters: {}, format: 'parquet', compression: 'gzip' }, 'compression'],
    [{ filters: { workspace_slug: 'ws-two' } }, 'workspace'],
  ])('is refused when it is %j', async (body, named) => {
    const answer = await call('POST', '', { requested_data: ['id'], ...body });

    expect([400, 404]).toContain(answer.status);
    expect(answer.body.error.message).toContain(named);
  });

  it('can be changed in a draft only, and is audited', async () => {
    const { filters } = await stored(2);
    const { body: draft } = await call('POST', '', { filters, requested_data: ['id'] });
    expect(
      (await call('PUT', `/${draft.id}`, { requested_data: ['cost'], format: 'csv' })).body,
    ).toMatchObject({ total: 2 });
    expect(await read(draft.id)).toMatchObject({ requested_data: ['cost'], format: 'csv', filters });
    await call('POST', `/${draft.id}/start`, {});

    expect((await call('PUT', `/${draft.id}`, { requested_data: ['id'] })).status).toBe(409);
    const of = (await app.audited()).filter((record) => record.target_id === draft.id);
    expect(of.map(({ method, outcome }) => `${method} ${outcome}`)).toEqual([
      'POST success',
      'PUT success',
      'POST success',
      'PUT refused',
    ]);
  });

  it('is five exports at a time at most', async () => {
    const key = await app.workspaceKey(['logs.export'], workspaceTwo);
    const { filters } = await stored(1);
    for (let at = 0; at < 5; at++) await started({ filters }, key.key);
    const { body } = await call('POST', '', { filters, requested_data: ['id'] }, key.key);

    expect((await call('POST', `/${body.id}/start`, {}, key.key)).status).toBe(409);
  });
});

describe('the background process', () => {
  it('finds a started export, writes it, and removes expired and orphaned files', async () => {
    const { filters } = await stored(3);
    const id = await started({ filters });
    const jobs = await startExports(app.settings);
    await jobs.get(SweepExports).announce();
    await eventually(async () => (await read(id)).status === 'success', {
      what: 'the export',
    });
    const stranger = join(folder, `${uuidV7(Date.now())}.csv`);
    await writeFile(stranger, '');
    for (const path of [stranger, join(folder, `${id}.jsonl`)]) await utimes(path, 0, 0);
    await app.dataSource.query("UPDATE log_exports SET expires_at = now() - interval '1 s' WHERE id = $1", [
      id,
    ]);
    expect((await fileOf(id)).status).toBe(404);

    await jobs.get(SweepExports).tidy();

    const names = await readdir(folder);
    expect(names.filter((name) => name.startsWith(id) || stranger.endsWith(name))).toEqual([]);
    await jobs.close();
  });
});

describe('the unmodified SDK', () => {
  it('performs all its operations of exports', async () => {
    const { filters } = await stored(4);
    const { port } = app.app.getHttpServer().address() as AddressInfo;
    const { exports } = new Portkey({ apiKey: own.key, baseURL: `http://127.0.0.1:${port}/v1` }).logs as Json;

    const { id, total } = await exports.create({ workspaceId: 'ws-default', filters, requestedData: ['id'] });
    expect(total).toBe(4);
    await exports.update({ exportId: id, workspaceId: 'ws-default', filters, requestedData: ['id', 'cost'] });
    expect(await exports.start({ exportId: id })).toMatchObject({ message: 'The export was started.' });
    expect(await exports.cancel({ exportId: id })).toMatchObject({ message: 'The export was stopped.' });
    await exports.start({ exportId: id });
    await write(id);
    expect(await exports.retrieve({ exportId: id })).toMatchObject({ status: 'success', exported_rows: 4 });
    expect((await exports.list({ workspaceId: 'ws-default' })).data[0]).toMatchObject({ id });
    const { signed_url } = await exports.download({ exportId: id });
    const { pathname, search } = new URL(signed_url);
    expect(linesIn((await fetched(pathname + search)).bytes)).toHaveLength(4);
  });
});

/** Cells as RFC 4180 has them. */
function rowsOfCsv(text: string): string[][] {
  return [...text.matchAll(/((?:"(?:[^"]|"")*",?)+)\r\n/g)].map(([, line]) =>
    [...(line as string).matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell]) =>
      (cell as string).replaceAll('""', '"'),
    ),
  );
}

describe('fields that the organization excludes from exports', () => {
  const deny = (deniedFields: string[] | null) =>
    app.call('PUT', '/v1/admin/organisation', {
      body: { export_settings: deniedFields && { deniedFields } },
    });
  const body = { filters: {}, requested_data: ['id', 'request'], workspace_id: 'ws-default' };

  it('are listed, and refused when an export is made, changed and started', async () => {
    const { body: made } = await app.call('POST', '/v1/logs/exports', { body });
    expect((await deny(['request'])).body.export_settings).toEqual({ deniedFields: ['request'] });

    const told = await app.call('GET', '/v1/logs/exports/field-restrictions');
    expect(told.body).toEqual({ object: 'export-field-restrictions', deniedFields: ['request'] });
    for (const refused of [
      await app.call('POST', '/v1/logs/exports', { body }),
      await app.call('PUT', `/v1/logs/exports/${made.id}`, { body: { description: 'Another' } }),
      await app.call('POST', `/v1/logs/exports/${made.id}/start`),
    ]) {
      expect(refused.status).toBe(403);
      expect(refused.body.error.message).toContain('"request"');
    }
    const allowed = { body: { requested_data: ['id'] } };
    expect((await app.call('PUT', `/v1/logs/exports/${made.id}`, allowed)).status).toBe(200);
    expect((await app.call('POST', `/v1/logs/exports/${made.id}/start`)).status).toBe(200);
    expect((await deny(null)).body.export_settings).toBeNull();
    expect((await deny(['wrapped_key'])).status).toBe(400);
  });
});

/** Writes an export, and dies at the second piece: before its row knows it, after that, or with a torn piece behind it. */
const KILLED_EXPORT = `
  import { appendFileSync } from 'node:fs';
  import { createDataSource } from './schema/data-source.js';
  import { UnitOfWork } from './database/unit-of-work.js';
  import { KeptLogs } from './request-log/reading/kept-logs.js';
  import { LogDatabase } from './request-log/reading/log-database.js';
  import { LogScope } from './request-log/reading/log-scope.js';
  import { PostgresLogRows } from './admin/logs/rows/postgres-log-rows.js';
  import { RequestParts } from './admin/logs/request-parts.js';
  import { StoredBodies } from './admin/logs/stored-bodies.js';
  import { PostgresCurrentRights } from './adapters/directories/postgres-current-rights.js';
  import { ExportLeases } from './jobs/exports/export-lease.js';
  import { ExportRows } from './jobs/exports/export-rows.js';
  import { ExportWriter } from './jobs/exports/export-writer.js';

  const [url, folder, id, moment] = process.argv.slice(2);
  const dataSource = await createDataSource(url, 2, 'background').initialize();
  const unitOfWork = new UnitOfWork(dataSource);
  const logs = new LogDatabase(dataSource, unitOfWork);
  const kept = new KeptLogs(logs, { retentionDays: { logs: 0, bodies: 0, minutes: 0 } });
  const { advance } = ExportLeases.prototype;
  let pieces = 0;
  ExportLeases.prototype.advance = async function (...given) {
    const dies = moment !== 'never' && ++pieces === 2;
    const die = () => process.kill(process.pid, 'SIGKILL');
    if (dies && moment === 'torn') appendFileSync(folder + '/' + id + '.jsonl', '{"id":"half');
    if (dies && moment !== 'after') die();
    const answer = await advance.apply(this, given);
    if (dies) die();
    return answer;
  };
  await new ExportWriter({
    leases: new ExportLeases(dataSource),
    rows: new ExportRows(new PostgresLogRows(logs, new LogScope(logs)), new RequestParts(logs, null), kept, unitOfWork, new StoredBodies(logs, null, null)),
    rights: new PostgresCurrentRights(dataSource),
    settings: { folder, retentionDays: 7, limitBytes: 1e9 },
    isStopping: () => false,
    bucket: null,
  }).write(id);
  process.exit(0);
`;
