import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SpoolLogSink } from '../../../src/adapters/spool-log-sink.js';
import type { CapturedBodies, RequestLogRecord } from '../../../src/request-log/record.js';
import { BodyObjects } from '../../../src/request-log/bodies/body-objects.js';
import { ObjectStore } from '../../../src/request-log/bodies/object-store.js';
import { createLogger } from '../../../src/common/observability/logger.js';
import { storeIngested } from '../../../src/jobs/shipping/store-ingested.js';
import { Shipper } from '../../../src/jobs/shipping/shipper.js';
import { BodySink } from '../../../src/jobs/sinks/body-sink.js';
import type { LogDestination } from '../../../src/jobs/sinks/log-sink.js';
import { S3Sink } from '../../../src/jobs/sinks/s3-sink.js';
import { SinkBook } from '../../../src/jobs/sinks/sink-book.js';
import { SinkRunner } from '../../../src/jobs/sinks/sink-runner.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { dumpOf } from '../../support/database-dump.js';
import { aBody, anOpened, aRecord } from '../../support/exchanges.js';
import { exportWriter } from '../../support/log-exports.js';
import { S3Server } from '../../support/upstreams/s3.js';
import { eventually } from '../../support/waiting.js';

/** Each fits a pattern, a path or a header of the rules, and stands nowhere else. */
const BY_PATTERN = 'canary-4111-2222-3333-4444';
const BY_PATH = 'canary of the path';
const BY_HEADER = 'canary-of-the-header';
const CANARIES = [BY_PATTERN, BY_PATH, BY_HEADER];
const MIB = 1024 * 1024;
const OPEN = 'nothing to hide';

const ORGANIZATION_RULES = { headers: ['X-Customer'], patterns: [String.raw`canary(-\d{4}){4}`] };
const WORKSPACE_RULES = { json_paths: ['$..secret'] };

let app: AdminApp;
let pool: pg.Pool;
let bucket: S3Server;
let store: ObjectStore;
let folder: string;
let spool: string;
let own: string;
let other: string;
let batches = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-redaction-'));
  spool = mkdtempSync(join(tmpdir(), 'gatehouse-spool-'));
  bucket = await S3Server.start();
  app = await AdminApp.start({
    ...bucket.settings,
    GATEHOUSE_BODY_SEARCH: 'on',
    GATEHOUSE_EXPORT_DIR: folder,
  });
  store = new ObjectStore(app.settings.s3 as NonNullable<typeof app.settings.s3>, app.settings);
  pool = new pg.Pool({ connectionString: app.url, max: 4 });
  other = await app.anotherWorkspace('ws-two');
  own = (await app.workspaceKey()).key;
});
afterEach(async () => {
  await app.call('PUT', '/v1/admin/organisation', { body: { log_redaction: null } });
  await app.call('PUT', '/v1/admin/workspaces/ws-default', { body: { log_redaction: null } });
});
afterAll(async () => {
  await store.close();
  await pool.end();
  await app.close();
  await bucket.stop();
  rmSync(spool, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
});

const rules = async () => {
  await app.call('PUT', '/v1/admin/organisation', { body: { log_redaction: ORGANIZATION_RULES } });
  await app.call('PUT', '/v1/admin/workspaces/ws-default', { body: { log_redaction: WORKSPACE_RULES } });
};

const batchQueue = { enqueue: async () => void (batches += 1) };
const shipper = () =>
  new Shipper({
    pool,
    spool,
    logger: pino({ level: 'silent' }),
    counter: { countTokens: (text) => text.length, costOf: () => 1 },
    batchQueue,
  });

/** As a gateway process writes them, and the background process stores them. */
async function shipped(...exchanges: (readonly [RequestLogRecord, CapturedBodies])[]): Promise<void> {
  const sink = new SpoolLogSink({ spool, logger: pino({ level: 'silent' }), reserveBytes: 65_536 });
  for (const [record, bodies] of exchanges) {
    sink.open(record);
    sink.close(record, bodies);
  }
  await new Promise<void>((resolve) => sink.whenWritten(resolve));
  await sink.shutdown();
  const shipping = shipper();
  while (await shipping.round());
}

const inOwn = (more: Partial<RequestLogRecord> = {}, workspace_id = app.first.workspace_id) =>
  aRecord(anOpened({ organisation_id: app.first.organisation_id, workspace_id }), {
    path: `/v1/chat/completions?for=${BY_PATTERN}`,
    request_headers: ['content-type', 'application/json', 'x-customer', BY_HEADER, 'x-note', BY_PATTERN],
    response_headers: ['X-Customer', BY_HEADER],
    hook_results: { before_request_hooks: [{ checks: [{ data: { matched: BY_PATTERN } }] }] },
    ...more,
  });

const REQUEST = aBody(
  JSON.stringify({
    messages: [{ role: 'user', content: `${OPEN}: ${BY_PATTERN}` }],
    tool: { secret: BY_PATH },
  }),
);
const piece = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
const STREAM = aBody(
  `${(BY_PATTERN.match(/.{1,3}/g) ?? []).map(piece).join('')}data: {"secret":"${BY_PATH}"}\n\n${piece(' end')}data: [DONE]\n\n`,
  { content_type: 'text/event-stream' },
);
const PACKED = aBody(gzipSync(JSON.stringify({ message: BY_PATTERN, secret: BY_PATH })), {
  content_encoding: 'gzip',
});

async function databaseHits(): Promise<string[]> {
  const sinks = await dumpOf(pool);
  return sinks.flatMap(({ name, bytes }) =>
    CANARIES.filter((canary) => bytes.includes(canary)).map((canary) => `${canary} in ${name}`),
  );
}

async function delivered(sink: LogDestination): Promise<SinkRunner> {
  Object.assign(sink, { gathering: { ...sink.gathering, seconds: 0 } });
  const runner = new SinkRunner(sink, new SinkBook(app.dataSource), createLogger('test'));
  await runner.deliver();
  return runner;
}

describe('what the log must not keep', () => {
  it('is in no table, object, export, search or stream, and the rest of its requests is', async () => {
    await rules();
    await app.app.listen(0, '127.0.0.1');
    const controller = new AbortController();
    const live = await watched(controller);
    const bodies = await delivered(new BodySink(app.dataSource, new BodyObjects(store, app.box)));
    const objects = await delivered(new S3Sink(store, 0));
    const [plain, streamed, packed] = [inOwn(), inOwn({ streamed: true }), inOwn()];
    // The tables refuse it, and it is kept whole as a dead letter.
    const refused = inOwn({ status: 'none' as unknown as number });

    await shipped(
      [plain, { request: REQUEST, response: REQUEST }],
      [streamed, { request: REQUEST, response: STREAM }],
      [packed, { request: REQUEST, response: PACKED }],
      [refused, { request: REQUEST, response: REQUEST }],
    );
    expect(await pool.query('SELECT 1 FROM request_log_dead_letters')).toMatchObject({ rowCount: 1 });
    expect(await databaseHits()).toEqual([]);

    const detail = async (id: string): Promise<Json> =>
      (await app.call('GET', `/v1/logs/${id}`, { key: own })).body;
    const content = `${OPEN}: ***`;
    expect((await detail(plain.id)).request).toMatchObject({
      headers: { 'x-customer': '***', 'x-note': '***' },
      body: { messages: [{ role: 'user', content }], tool: { secret: '***' } },
    });
    expect((await detail(packed.id)).response.body).toEqual({ message: '***', secret: '***' });
    expect((await detail(streamed.id)).response.body).toContain('data: {"secret":"***"}');

    const { body: list } = await app.call('GET', '/v1/logs', { key: own });
    expect(list.data.find(({ id }: Json) => id === streamed.id)).toMatchObject({
      path: '/v1/chat/completions?for=***',
      request_preview: content,
      response_preview: '*** end',
    });

    await bodies.deliver();
    await objects.deliver();
    const written = [...bucket.objects.entries()].map(([key, object]) =>
      key.endsWith('.gz') ? gunzipSync(object) : object,
    );
    expect(written.length).toBeGreaterThan(1);
    expect(written.flatMap((object) => CANARIES.filter((canary) => object.includes(canary)))).toEqual([]);
    expect((await detail(plain.id)).request.body.messages).toEqual([{ role: 'user', content }]);
    expect(await found('canary')).toEqual([]);
    expect(await found(OPEN)).toContain(plain.id);
    expect(await exported()).not.toContain('canary');
    const heard = await eventually(() => (live.text().includes(streamed.id) ? live.text() : null), {
      withinMs: 15_000,
      what: 'the request in the stream of new ones',
    });
    controller.abort();
    expect(heard).not.toContain('canary');
    await Promise.all([bodies.stop(), objects.stop()]);
  });

  it('does not even reach the inbox of calls that were made elsewhere', async () => {
    await rules();
    const call = {
      request: {
        url: 'https://api.openai.com/v1/chat/completions',
        method: 'post',
        headers: { 'x-customer': BY_HEADER },
        body: { model: 'gpt-4o', messages: [{ role: 'user', content: BY_PATTERN }] },
      },
      response: { status: 200, body: { secret: BY_PATH }, response_time: 8 },
      metadata: { trace_id: 'elsewhere' },
    };
    expect((await app.call('POST', '/v1/logs', { key: own, body: call })).status).toBe(200);
    expect(await pool.query('SELECT 1 FROM ingested_logs')).toMatchObject({ rowCount: 1 });
    expect(await databaseHits()).toEqual([]);

    while (await storeIngested(pool, batchQueue));
    const [row] = (await app.call('GET', '/v1/logs?trace_id=elsewhere', { key: own })).body.data;
    expect(row).toMatchObject({ request_preview: '***' });
    expect(await databaseHits()).toEqual([]);
  });

  it('is as its workspace says, and of a process that died as well', async () => {
    await app.call('PUT', '/v1/admin/workspaces/ws-default', { body: { log_redaction: ORGANIZATION_RULES } });
    const mine = inOwn();
    const theirs = inOwn({}, other);
    await shipped(
      [mine, { request: REQUEST, response: null }],
      [theirs, { request: REQUEST, response: null }],
    );
    const pathOf = async (id: string) =>
      (await pool.query('SELECT path FROM request_logs WHERE id = $1', [id])).rows[0]?.path;
    expect(await pathOf(mine.id)).toBe('/v1/chat/completions?for=***');
    expect(await pathOf(theirs.id)).toContain(BY_PATTERN);

    const crashed = inOwn();
    const sink = new SpoolLogSink({ spool, logger: pino({ level: 'silent' }), reserveBytes: 65_536 });
    sink.open(crashed);
    await sink.shutdown();
    const shipping = shipper();
    while (await shipping.round());
    expect(await pathOf(crashed.id)).toBe('/v1/chat/completions?for=***');
  });

  it('is left in no segment of the spool that is kept to be written again', async () => {
    await app.call('PUT', '/v1/admin/organisation', { body: { log_redaction: { headers: ['x-customer'] } } });
    const sink = new SpoolLogSink({ spool, logger: pino({ level: 'silent' }), reserveBytes: 65_536 });
    const files = () => readdirSync(join(spool, sink.writerId));
    const shipping = shipper();
    for (let n = 0; n < 20; n++) {
      const record = inOwn();
      sink.open(record);
      sink.close(record, { request: aBody(Buffer.alloc(MIB, 97)), response: null });
      await new Promise<void>((resolve) => sink.whenWritten(resolve));
      if (n === 0) while (await shipping.round());
    }
    expect(files().filter((name) => name.endsWith('.seg'))).toHaveLength(2);
    while (await shipping.round());
    expect(files().filter((name) => /\.(seg|spare)$/.test(name))).toHaveLength(1);
    await sink.shutdown();
    while (await shipping.round());
  });

  it('is hidden in previews from callers without permission to read bodies', async () => {
    await shipped([inOwn({ trace_id: 'seen' }), { request: REQUEST, response: null }]);
    const lister = (await app.workspaceKey(['logs.list'])).key;
    const previewFor = async (key: string) =>
      (await app.call('GET', '/v1/logs?trace_id=seen', { key })).body.data[0].request_preview;
    expect(await previewFor(own)).toContain(OPEN);
    expect(await previewFor(lister)).toBeUndefined();

    await app.dataSource.query("UPDATE workspaces SET body_retention_days = 1 WHERE slug = 'ws-default'");
    await shipped([
      aRecord(
        anOpened({
          organisation_id: app.first.organisation_id,
          workspace_id: app.first.workspace_id,
          trace_id: 'over',
          created_at: Date.now() - 3 * 86_400_000,
        }),
      ),
      { request: REQUEST, response: null },
    ] as const);
    const [over] = (await app.call('GET', '/v1/logs?trace_id=over', { key: own })).body.data;
    expect(over.id).toBeDefined();
    expect(over.request_preview).toBeUndefined();
  });

  it('is refused when it is invalid, and recorded when it is valid', async () => {
    const given = { headers: ['two words'], json_paths: ['messages'], patterns: ['(', 'x*'] };
    for (const path of ['/v1/admin/organisation', '/v1/admin/workspaces/ws-default']) {
      const { status, body } = await app.call('PUT', path, { body: { log_redaction: given } });
      expect(status).toBe(400);
      for (const place of ['headers[0]', 'json_paths[0]', 'patterns[0]', 'patterns[1]'])
        expect(body.error.message).toContain(`log_redaction.${place} `);
    }
    await rules();
    expect((await app.call('GET', '/v1/admin/organisation')).body.log_redaction).toEqual(ORGANIZATION_RULES);
    const workspace = (await app.call('GET', '/v1/admin/workspaces/ws-default')).body;
    expect(workspace.log_redaction).toEqual(WORKSPACE_RULES);
  });
});

async function watched(controller: AbortController): Promise<{ readonly text: () => string }> {
  const { port } = app.app.getHttpServer().address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}/v1/logs/stream`, {
    headers: { 'x-gateway-api-key': own },
    signal: controller.signal,
  });
  let text = '';
  const read = async () => {
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>)
      text += Buffer.from(chunk).toString();
  };
  void read().catch(() => undefined);
  return { text: () => text };
}

async function found(search: string): Promise<string[]> {
  const query = new URLSearchParams({
    search,
    time_of_generation_min: new Date(Date.now() - 3_600_000).toISOString(),
  });
  const { status, text, body } = await app.call('GET', `/v1/logs?${query.toString()}`, { key: own });
  expect(status, text).toBe(200);
  return body.data.map(({ id }: Json) => id);
}

async function exported(): Promise<string> {
  const create = {
    workspace_id: app.first.workspace_id,
    filters: {
      time_of_generation_min: new Date(Date.now() - 3_600_000).toISOString(),
      time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
    },
    requested_data: ['id', 'request', 'response', 'request_url'],
  };
  const draft = (await app.call('POST', '/v1/logs/exports', { key: own, body: create })).body;
  await app.call('POST', `/v1/logs/exports/${draft.id}/start`, { key: own, body: {} });
  const writer = exportWriter(app.dataSource, { folder, bucket: store, box: app.box });
  expect(await writer.write(draft.id)).toBe('success');
  const file = [...bucket.objects.entries()].find(
    ([key]) => key.includes(`/exports/`) && key.includes(draft.id),
  );
  const text = (file?.[1] ?? Buffer.alloc(0)).toString();
  expect(text).toContain(OPEN);
  return text;
}
