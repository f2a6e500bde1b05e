import { gzipSync } from 'node:zlib';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { Portkey } from 'portkey-ai';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifyMoney } from '../../../src/request-log/charging/verify-money.js';
import { storeIngested } from '../../../src/jobs/shipping/store-ingested.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { PostgresBatchAggregator } from '../../../src/request-log/analytics/postgres/postgres-batch-aggregator.js';
import { rolledUp, summedUp } from '../../support/rollup.js';

let app: AdminApp;
let pool: pg.Pool;
let own: { id: string; key: string };
let url: string;
const batches: string[] = [];

beforeAll(async () => {
  app = await AdminApp.start({ GATEHOUSE_INBOX_LIMIT_BYTES: String(64 * 1024 * 1024) });
  await app.app.listen(0, '127.0.0.1');
  url = `http://127.0.0.1:${(app.app.getHttpServer().address() as AddressInfo).port}`;
  pool = new pg.Pool({ connectionString: app.url, max: 3 });
  own = await app.workspaceKey(['logs.write', 'logs.list', 'logs.view']);
});
afterAll(async () => {
  await pool.end();
  await app.close();
});

const batchQueue = { enqueue: async (id: string) => void batches.push(id) };
const store = async () => {
  while (await storeIngested(pool, batchQueue));
};
const listed = async (query: string): Promise<Json[]> => {
  await store();
  return (await app.call('GET', `/v1/logs?${query}`, { key: own.key })).body.data;
};
const post = (path: string, body: unknown, headers = {}, key = own.key) =>
  app.call('POST', path, { key, body, headers });

const custom = (trace_id: string, more: object = {}) => ({
  request: {
    url: 'https://api.openai.com/v1/chat/completions?key=secret-in-query',
    method: 'post',
    headers: { authorization: 'Bearer sk-secret', 'x-team': 'a' },
    body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] },
  },
  response: {
    status: 200,
    body: { model: 'gpt-4o', usage: { prompt_tokens: 1_000, completion_tokens: 500 } },
    response_time: 812,
  },
  metadata: { trace_id, span_id: 's1', parent_span_id: 's0', span_name: 'call', team: 'a' },
  ...more,
});

describe('POST /v1/logs', () => {
  it('keeps a call that was made elsewhere, priced, marked, with its bodies and without its secrets', async () => {
    expect((await post('/v1/logs', custom('one'))).status).toBe(200);

    const [row, ...others] = await listed('trace_id=one');
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      source: 'api',
      provider: 'openai',
      model: 'gpt-4o',
      method: 'POST',
      path: 'https://api.openai.com/v1/chat/completions',
      input_tokens: 1_000,
      output_tokens: 500,
      usage_source: 'provider',
      duration_ms: 812,
      span_id: 's1',
      parent_span_id: 's0',
      span_name: 'call',
      metadata: { team: 'a' },
      api_key_id: own.id,
      attempt_count: 0,
    });
    expect(row.cost_nano_usd).toBeGreaterThan(0);
    const { body, text } = await app.call('GET', `/v1/logs/${row.id}`, { key: own.key });
    expect(body.request).toMatchObject({
      headers: { authorization: '***', 'x-team': 'a' },
      body: { model: 'gpt-4o' },
    });
    expect(body.response.body.usage.completion_tokens).toBe(500);
    expect(text).not.toContain('secret');
  });

  it('takes many, as a list and as the compatible SDK sends one, and none of them when one is wrong', async () => {
    await post('/v1/logs', [custom('many'), custom('many')]);
    const client = new Portkey({ apiKey: own.key, baseURL: `${url}/v1` }) as Json;
    await client.logs.create([custom('many'), custom('many')]);
    await client.logs.create(custom('many'));
    const refused = await post('/v1/logs', [custom('many'), { request: { url: 'x' } }]);

    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain('"[1].request.body"');
    expect(await listed('trace_id=many')).toHaveLength(5);
  });

  it('is counted once by the rollups, however often its batch is delivered, and charges no budget', async () => {
    await post('/v1/logs', [custom('counted'), custom('counted')]);
    await store();
    const aggregator = new PostgresBatchAggregator(app.dataSource);
    for (const id of [...batches, ...batches]) await aggregator.aggregate(id);

    expect(await rolledUp(app.dataSource)).toEqual(await summedUp(app.dataSource));
    const [{ charged }] = await app.dataSource.query('SELECT count(*)::int AS charged FROM request_attempts');
    expect(charged).toBe(0);
  });

  it('is no difference between the books of money', async () => {
    await post('/v1/logs', custom('in-the-books'));
    const aggregator = new PostgresBatchAggregator(app.dataSource);
    expect((await listed('trace_id=in-the-books'))[0].cost_nano_usd).toBeGreaterThan(0);
    for (const id of batches) await aggregator.aggregate(id);

    const books = await verifyMoney(app.dataSource);
    expect(books.flatMap(({ differences }) => differences)).toEqual([]);
  });

  it('costs what the kinds of its tokens cost, in each format of OpenAI', async () => {
    const costOf = async (trace_id: string, model: string, usage: object) => {
      const body = { model, usage };
      await post('/v1/logs', custom(trace_id, { response: { body } }));
      return (await listed(`trace_id=${trace_id}`))[0];
    };
    const responses = {
      input_tokens: 1_000,
      input_tokens_details: { cached_tokens: 600 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 4 },
    };
    // gpt-4o, per million tokens: 2.50 dollars for input, 1.25 for cached input, 10 for output.
    expect(await costOf('responses', 'gpt-4o', responses)).toMatchObject({
      cost_nano_usd: 400 * 2_500 + 600 * 1_250 + 10 * 10_000,
      cached_input_tokens: 600,
      reasoning_tokens: 4,
    });
    // text-embedding-3-small: 0.02 dollars.
    const embeddings = { prompt_tokens: 800, total_tokens: 800 };
    expect(await costOf('embeddings', 'text-embedding-3-small', embeddings)).toMatchObject({
      cost_nano_usd: 800 * 20,
      input_tokens: 800,
      output_tokens: 0,
    });
  });

  it.each<readonly [string, object, string]>([
    ['a count', { usage: { prompt_tokens: 100_000_001, completion_tokens: 1 } }, 'usage.prompt_tokens'],
    [
      'a finer count',
      { usage: { prompt_tokens: 1, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 1e12 } } },
      'usage.prompt_tokens_details.cached_tokens',
    ],
    ['a count of Google', { usageMetadata: { promptTokenCount: 1e15 } }, 'usageMetadata.promptTokenCount'],
    ['a sum', { usage: { input_tokens: 8e7, cache_read_input_tokens: 8e7, output_tokens: 1 } }, 'usage'],
  ])('refuses %s beyond the largest that is stored, and names it', async (_, body, place) => {
    const refused = await post('/v1/logs', custom('too-large', { response: { body } }));

    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain(`The field "response.body.${place}" is invalid`);
    expect(await listed('trace_id=too-large')).toEqual([]);
  });

  it('takes the largest counts as they are', async () => {
    const usage = { prompt_tokens: 100_000_000, completion_tokens: 100_000_000 };
    expect((await post('/v1/logs', custom('largest', { response: { body: { usage } } }))).status).toBe(200);
    expect(await listed('trace_id=largest&total_units_min=200000000')).toMatchObject([
      { input_tokens: 100_000_000, output_tokens: 100_000_000 },
    ]);
  });

  it("costs the organization's own price, whichever name it has, before the list price", async () => {
    const cost = async (trace_id: string) => {
      await post('/v1/logs', custom(trace_id, { response: { body: ANSWER } }));
      return (await listed(`trace_id=${trace_id}`))[0].cost_nano_usd;
    };
    const ANSWER = {
      model: 'gpt-4o-2024-08-06',
      usage: { prompt_tokens: 1_000, completion_tokens: 500 },
    };
    const listPrice = await cost('list-price');
    const path = '/v1/model-configs/pricing/openai/gpt-4o';
    // Cents per token.
    const pay_as_you_go = { request_token: { price: 0.001 }, response_token: { price: 0.002 } };
    expect((await app.call('PUT', path, { body: { pay_as_you_go } })).status).toBe(200);

    expect(await cost('own-price')).toBe(1_000 * 10_000 + 500 * 20_000);
    expect((await app.call('DELETE', path)).status).toBe(200);
    expect(await cost('list-price-again')).toBe(listPrice);
  });

  it('loses and doubles nothing with two processes that store, one of them dying before its commit', async () => {
    await Promise.all(Array.from({ length: 12 }, () => post('/v1/logs', Array(40).fill(custom('crowd')))));
    const dying = await pool.connect();
    await dying.query('BEGIN');
    await dying.query('DELETE FROM ingested_logs WHERE id IN (SELECT id FROM ingested_logs LIMIT 100)');
    await Promise.all([store(), store()]);
    dying.release(true);
    await store();
    while ((await waiting()) > 0) await store();

    const [{ count }] = await app.dataSource.query(
      "SELECT count(*)::int AS count FROM request_logs WHERE trace_id = 'crowd'",
    );
    expect(count).toBe(480);
  });

  it('keeps no bodies for an organization that disables them', async () => {
    await app.call('PUT', '/v1/admin/organisation', { body: { log_bodies: false } });
    await post('/v1/logs', custom('bodiless'));
    const [row] = await listed('trace_id=bodiless');

    expect((await app.call('GET', `/v1/logs/${row.id}`, { key: own.key })).body.request.body).toBeNull();
    await app.call('PUT', '/v1/admin/organisation', { body: { log_bodies: true } });
  });

  it('is not for admin keys, nor for keys without the scope', async () => {
    const without = await app.workspaceKey(['logs.list']);
    expect((await post('/v1/logs', custom('no'), {}, app.first.admin_api_key)).status).toBe(403);
    expect((await post('/v1/logs', custom('no'), {}, without.key)).status).toBe(403);
  });

  const waiting = async (): Promise<number> =>
    (await app.dataSource.query('SELECT count(*)::int AS n FROM ingested_logs'))[0].n;
});

describe('the inbox', () => {
  const take = (trace_id: string, key?: string) => post('/v1/logs', custom(trace_id), {}, key);
  const waiting = async (): Promise<number> =>
    (await pool.query('SELECT count(*)::int AS count FROM ingested_logs')).rows[0].count;

  it('refuses more than may wait while nothing is stored, by name, keeps what it took, and accepts again afterwards', async () => {
    await store();
    expect((await take('waits')).status).toBe(200);
    // The rest of the bound, without sending it.
    await pool.query(
      `INSERT INTO ingested_logs (id, organization_id, closed, request_body, response_body)
       SELECT gen_random_uuid(), organization_id, closed, request_body, response_body
       FROM ingested_logs CROSS JOIN generate_series(2, 20000)`,
    );
    expect(await waiting()).toBe(20_000);

    for (const refused of [
      await take('too many'),
      await post('/v1/otel/v1/traces', { resourceSpans: [] }).then(() => take('too many')),
    ]) {
      expect(refused.status).toBe(503);
      expect(refused.headers['retry-after']).toBeDefined();
      expect(refused.body.error.code).toBe('log_inbox_full');
    }
    expect(await waiting()).toBe(20_000);
    const other = await app.anotherOrganization();
    await pool.query('UPDATE ingested_logs SET organization_id = $1', [other.organizationId]);
    expect((await take('not theirs')).status, 'another organization has a bound of its own').toBe(200);
    await pool.query('DELETE FROM ingested_logs WHERE organization_id = $1', [other.organizationId]);
    expect(await listed('trace_id=too%20many')).toEqual([]);
    expect(await listed('trace_id=not%20theirs')).toHaveLength(1);
  });

  it('counts bytes too', async () => {
    await take('large');
    const { inboxLimitBytes } = app.settings;
    await pool.query("UPDATE ingested_logs SET request_body = decode(repeat('00', $1), 'hex')", [
      inboxLimitBytes,
    ]);

    expect((await take('larger')).body.error.code).toBe('log_inbox_full');
    await pool.query('DELETE FROM ingested_logs');
  });
});

describe('POST /v1/otel/v1/traces', () => {
  const path = '/v1/otel/v1/traces';
  let traces = 0;
  let traceId: string;
  beforeEach(() => void (traceId = (++traces).toString(16).padStart(32, 'a')));
  const nano = (ms: number) => `${ms}000000`;
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const span = (spanId: string, more: object = {}) => ({
    traceId,
    spanId,
    parentSpanId: 'bbbbbbbbbbbbbbbb',
    name: 'chat gpt-4o',
    startTimeUnixNano: nano(Date.now() - 1_000),
    endTimeUnixNano: nano(Date.now()),
    attributes: [
      text('gen_ai.provider.name', 'openai'),
      text('gen_ai.request.model', 'gpt-4o'),
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '10' } },
      { key: 'gen_ai.usage.output_tokens', value: { intValue: 5 } },
      text('gen_ai.input.messages', '[{"role":"user","parts":[]}]'),
      text('gen_ai.output.messages', 'plain'),
      text('service.kind', 'batch'),
      text('__proto__.polluted', 'yes'),
    ],
    ...more,
  });
  const message = (...spans: object[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] });

  it('maps the semantic conventions to the columns of the log', async () => {
    const answer = await post(path, message(span('1111111111111111')));
    expect([answer.status, answer.body]).toEqual([200, {}]);

    const [row] = await listed(`trace_id=${traceId}`);
    expect(row).toMatchObject({
      source: 'otlp',
      span_id: '1111111111111111',
      parent_span_id: 'bbbbbbbbbbbbbbbb',
      span_name: 'chat gpt-4o',
      provider: 'openai',
      model: 'gpt-4o',
      input_tokens: 10,
      output_tokens: 5,
      status: 200,
      metadata: { 'service.kind': 'batch', '__proto__.polluted': 'yes' },
    });
    expect(row.duration_ms).toBeGreaterThanOrEqual(1_000);
    const { body } = await app.call('GET', `/v1/logs/${row.id}`, { key: own.key });
    expect(body.request.body).toEqual({ messages: [{ role: 'user', parts: [] }] });
    expect(body.response.body).toEqual({ messages: 'plain' });
    expect(({} as Json).polluted).toBeUndefined();
  });

  it('counts a span once that its exporter sends again, before and after it was stored', async () => {
    const sent = message(span('2222222222222222'));
    await post(path, sent);
    await post(path, sent);
    await store();
    await post(path, sent);

    expect(await listed(`trace_id=${traceId}`)).toHaveLength(1);
  });

  it('accepts the costs and failures that an exporter reports', async () => {
    const failed = {
      status: { code: 2, message: 'no' },
      attributes: [
        text('gen_ai.system', 'az.ai'),
        { key: 'gen_ai.usage.cost', value: { doubleValue: 0.25 } },
        text('error.type', 'timeout'),
      ],
    };
    await post(path, message(span('3333333333333333', failed)));

    expect(await listed(`trace_id=${traceId}`)).toMatchObject([
      {
        status: 500,
        error_code: 'timeout',
        cost_nano_usd: 250_000_000,
        input_tokens: null,
        usage_source: 'none',
      },
    ]);
  });

  const costing = (value: object, ...more: object[]) => ({
    attributes: [
      text('gen_ai.provider.name', 'openai'),
      text('gen_ai.request.model', 'gpt-4o'),
      { key: 'gen_ai.usage.cost', value },
      ...more,
    ],
  });
  const currency = (name: string, value: string) => text(name, value);

  it.each<readonly [string, object]>([
    ['in another currency', costing({ doubleValue: 0.5 }, currency('gen_ai.usage.cost.currency', 'EUR'))],
    [
      'in another currency by a shorter name',
      costing({ doubleValue: 0.5 }, currency('gen_ai.cost_currency', 'eur')),
    ],
    ['that is negative', costing({ doubleValue: -1 })],
    ['that is not a number', costing({ doubleValue: 'NaN' })],
    ['that is infinite', costing({ doubleValue: 'Infinity' })],
    ['that no call has', costing({ doubleValue: 1e10 })],
    ['with its currency in the text', costing({ stringValue: '1.5 EUR' })],
    ['that is a truth value', costing({ boolValue: true })],
    ['that is empty', costing({ stringValue: '' })],
  ])('keeps a span with a cost %s, without counting it as dollars, and reports it', async (_, more) => {
    const { status, body } = await post(path, message(span('1414141414141414', more)));

    expect([status, body.partialSuccess?.rejectedSpans]).toEqual([200, 0]);
    expect(body.partialSuccess.errorMessage).toMatch(
      /^"gen_ai\.usage\.cost" .*; the span is kept without it$/,
    );
    expect(await listed(`trace_id=${traceId}`)).toMatchObject([{ cost_nano_usd: null }]);
  });

  it('takes a cost whose currency is the dollar', async () => {
    const more = costing({ stringValue: '0.25' }, currency('gen_ai.usage.cost.currency', 'USD'));
    expect((await post(path, message(span('1515151515151515', more)))).body).toEqual({});
    expect(await listed(`trace_id=${traceId}`)).toMatchObject([{ cost_nano_usd: 250_000_000 }]);
  });

  it.each([
    ['beyond 32 bits', { intValue: '2147483648' }],
    ['beyond 64 bits', { doubleValue: 1e300 }],
    ['below zero', { intValue: -1 }],
    ['that are a truth value', { boolValue: true }],
  ])('keeps a span with tokens %s without a usage, and reports it', async (_, value) => {
    const attributes = [...span('x').attributes.slice(0, 3), { key: 'gen_ai.usage.output_tokens', value }];
    const { body } = await post(path, message(span('1616161616161616', { attributes })));

    expect(body.partialSuccess).toMatchObject({ rejectedSpans: 0 });
    expect(body.partialSuccess.errorMessage).toContain('"gen_ai.usage.output_tokens" must be a whole number');
    expect(await listed(`trace_id=${traceId}`)).toMatchObject([{ input_tokens: null, cost_nano_usd: null }]);
  });

  it('says that a duration was cut', async () => {
    const more = { endTimeUnixNano: nano(Date.now() + 30 * 86_400_000) };
    const { body } = await post(path, message(span('1717171717171717', more)));
    expect(body.partialSuccess.errorMessage).toContain('"endTimeUnixNano" must be 0 to 24 hours after');
  });

  it('keeps the good ones of a batch, and says how many were not and why', async () => {
    const { body } = await post(
      path,
      message(
        span('4444444444444444'),
        span('xyz'),
        span('5555555555555555', { attributes: [text('http.method', 'GET')] }),
        span('6666666666666666', { startTimeUnixNano: '1' }),
        span('7777777777777777', { startTimeUnixNano: 'now' }),
        {},
      ),
    );

    expect(body.partialSuccess.rejectedSpans).toBe(5);
    expect(body.partialSuccess.errorMessage).toContain('"spanId" must be 16');
    expect(await listed(`trace_id=${traceId}`)).toHaveLength(1);
  });

  it('keeps the good ones beside what is no span at all', async () => {
    const { status, body } = await post(path, {
      resourceSpans: [{ scopeSpans: [{ spans: [null, span('1212121212121212')] }] }],
    });

    expect([status, body.partialSuccess?.rejectedSpans]).toEqual([200, 1]);
    expect(await listed(`trace_id=${traceId}`)).toHaveLength(1);
  });

  it('keeps whole numbers of 64 bits to the last digit in the metadata', async () => {
    const attributes = [
      text('gen_ai.request.model', 'gpt-4o'),
      { key: 'account', value: { intValue: '9007199254740993' } },
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '0010' } },
    ];
    await post(path, message(span('1313131313131313', { attributes })));

    const [row] = await listed(`trace_id=${traceId}`);
    expect([row.metadata.account, row.input_tokens]).toEqual(['9007199254740993', 10]);
  });

  it('supports protobuf and gzip, and responds in kind', async () => {
    const root = protobuf.Root.fromJSON(SCHEMA);
    const bytes = (value: string) => Buffer.from(value, 'hex');
    const one = span('8888888888888888');
    const sent = {
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  ...one,
                  traceId: bytes(traceId),
                  spanId: bytes(one.spanId),
                  parentSpanId: bytes(one.parentSpanId),
                  attributes: one.attributes.slice(0, 2),
                },
              ],
            },
          ],
        },
      ],
    };
    const type = root.lookupType('Request');
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: {
        'x-gateway-api-key': own.key,
        'content-type': 'application/x-protobuf',
        'content-encoding': 'gzip',
      },
      body: gzipSync(type.encode(type.fromObject(sent)).finish()),
    });

    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-protobuf']);
    expect((await answer.arrayBuffer()).byteLength).toBe(0);
    expect(await listed(`trace_id=${traceId}`)).toMatchObject([{ model: 'gpt-4o', span_id: one.spanId }]);
  });

  it('refuses bombs, garbage and needless compression', async () => {
    const send = async (to: string, body: Buffer, headers: Record<string, string>) =>
      (await fetch(url + to, { method: 'POST', headers: { 'x-gateway-api-key': own.key, ...headers }, body }))
        .status;
    const json = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const binary = { 'content-type': 'application/x-protobuf' };

    expect(await send(path, gzipSync(Buffer.alloc(40_000_000, ' ')), json)).toBe(413);
    expect(await send(path, Buffer.from('not gzip'), json)).toBe(400);
    expect(await send(path, Buffer.from([255, 255, 255]), binary)).toBe(400);
    expect(await send('/v1/logs', Buffer.from('x'), binary)).toBe(415);
    expect(await send('/v1/logs', gzipSync('{}'), json)).toBe(415);
  });
});

const SCHEMA = {
  nested: {
    Request: { fields: { resourceSpans: { rule: 'repeated', type: 'R', id: 1 } } },
    R: { fields: { scopeSpans: { rule: 'repeated', type: 'S', id: 2 } } },
    S: { fields: { spans: { rule: 'repeated', type: 'Span', id: 2 } } },
    Span: {
      fields: {
        traceId: { type: 'bytes', id: 1 },
        spanId: { type: 'bytes', id: 2 },
        parentSpanId: { type: 'bytes', id: 4 },
        name: { type: 'string', id: 5 },
        kind: { type: 'int32', id: 6 },
        startTimeUnixNano: { type: 'fixed64', id: 7 },
        endTimeUnixNano: { type: 'fixed64', id: 8 },
        attributes: { rule: 'repeated', type: 'KeyValue', id: 9 },
      },
    },
    KeyValue: { fields: { key: { type: 'string', id: 1 }, value: { type: 'AnyValue', id: 2 } } },
    AnyValue: { fields: { stringValue: { type: 'string', id: 1 } } },
  },
};
