import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Test } from '@nestjs/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDataSource } from '../../../src/schema/data-source.js';
import { DatabaseModule } from '../../../src/database/database.module.js';
import { Egress } from '../../../src/egress/egress.js';
import { operatorEgress } from '../../../src/egress/operator-egress.js';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { BodyObjects } from '../../../src/request-log/bodies/body-objects.js';
import { ObjectStore } from '../../../src/request-log/bodies/object-store.js';
import { createLogger } from '../../../src/common/observability/logger.js';
import { loadSettings, type Settings } from '../../../src/common/settings/settings.js';
import { SettingsModule } from '../../../src/common/settings/settings.module.js';
import { KeptTimes } from '../../../src/request-log/retention/kept-times.js';
import { SinksModule } from '../../../src/jobs/sinks/sinks.module.js';
import { BodySink } from '../../../src/jobs/sinks/body-sink.js';
import { underTimes } from '../../../src/jobs/retention/under-times.js';
import { forgetBodies } from '../../../src/jobs/sinks/forget-bodies.js';
import type { LogDestination } from '../../../src/jobs/sinks/log-sink.js';
import { MetricSink } from '../../../src/jobs/sinks/otlp/metric-sink.js';
import { TraceSink } from '../../../src/jobs/sinks/otlp/trace-sink.js';
import { S3Sink } from '../../../src/jobs/sinks/s3-sink.js';
import { SinkBook } from '../../../src/jobs/sinks/sink-book.js';
import { SinkRunner } from '../../../src/jobs/sinks/sink-runner.js';
import { WebhookSink } from '../../../src/jobs/sinks/webhook-sink.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { exportWriter } from '../../support/log-exports.js';
import {
  storeAttempts,
  storeBatch,
  storeMessages,
  type StoredRequest,
} from '../../support/stored-batches.js';
import { WebhookReceiver } from '../../support/upstreams/audit-receivers.js';
import { Collector } from '../../support/upstreams/collector.js';
import { S3Server } from '../../support/upstreams/s3.js';
import { eventually } from '../../support/waiting.js';

const SECRET = 'canary-of-the-webhook-secret';
const PROMPT = Buffer.from('{"messages":[{"role":"user","content":"canary of the prompt"}]}');

let app: AdminApp;
let bucket: S3Server;
let collector: Collector;
let webhook: WebhookReceiver;
let store: ObjectStore;
let folder: string;
let settings: Settings;
const running: SinkRunner[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-sinks-'));
  [bucket, collector, webhook] = await Promise.all([
    S3Server.start(),
    Collector.start(),
    WebhookReceiver.start(),
  ]);
  const environment = {
    ...bucket.settings,
    GATEHOUSE_BODY_SEARCH: 'on',
    GATEHOUSE_EXPORT_STORE: 's3',
    GATEHOUSE_EXPORT_DIR: folder,
    GATEHOUSE_SINK_WEBHOOK_URL: `${webhook.url}?token=1`,
    GATEHOUSE_SINK_WEBHOOK_SECRET: SECRET,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  app = await AdminApp.start(environment);
  settings = app.settings;
  store = new ObjectStore(settings.s3 as NonNullable<typeof settings.s3>, settings);
});
afterEach(async () => {
  for (const runner of running.splice(0)) await runner.stop();
  await app.dataSource.query('DELETE FROM log_sinks');
  webhook.deliveries.length = 0;
  collector.exports.length = 0;
  bucket.isUnavailable = false;
});
afterAll(async () => {
  await store.close();
  await app.close();
  await Promise.all([bucket.stop(), collector.stop(), webhook.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** A sink in the hands of one process. It is known to the book before the first request, and gathers nothing. */
async function served(sink: LogDestination, deliveryMs = 30_000): Promise<SinkRunner> {
  Object.assign(sink, { gathering: { ...sink.gathering, seconds: 0 } });
  const runner = new SinkRunner(sink, new SinkBook(app.dataSource), createLogger('test'), deliveryMs);
  running.push(runner);
  expect(await runner.deliver()).toBe('idle');
  return runner;
}
const wayTo = (url: URL) => operatorEgress(settings, url, 2);
const aWebhook = () => {
  const target = settings.sinks.webhook as NonNullable<typeof settings.sinks.webhook>;
  return new WebhookSink(wayTo(target.url), target);
};
const aTraceSink = ({ url = settings.telemetry.traces as URL, ...spans }: TraceChoices = {}) =>
  new TraceSink(wayTo(url), url, { ...settings.telemetry.spans, ...spans });
type TraceChoices = { readonly url?: URL } & Partial<Settings['telemetry']['spans']>;
const inOwn = (more: StoredRequest = {}): StoredRequest => ({
  id: uuidV7(Date.now()),
  organisation_id: app.first.organisation_id,
  workspace_id: app.first.workspace_id,
  ...more,
});
async function stored(count: number, more: StoredRequest = {}): Promise<string[]> {
  const rows = Array.from({ length: count }, () => inOwn(more));
  await storeBatch(app.dataSource, rows);
  return rows.map(({ id }) => id as string);
}
const idsIn = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { id: string }).id);
const due = (after: string) =>
  app.dataSource.query('UPDATE log_sinks SET next_try_at = now() + $1::interval, leased_until = NULL', [
    after,
  ]);
const dueNow = () => due('0 s');
const stateOf = async (id: string): Promise<Json> =>
  (await app.dataSource.query<Json[]>('SELECT * FROM log_sinks WHERE id = $1', [id]))[0];

describe('the webhook', () => {
  it('gets each request with its tries once, signed, and nothing of what was there before', async () => {
    await stored(2);
    const runner = await served(aWebhook());
    const [id] = await stored(1, { metadata: { _user: 'ada' }, cost_nano_usd: 415_000 });
    await storeAttempts(app.dataSource, id as string, [503, 200]);

    expect(await runner.deliver()).toBe('delivered');
    expect(await runner.deliver()).toBe('idle');

    const [{ path, headers, body }] = webhook.deliveries as [(typeof webhook.deliveries)[number]];
    expect(webhook.lines).toHaveLength(1);
    expect(JSON.parse(webhook.lines[0] as string)).toMatchObject({
      id,
      organisation_id: app.first.organisation_id,
      cost_nano_usd: 415_000,
      metadata: { _user: 'ada' },
      attempts: [
        { attempt: 0, status: 503 },
        { attempt: 1, status: 200 },
      ],
    });
    expect(path).toBe('/audit?token=1');
    const [, seconds = '', given] = /^t=(\d+),v1=(.*)$/.exec(String(headers['x-gateway-signature'])) ?? [];
    expect(given).toBe(createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex'));
  });

  it('is sent everything when it is back, in calls of five hundred at most', async () => {
    const runner = await served(aWebhook());
    const ids = await stored(1_100);
    webhook.next.push((response) => response.writeHead(500).end('canary'));

    expect(await runner.deliver()).toBe('failed');
    expect(await stateOf('webhook')).toMatchObject({
      failures: 1,
      last_error: 'it returned status 500',
    });
    await due('1 hour');
    expect(await runner.deliver()).toBe('idle');
    await dueNow();
    expect(await runner.deliver()).toBe('delivered');

    expect(new Set(idsIn(webhook.lines))).toEqual(new Set(ids));
    expect(webhook.deliveries.map(({ body }) => body.split('\n').length - 1)).toEqual([500, 500, 100]);
    expect(await stateOf('webhook')).toMatchObject({ failures: 0, last_error: null });
  });

  it('is given up for now when it hangs', async () => {
    const runner = await served(aWebhook(), 100);
    await stored(1);
    webhook.next.push(() => undefined);

    expect(await runner.deliver()).toBe('failed');
    expect(await stateOf('webhook')).toMatchObject({ last_error: 'it did not respond in time' });
  });

  it('misses no batch that becomes visible late, and of two processes one sends', async () => {
    const [one, other] = [await served(aWebhook()), await served(aWebhook())];
    const late = app.dataSource.createQueryRunner();
    await late.startTransaction();
    const row = inOwn();
    const inside = { transaction: (work: (manager: unknown) => unknown) => work(late.manager) };
    await storeBatch(inside as unknown as typeof app.dataSource, [row]);
    const [early] = await stored(1);
    expect(await one.deliver()).toBe('delivered');
    await late.commitTransaction();
    await late.release();

    await Promise.all([one.deliver(), other.deliver()]);
    await one.deliver();

    expect(idsIn(webhook.lines)).toEqual([early, row.id]);
  });

  it('gathers until its interval ends', async () => {
    const sink = Object.assign(aWebhook(), { gathering: { rows: 10, seconds: 3_600 } });
    const runner = new SinkRunner(sink, new SinkBook(app.dataSource), createLogger('test'));
    running.push(runner);
    await runner.deliver();
    await stored(1);
    expect(await runner.deliver()).toBe('idle');
    await app.dataSource.query(
      "UPDATE log_batches SET created_at = created_at - interval '2 hours' WHERE seq IS NOT NULL",
    );
    expect(await runner.deliver()).toBe('delivered');
  });
});

describe('the bucket', () => {
  it('gets gzipped JSON Lines by organization and day', async () => {
    const runner = await served(new S3Sink(store, 60));
    const other = uuidV7(1);
    await storeBatch(app.dataSource, [
      inOwn({ created_at: new Date('2026-11-18T10:00:00Z') }),
      inOwn({ created_at: new Date('2026-11-18T11:00:00Z') }),
      inOwn({ created_at: new Date('2026-11-19T10:00:00Z') }),
      inOwn({ created_at: new Date('2026-11-19T10:00:00Z'), organisation_id: other }),
    ]);

    expect(await runner.deliver()).toBe('delivered');

    const keys = bucket.keys('gatehouse/logs/');
    const own = `gatehouse/logs/organization=${app.first.organisation_id}`;
    expect(keys).toEqual([
      expect.stringMatching(
        new RegExp(`^gatehouse/logs/organization=${other}/date=2026-11-19/\\d{12}-\\d{12}\\.jsonl\\.gz$`),
      ),
      expect.stringContaining(`${own}/date=2026-11-18/`),
      expect.stringContaining(`${own}/date=2026-11-19/`),
    ]);
    const lines = gunzipSync(bucket.objects.get(keys[1] as string) as Buffer)
      .toString()
      .trim()
      .split('\n');
    expect(lines).toHaveLength(2);
    expect(bucket.refused).toEqual([]);
  });

  it('delays the sink while it is unavailable, and nothing is lost', async () => {
    const runner = await served(new S3Sink(store, 60));
    await stored(1, { created_at: new Date('2026-11-17T10:00:00Z') });
    bucket.isUnavailable = true;
    expect(await runner.deliver()).toBe('failed');
    expect(await stateOf('s3')).toMatchObject({ last_error: 'it returned status 503' });
    bucket.isUnavailable = false;
    await dueNow();
    expect(await runner.deliver()).toBe('delivered');
    expect(bucket.keys().filter((key) => key.includes('date=2026-11-17'))).toHaveLength(1);
  });
});

describe('bodies in the bucket', () => {
  let reader: { key: string };
  beforeAll(async () => {
    reader = await app.workspaceKey(['logs.view']);
  });
  const detail = async (id: string): Promise<Json> =>
    (await app.call('GET', `/v1/logs/${id}`, { key: reader.key })).body;
  const bodiesOf = (id: string) =>
    app.dataSource.query<Json[]>('SELECT * FROM request_bodies WHERE request_id = $1 ORDER BY direction', [
      id,
    ]);
  async function withBodies(created_at: Date): Promise<string> {
    const [id] = await stored(1, { created_at });
    await storeMessages(app.dataSource, id as string, [
      { direction: 'request', body: PROMPT, content_type: 'application/json' },
      { direction: 'response', body: Buffer.from('{"id":"answer"}'), content_type: 'application/json' },
    ]);
    return id as string;
  }

  it('are read back as they were, are sealed there, and leave the database only when they are stored', async () => {
    const runner = await served(new BodySink(app.dataSource, new BodyObjects(store, app.box)));
    const id = await withBodies(new Date());
    bucket.isUnavailable = true;
    expect(await runner.deliver()).toBe('failed');
    expect((await bodiesOf(id)).map(({ body }) => body !== null)).toEqual([true, true]);
    expect((await detail(id)).request.body).toEqual(JSON.parse(PROMPT.toString()));

    bucket.isUnavailable = false;
    await dueNow();
    expect(await runner.deliver()).toBe('delivered');

    expect((await bodiesOf(id)).map(({ body, object_length }) => [body, object_length > 0])).toEqual([
      [null, true],
      [null, true],
    ]);
    const shown = await detail(id);
    expect(shown.request).toMatchObject({ body: JSON.parse(PROMPT.toString()), body_unavailable: false });
    expect(shown.response.body).toEqual({ id: 'answer' });
    const [key] = bucket.keys(`gatehouse/bodies/${app.first.organisation_id}/`);
    expect(key).toContain(`/${app.first.workspace_id}/`);
    expect(bucket.objects.get(key as string)?.includes('canary')).toBe(false);
  });

  it('are reported as unavailable while the bucket is, and an export waits for them', async () => {
    const runner = await served(new BodySink(app.dataSource, new BodyObjects(store, app.box)));
    const id = await withBodies(new Date('2026-11-16T10:00:00Z'));
    await runner.deliver();
    const own = await app.workspaceKey(['logs.export']);
    const create = {
      filters: {
        time_of_generation_min: '2026-11-16T00:00:00Z',
        time_of_generation_max: '2026-11-16T23:00:00Z',
      },
      requested_data: ['id', 'request'],
    };
    const draft = (await app.call('POST', '/v1/logs/exports', { key: own.key, body: create })).body;
    await app.call('POST', `/v1/logs/exports/${draft.id}/start`, { key: own.key, body: {} });
    const writer = exportWriter(app.dataSource, {
      folder: settings.exports.folder,
      bucket: store,
      box: app.box,
    });

    bucket.isUnavailable = true;
    expect((await detail(id)).request).toMatchObject({ body: null, body_unavailable: true });
    const listing = await app.workspaceKey(['logs.list', 'logs.view']);
    const from = new Date(Date.now() - 30 * 86_400_000).toISOString();
    const searched = await app.call('GET', `/v1/logs?search=canary&time_of_generation_min=${from}`, {
      key: listing.key,
    });
    expect([searched.status, searched.body.error.code]).toEqual([503, 'bucket_unavailable']);
    await expect(writer.write(draft.id)).rejects.toThrow();

    bucket.isUnavailable = false;
    await app.dataSource.query('UPDATE log_exports SET leased_until = NULL');
    expect(await writer.write(draft.id)).toBe('success');
    const key = `gatehouse/exports/${app.first.organisation_id}/${app.first.workspace_id}/${draft.id}.jsonl`;
    const line = JSON.parse((bucket.objects.get(key) as Buffer).toString());
    expect(line).toMatchObject({ id, request: { body: JSON.parse(PROMPT.toString()) } });
    await app.app.listen(0, '127.0.0.1');
    const file = await fetch(`${await app.app.getUrl()}/v1/logs/exports/${draft.id}/file`, {
      headers: { 'x-gateway-api-key': own.key },
    });
    expect(await file.json()).toEqual(line);
  });

  it('whose object was removed are unavailable, and an export that needs one fails at once and names it', async () => {
    const runner = await served(new BodySink(app.dataSource, new BodyObjects(store, app.box)));
    const id = await withBodies(new Date('2026-11-14T10:00:00Z'));
    await runner.deliver();
    for (const key of bucket.keys('gatehouse/bodies/'))
      if (key.includes('/2026-11-14/')) bucket.objects.delete(key);

    expect((await detail(id)).request).toMatchObject({ body: null, body_unavailable: true });
    const own = await app.workspaceKey(['logs.export']);
    const create = {
      filters: {
        time_of_generation_min: '2026-11-14T00:00:00Z',
        time_of_generation_max: '2026-11-14T23:00:00Z',
      },
      requested_data: ['id', 'request'],
    };
    const draft = (await app.call('POST', '/v1/logs/exports', { key: own.key, body: create })).body;
    await app.call('POST', `/v1/logs/exports/${draft.id}/start`, { key: own.key, body: {} });
    const parts = { folder: settings.exports.folder, bucket: store, box: app.box };
    expect(await exportWriter(app.dataSource, parts).write(draft.id)).toBe('failed');
    const { problem } = (await app.call('GET', `/v1/logs/exports/${draft.id}`, { key: own.key })).body;
    expect(problem).toContain(`body of the request ${id} is no longer in object storage`);
  });

  it('are not waited for when the bucket says nothing, or stops in the middle', async () => {
    const impatient = new ObjectStore(settings.s3 as never, settings, { idleMs: 200, readMs: 10_000 });
    const hasty = new ObjectStore(settings.s3 as never, settings, { idleMs: 60_000, readMs: 300 });
    const part = { offset: 0, length: 5 };
    bucket.odd.set('gatehouse/silent', () => undefined);
    bucket.odd.set('gatehouse/stopping', (response) => {
      response.writeHead(206, { 'content-length': 5 });
      response.write('abc');
    });
    for (const patience of [impatient, hasty]) {
      await expect(patience.read('silent', part)).rejects.toThrow();
      await expect(patience.read('stopping', part)).rejects.toThrow();
      await patience.close();
    }
  });

  it('open for no other request, and go with their day', async () => {
    const runner = await served(new BodySink(app.dataSource, new BodyObjects(store, app.box)));
    const [one, other] = [
      await withBodies(new Date('2026-11-15T10:00:00Z')),
      await withBodies(new Date('2026-11-15T11:00:00Z')),
    ];
    await runner.deliver();
    await app.dataSource.query(
      `UPDATE request_bodies b SET object_key = o.object_key, object_offset = o.object_offset, object_length = o.object_length
       FROM request_bodies o WHERE b.request_id = $1 AND o.request_id = $2 AND o.direction = b.direction`,
      [one, other],
    );
    expect((await detail(one)).request).toMatchObject({ body: null, body_unavailable: true });

    const days = () => new Set(bucket.keys('gatehouse/bodies/').map((key) => key.split('/')[3]));
    expect(days()).toContain('2026-11-15');
    const forget = (held: boolean) => {
      const rule = {
        organization_id: app.first.organisation_id,
        workspace_id: null,
        logs: null,
        bodies: null,
      };
      const now = Date.parse('2026-11-18T12:00:00Z');
      const times = new KeptTimes({ logs: 0, bodies: 2 }, [{ ...rule, held }], now);
      return forgetBodies(store, (work) => work(times, app.dataSource));
    };
    expect(await forget(true)).toBe(0);
    expect(days()).toContain('2026-11-15');
    expect(await forget(false)).toBeGreaterThan(0);
    expect(days()).not.toContain('2026-11-15');
    expect(days()).toContain('2026-11-16');
  });

  it('stay when a hold is placed while a round removes others, and a hold waits for those that are on their way out', async () => {
    const runner = await served(new BodySink(app.dataSource, new BodyObjects(store, app.box)));
    const day = '2026-10-01';
    for (let hour = 10; hour < 20; hour++) {
      await withBodies(new Date(`${day}T${hour}:00:00Z`));
      await runner.deliver();
    }
    const left = () => bucket.keys('gatehouse/bodies/').filter((key) => key.split('/')[3] === day).length;
    expect(left()).toBe(10);
    const isWaiting = async () => {
      const waiting = await app.dataSource.query<Json[]>(
        "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'legal_holds'::regclass",
      );
      return waiting.length > 0;
    };
    const events: string[] = [];
    let placing: Promise<unknown> | undefined;
    const remove = store.remove.bind(store);
    // The first object that is removed: by now the turn has the rules in hand.
    const removing = vi.spyOn(store, 'remove').mockImplementation(async (key) => {
      placing ??= app
        .call('POST', '/v1/admin/legal-holds', { body: { reason: 'Case 1' } })
        .then(({ status }) => events.push(`hold ${status}`));
      await eventually(isWaiting, { withinMs: 10_000, what: 'the hold that waits for its turn' });
      await remove(key);
      events.push('removed');
    });
    const removed = await forgetBodies(store, underTimes(app.dataSource, { logs: 0, bodies: 2, minutes: 0 }));
    removing.mockRestore();
    await placing;
    await app.dataSource.query("UPDATE legal_holds SET released_at = now(), release_reason = 'Over'");

    expect(events).toEqual(['removed', 'removed', 'removed', 'hold 200']);
    expect(removed).toBe(3);
    expect(left()).toBe(7);
  });
});

describe('the collector', () => {
  const attributesOf = (span: Json) =>
    Object.fromEntries(span.attributes.map(({ key, value }: Json) => [key, Object.values(value)[0]]));

  it('gets a span for the request and one for each try, the same ones when they come again', async () => {
    const runner = await served(aTraceSink());
    const trace_id = '0af7651916cd43dd8448eb211c80319c';
    const [id] = await stored(1, { trace_id, status: 200 });
    await storeAttempts(app.dataSource, id as string, [500, 200]);
    await storeBatch(app.dataSource, [{ ...inOwn(), ...{ source: 'otlp' } }]);
    collector.nextStatus.push(400);

    expect(await runner.deliver()).toBe('failed');
    expect(await stateOf('otlp-traces')).toMatchObject({ last_error: 'it returned status 400' });
    await dueNow();
    expect(await runner.deliver()).toBe('delivered');

    const [request, first, second, ...none] = collector.spans;
    expect(none).toEqual([]);
    expect(request).toMatchObject({ traceId: trace_id, name: 'chat gpt' });
    expect([first?.parentSpanId, second?.parentSpanId]).toEqual([request?.spanId, request?.spanId]);
    expect(attributesOf(request)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt',
      'gatehouse.request.id': id,
      'http.response.status_code': '200',
    });
    expect(attributesOf(first)).toMatchObject({ 'server.address': 'api.openai.com', 'error.type': '500' });
    expect(first?.status).toMatchObject({ code: 2 });
    expect(BigInt(request?.endTimeUnixNano ?? 0) - BigInt(request?.startTimeUnixNano ?? 0)).toBe(
      120_000_000n,
    );

    const before = collector.spans.map(({ spanId }) => spanId);
    await app.dataSource.query(
      "UPDATE log_sinks SET delivered_seq = delivered_seq - 2 WHERE id = 'otlp-traces'",
    );
    expect(await runner.deliver()).toBe('delivered');
    expect(collector.spans.slice(3).map(({ spanId }) => spanId)).toEqual(before);
  });

  it('gets a span for each guardrail, without what it found', async () => {
    const runner = await served(aTraceSink());
    const [id] = await stored(1);
    const ran = {
      id: 'no-secrets',
      type: 'guardrail',
      verdict: false,
      deny: true,
      async: false,
      transformed: false,
      checks: [
        { id: 'regex', verdict: false, data: { match: 'canary of the prompt' } },
        { id: 'words', verdict: true, data: null },
      ],
      execution_time: 7,
      created_at: '2030-01-02T03:04:05.000Z',
    };
    await app.dataSource.query('UPDATE request_logs SET hook_results = $2 WHERE id = $1', [
      id,
      { before_request_hooks: [ran], after_request_hooks: [{ ...ran, verdict: true, checks: [] }] },
    ]);

    expect(await runner.deliver()).toBe('delivered');
    const [request, ...guardrails] = collector.spans;
    expect(guardrails.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['guardrail no-secrets', request?.spanId],
      ['guardrail no-secrets', request?.spanId],
    ]);
    expect(attributesOf(guardrails[0])).toMatchObject({
      'gatehouse.guardrail.stage': 'request',
      'gatehouse.guardrail.passed': false,
      'gatehouse.guardrail.denies': true,
    });
    expect(attributesOf(guardrails[1])).toMatchObject({ 'gatehouse.guardrail.stage': 'response' });
    const from = BigInt(guardrails[0]?.startTimeUnixNano ?? 0);
    expect(from).toBe(BigInt(Date.parse(ran.created_at)) * 1_000_000n);
    expect(BigInt(guardrails[0]?.endTimeUnixNano ?? 0) - from).toBe(7_000_000n);
    expect(collector.exports.map(({ body }) => body.toString('latin1')).join()).not.toContain('canary');
  });

  it.each([
    ['always_off', 1, 0, 0],
    ['parentbased_always_on', 0, 40, 40],
    ['traceidratio', 0.5, 5, 35],
  ] as const)(
    'gets the traces that the sampler %s %d chooses, whole',
    async (sampler, ratio, least, most) => {
      const runner = await served(aTraceSink({ sampler, ratio, trustsClients: false }));
      for (const id of await stored(40)) await storeAttempts(app.dataSource, id, [200]);
      expect(await runner.deliver()).toBe('delivered');

      const sizes = new Map<string, number>();
      for (const { traceId = '' } of collector.spans) sizes.set(traceId, (sizes.get(traceId) ?? 0) + 1);
      expect(sizes.size).toBeGreaterThanOrEqual(least);
      expect(sizes.size).toBeLessThanOrEqual(most);
      expect([...sizes.values()].every((spans) => spans === 2)).toBe(true);
    },
  );

  it('gets a trace per request that links to what an untrusted client named', async () => {
    const runner = await served(aTraceSink({ trustsClients: false }));
    const parent_span_id = 'b7ad6b7169203331';
    const trace_id = '0af7651916cd43dd8448eb211c80319c';
    const ids = await stored(2, { trace_id, span_id: 'checkout', parent_span_id });
    expect(await runner.deliver()).toBe('delivered');

    const spans = collector.spans;
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(
      new Set(ids.map((id) => id.replaceAll('-', ''))),
    );
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(2);
    expect(spans.map(({ parentSpanId }) => parentSpanId || null)).toEqual([null, null]);
    const sent = collector.exports.map(({ body }) => body.toString('hex')).join();
    expect(sent).toContain(trace_id);
    expect(sent).toContain(parent_span_id);
  });

  it('gets attributes of OpenInference where the setting requires them', async () => {
    const runner = await served(aTraceSink({ hasOpenInference: true }));
    const [id] = await stored(1, { metadata: { _user: 'ada' } });
    await storeAttempts(app.dataSource, id as string, [200]);
    await app.dataSource.query(
      'UPDATE request_attempts SET input_tokens = 10, output_tokens = 5, cost_nano_usd = 2500000 WHERE id = $1',
      [id],
    );
    expect(await runner.deliver()).toBe('delivered');

    const [request, attempt] = collector.spans;
    expect(attributesOf(request)).toMatchObject({ 'openinference.span.kind': 'CHAIN', 'user.id': 'ada' });
    expect(attributesOf(attempt)).toMatchObject({
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'gpt',
      'llm.provider': 'openai',
      'llm.token_count.prompt': '10',
      'llm.token_count.total': '15',
    });
  });

  it('gets what requests took and used, and counts nothing twice after an outage', async () => {
    const { url, everyMs } = settings.telemetry.metrics as NonNullable<typeof settings.telemetry.metrics>;
    const runner = await served(new MetricSink(wayTo(url), url, everyMs));
    const sums = () => {
      const of = (name: string) =>
        collector.metrics.find((metric) => metric.name === name)?.histogram?.dataPoints ?? [];
      return {
        tries: of('gen_ai.client.operation.duration').reduce((sum, { count }) => sum + count, 0),
        tokens: of('gen_ai.client.token.usage').map(({ sum, attributes }) => [
          attributes.find(({ key }) => key === 'gen_ai.token.type')?.value.stringValue,
          sum,
        ]),
      };
    };
    const attempted = async () => {
      const [id] = await stored(1);
      await storeAttempts(app.dataSource, id as string, [200]);
      await app.dataSource.query(
        'UPDATE request_attempts SET input_tokens = 10, output_tokens = 5 WHERE id = $1',
        [id],
      );
    };
    await attempted();
    collector.nextStatus.push(400);
    expect(await runner.deliver()).toBe('failed');
    await dueNow();
    expect(await runner.deliver()).toBe('delivered');
    expect(sums()).toEqual({
      tries: 1,
      tokens: [
        ['input', 10],
        ['output', 5],
      ],
    });

    await attempted();
    expect(await runner.deliver()).toBe('delivered');
    expect(sums()).toEqual({
      tries: 2,
      tokens: [
        ['input', 20],
        ['output', 10],
      ],
    });
  });
});

describe('the background process', () => {
  it('serves what the settings name, and makes nothing where they name nothing', async () => {
    expect(SinksModule.register(loadSettings({}))).toEqual([]);
    const dataSource = createDataSource(app.url, 4, 'background');
    const all: Settings = { ...settings, logBodies: 's3' };
    const module = await Test.createTestingModule({
      imports: [
        SettingsModule.forRoot(all),
        DatabaseModule.forRoot(dataSource),
        ...SinksModule.register(all),
      ],
    }).compile();
    module.useLogger(false);
    const worker = await module.init();
    try {
      const sinks = () => app.dataSource.query<Json[]>('SELECT id FROM log_sinks ORDER BY id');
      await eventually(async () => (await sinks()).length === 4, { what: 'four sinks' });
      const [id] = await stored(1);
      await eventually(() => webhook.lines.length > 0 && collector.spans.length > 0, {
        what: 'the request at its sinks',
      });
      expect(idsIn(webhook.lines)).toEqual([id]);
      expect((await sinks()).map(({ id }) => id as string)).toEqual([
        'bodies',
        'otlp-metrics',
        'otlp-traces',
        'webhook',
      ]);
    } finally {
      await worker.close();
    }
  });
});

describe('packages that dial by themselves', () => {
  it('reach nothing that the egress closes', async () => {
    const closed = () => new Egress({ allow: [], timeouts: { connectMs: 1_000 } });
    const { telemetry } = settings;
    const traces = await served(new TraceSink(closed(), telemetry.traces as URL, telemetry.spans));
    const metrics = await served(new MetricSink(closed(), telemetry.metrics?.url as URL, 1));
    await stored(1);
    expect([await traces.deliver(), await metrics.deliver()]).toEqual(['failed', 'failed']);
    expect(collector.exports).toEqual([]);

    const metadata = {
      ...(settings.s3 as NonNullable<typeof settings.s3>),
      endpoint: new URL('http://169.254.169.254'),
    };
    const hidden = new ObjectStore(metadata, settings);
    await expect(hidden.put('key', Buffer.from('body'), { type: 'text/plain' })).rejects.toMatchObject({
      code: 'custom_host_blocked',
    });
    await hidden.close();
  });
});

describe('a dead sink', () => {
  it('holds up no other', async () => {
    const traces = await served(aTraceSink({ url: new URL('http://127.0.0.1:1/v1/traces') }));
    const runner = await served(aWebhook());
    await stored(1);
    // While one numbers the batches the other would not wait for it, and find nothing to send yet.
    await new SinkBook(app.dataSource).number();
    const [dead, alive] = await Promise.all([traces.deliver(), runner.deliver()]);
    expect([dead, alive]).toEqual(['failed', 'delivered']);
  });
});
