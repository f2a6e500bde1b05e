import { randomUUID } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LogDatabase } from '../../../src/request-log/reading/log-database.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { AdminApp } from '../../support/admin-app.js';
import {
  storeAttempts,
  storeBatch,
  storeMessages,
  type StoredRequest,
} from '../../support/stored-batches.js';

let app: AdminApp;
/** A key of the first workspace, one of the second, one of another organization's ids. */
let own: { id: string; key: string };
let other: { id: string; key: string };
let workspaceTwo: string;
let foreign: { organizationId: string; workspaceId: string };

beforeAll(async () => {
  app = await AdminApp.start();
  workspaceTwo = await app.anotherWorkspace('ws-two');
  foreign = await app.anotherOrganization();
  own = await app.workspaceKey(['logs.list', 'logs.view']);
  other = await app.workspaceKey(['logs.list', 'logs.view'], workspaceTwo);
});
afterAll(() => app.close());

const inOwn = (request: StoredRequest = {}): StoredRequest => ({
  organisation_id: app.first.organisation_id,
  workspace_id: app.first.workspace_id,
  ...request,
});
const inTwo = (request: StoredRequest = {}) => inOwn({ workspace_id: workspaceTwo, ...request });
const inForeign = (request: StoredRequest = {}): StoredRequest => ({
  organisation_id: foreign.organizationId,
  workspace_id: foreign.workspaceId,
  ...request,
});

interface LogPage {
  readonly data: readonly Record<string, string>[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

const list = async (query: Record<string, string> = {}, key = own.key): Promise<LogPage> => {
  const answer = await app.call('GET', `/v1/logs?${new URLSearchParams(query).toString()}`, { key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const tracesOf = async (query: Record<string, string>, key?: string): Promise<string[]> =>
  (await list(query, key)).data.map(({ trace_id }) => trace_id as string);

describe('GET /v1/logs', () => {
  it('shows a request under our names and those of the compatible API, money in cents there', async () => {
    const id = uuidV7(Date.now());
    const created_at = new Date('2026-11-20T10:15:30.123Z');
    await storeBatch(app.dataSource, [
      inOwn({
        id,
        created_at,
        trace_id: 'shape',
        cost_nano_usd: 415_000,
        input_tokens: 12,
        output_tokens: 40,
        attempt_count: 2,
        metadata: { _user: 'ada' },
        virtual_key: 'openai-prod',
      }),
    ]);

    const { data, ...rest } = await list({ trace_id: 'shape' });

    expect(rest).toEqual({ object: 'list', has_more: false, next_cursor: null });
    expect(data).toEqual([
      expect.objectContaining({
        id,
        object: 'log',
        created_at: '2026-11-20T10:15:30.123Z',
        workspace_slug: app.first.workspace_slug,
        endpoint: 'chat-completions',
        usage_source: 'provider',
        request_bytes: 100,
        cost_nano_usd: 415_000,
        metadata: { _user: 'ada' },
        is_success: true,
        ai_org: 'openai',
        ai_model: 'gpt',
        req_units: 12,
        res_units: 40,
        total_units: 52,
        cost: 0.0415,
        cost_currency: 'USD',
        response_status_code: 200,
        response_time: 120,
        retry_success_count: 1,
        is_proxy_call: false,
        stream_mode: 0,
        virtual_key: 'openai-prod',
      }),
    ]);
    expect(data[0]).not.toHaveProperty('at');
  });

  it('does not take an unknown price for a price of nothing', async () => {
    await storeBatch(app.dataSource, [
      inOwn({ trace_id: 'unpriced', cost_nano_usd: null, input_tokens: null, output_tokens: null }),
    ]);

    expect((await list({ trace_id: 'unpriced' })).data).toMatchObject([
      { cost: null, cost_nano_usd: null, req_units: null, total_units: null },
    ]);
  });

  it('pages through all rows, newest first, each once, though many arrived in the same instant and more come in', async () => {
    const instant = new Date('2026-11-19T10:00:00.000Z');
    const requests = Array.from({ length: 95 }, (_, at) =>
      inOwn({ trace_id: 'pages', created_at: at < 60 ? instant : new Date(instant.getTime() - at * 1_000) }),
    );
    await storeBatch(app.dataSource, requests);
    const seen: Record<string, string>[] = [];
    const sizes: number[] = [];

    for (let cursor: string | null = ''; cursor !== null;) {
      const page: LogPage = await list({ trace_id: 'pages', page_size: '20', ...(cursor ? { cursor } : {}) });
      expect(page.has_more).toBe(page.next_cursor !== null);
      seen.push(...page.data);
      sizes.push(page.data.length);
      cursor = page.next_cursor;
      await storeBatch(app.dataSource, [
        inOwn({ trace_id: 'pages', created_at: new Date('2026-11-19T11:00:00Z') }),
      ]);
    }

    expect(sizes).toEqual([20, 20, 20, 20, 15]);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(95);
    const order = seen.map(({ created_at, id }) => `${created_at} ${id}`);
    expect(order).toEqual([...order].sort().reverse());
  });

  it('has no next page when the rows end with the page', async () => {
    await storeBatch(app.dataSource, [inOwn({ trace_id: 'full' }), inOwn({ trace_id: 'full' })]);

    expect(await list({ trace_id: 'full', page_size: '2' })).toMatchObject({
      has_more: false,
      next_cursor: null,
    });
  });

  it('narrows the list by each filter', async () => {
    const key = randomUUID();
    await storeBatch(app.dataSource, [
      inOwn({
        trace_id: 'f-1',
        created_at: new Date('2026-11-18T10:00:00Z'),
        model: 'm-1',
        provider: 'p-1',
        status: 429,
      }),
      inOwn({
        trace_id: 'f-2',
        created_at: new Date('2026-11-18T11:00:00Z'),
        model: 'm-2',
        provider: 'p-2',
        status: 500,
      }),
      inOwn({
        trace_id: 'f-3',
        created_at: new Date('2026-11-18T12:00:00Z'),
        api_key_id: key,
        virtual_key: 'vk-f',
      }),
      inOwn({
        trace_id: 'f-4',
        created_at: new Date('2026-11-18T13:00:00Z'),
        metadata: { team: "a'b", _user: 'ada' },
      }),
    ]);
    const day = {
      time_of_generation_min: '2026-11-18T00:00:00Z',
      time_of_generation_max: '2026-11-18T23:00:00Z',
    };

    expect(await tracesOf(day)).toEqual(['f-4', 'f-3', 'f-2', 'f-1']);
    expect(await tracesOf({ ...day, time_of_generation_max: '2026-11-18T13:00:00+02:00' })).toEqual([
      'f-2',
      'f-1',
    ]);
    expect(await tracesOf({ ...day, status_code: '429,500' })).toEqual(['f-2', 'f-1']);
    expect(await tracesOf({ ...day, ai_model: 'm-1' })).toEqual(['f-1']);
    expect(await tracesOf({ ...day, ai_org: 'p-1,p-2', model: 'm-2' })).toEqual(['f-2']);
    expect(await tracesOf({ ...day, ai_org_model: 'p-1__m-1,p-1__m-2' })).toEqual(['f-1']);
    expect(await tracesOf({ ...day, api_key_id: key })).toEqual(['f-3']);
    expect(await tracesOf({ ...day, virtual_key: 'vk-f' })).toEqual(['f-3']);
    expect(await tracesOf({ ...day, metadata: '{"team":"a\'b"}' })).toEqual(['f-4']);
    expect(await tracesOf({ ...day, 'metadata[_user]': 'ada' })).toEqual(['f-4']);
    expect(await tracesOf({ trace_id: 'f-1,f-4' })).toEqual(['f-4', 'f-1']);
  });

  it.each([['%'], ['%%%%'], ['____'], ["' OR '1'='1"], ["'; DROP TABLE request_logs; --"], ['\\'], ['$1']])(
    'compares %s as the text it is',
    async (text) => {
      expect(await tracesOf({ ai_model: text })).toEqual([]);
      expect(await tracesOf({ trace_id: text })).toEqual([]);
      expect(await tracesOf({ [`metadata[${text}]`]: text })).toEqual([]);
    },
  );

  it.each([
    'sort=created_at%20desc,(select%20pg_sleep(5))',
    'group_by=model;drop%20table',
    'current_page=2',
    'page_size=1000',
    'cursor=W10',
    `cursor=${Buffer.from(JSON.stringify(["2026-11-18' OR 1=1--", randomUUID()])).toString('base64url')}`,
    'status_code=200)%20OR%20(1=1',
    'ai_model=a&ai_model=b',
    'ai_model=%00',
    'metadata=%7B%22a%22:%22%5Cu0000%22%7D',
    'time_of_generation_min=now()',
  ])('refuses %s at once', async (query) => {
    const startedAt = Date.now();
    const answer = await app.call('GET', `/v1/logs?${query}`, { key: own.key });

    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe('invalid_request');
    expect(
      Date.now() - startedAt,
      'ms; one of them asks the database to sleep for five seconds',
    ).toBeLessThan(5_000);
  });

  it('shows a workspace key its own workspace only, and an admin key all of its organization', async () => {
    await storeBatch(app.dataSource, [
      inOwn({ trace_id: 'mine-1' }),
      inTwo({ trace_id: 'mine-2' }),
      inForeign({ trace_id: 'mine-3' }),
    ]);
    const query = { trace_id: 'mine-1,mine-2,mine-3' };

    expect(await tracesOf(query)).toEqual(['mine-1']);
    expect(await tracesOf(query, other.key)).toEqual(['mine-2']);
    expect((await tracesOf(query, app.first.admin_api_key)).sort()).toEqual(['mine-1', 'mine-2']);
    expect(await tracesOf({ ...query, workspace_id: workspaceTwo }, app.first.admin_api_key)).toEqual([
      'mine-2',
    ]);
    expect(await tracesOf({ ...query, workspace_slug: 'ws-two' }, app.first.admin_api_key)).toEqual([
      'mine-2',
    ]);
  });

  it('knows no workspace beyond the reach of the caller', async () => {
    for (const [key, workspace] of [
      [own.key, workspaceTwo],
      [own.key, foreign.workspaceId],
      [app.first.admin_api_key, foreign.workspaceId],
      [app.first.admin_api_key, randomUUID()],
    ] as const)
      expect((await app.call('GET', `/v1/logs?workspace_id=${workspace}`, { key })).status).toBe(404);
  });

  it('takes no cursor for a way around the reach', async () => {
    await storeBatch(app.dataSource, [inForeign({ trace_id: 'cursor' }), inForeign({ trace_id: 'cursor' })]);
    const cursor = Buffer.from(JSON.stringify(['2099-01-01T00:00:00.000000Z', randomUUID()])).toString(
      'base64url',
    );

    expect(await tracesOf({ cursor, trace_id: 'cursor' })).toEqual([]);
  });

  it('needs the scope', async () => {
    const viewer = await app.workspaceKey(['logs.view']);
    const lister = await app.workspaceKey(['logs.list']);

    expect((await app.call('GET', '/v1/logs', { key: viewer.key })).status).toBe(403);
    expect((await app.call('GET', `/v1/logs/${randomUUID()}`, { key: lister.key })).status).toBe(403);
    expect((await app.call('GET', '/v1/logs', { key: 'gw_ws_nonsense' })).status).toBe(401);
  });
});

describe('GET /v1/logs/{id}', () => {
  const stored = async (request = inOwn()): Promise<string> => {
    const id = uuidV7(Date.now());
    await storeBatch(app.dataSource, [{ ...request, id }]);
    return id;
  };
  const get = (id: string, key = own.key) => app.call('GET', `/v1/logs/${id}`, { key });

  it('shows bodies, headers and attempts', async () => {
    const id = await stored(inOwn({ attempt_count: 2, metadata: { team: 'a' } }));
    await storeAttempts(app.dataSource, id, [500, 200]);
    await storeMessages(app.dataSource, id, [
      {
        direction: 'request',
        headers: { 'content-type': 'application/json', 'x-gateway-api-key': 'gw********x7Q' },
        body: brotliCompressSync('{"model":"gpt"}'),
        stored_encoding: 'br',
      },
      { direction: 'response', headers: {}, body: gzipSync('data: [DONE]\n\n'), content_encoding: 'gzip' },
    ]);

    const { body, status } = await get(id);

    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      _id: id,
      status: 200,
      request: {
        url: '/v1/chat/completions',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        portkeyHeaders: { 'x-gateway-api-key': 'gw********x7Q' },
        body: { model: 'gpt' },
        body_format: 'json',
      },
      response: {
        status: 200,
        responseTime: 120,
        headers: {},
        body: 'data: [DONE]\n\n',
        body_format: 'text',
      },
      attempts: [
        { attempt: 0, status: 500, origin: 'https://api.openai.com', cost_nano_usd: 500 },
        { attempt: 1, status: 200 },
      ],
      metrics: {
        id,
        ai_org: 'openai',
        'metadata.key': ['team'],
        'metadata.value': ['a'],
        upstream_response_time: 100,
      },
    });
  });

  it('shows a request without bodies', async () => {
    const { body } = await get(await stored());

    expect(body).toMatchObject({
      request: { headers: {}, body: null, body_format: null, body_unavailable: false },
      response: { body: null },
      attempts: [],
    });
  });

  it('survives a body that unpacks to more than 10 MiB', async () => {
    const id = await stored();
    await storeMessages(app.dataSource, id, [
      { direction: 'response', body: gzipSync(Buffer.alloc(64 * 1024 * 1024)), content_encoding: 'gzip' },
    ]);

    const { body, status, text } = await get(id);

    expect(status).toBe(200);
    expect(text.length).toBeLessThan(10_000);
    expect(body.response).toMatchObject({ body: null, body_unavailable: true });
  });

  it('returns for a row beyond the reach exactly what it returns for a missing one', async () => {
    const absent = await get(uuidV7(Date.now()));
    const hidden = [
      await get(await stored(inTwo())),
      await get(await stored(inForeign())),
      await get(await stored(inForeign()), app.first.admin_api_key),
      await get('not-an-id'),
      await get("x' OR '1'='1"),
    ];

    expect(absent.status).toBe(404);
    const withoutId = ({ text, body }: typeof absent) => text.replace(body.error.request_id, '');
    for (const answer of hidden) {
      expect(answer.status).toBe(404);
      expect(withoutId(answer)).toBe(withoutId(absent));
    }
    expect((await get(await stored(inTwo()), app.first.admin_api_key)).status).toBe(200);
  });
});

/** The step of a plan, and not the order that a merge of partitions keeps. */
const SORT = /\bSort\s+\(cost/;

describe('the database of the log', () => {
  it('aborts a query after five seconds, on connections of its own', async () => {
    const database = new LogDatabase(app.dataSource, app.app.get(UnitOfWork));
    const startedAt = Date.now();
    const slow = Array.from({ length: 2 }, () => database.read('SELECT pg_sleep(60)', []));
    const outcome = Promise.allSettled(slow);
    const third = expect(database.read('SELECT 1', [])).rejects.toThrow('in use');

    expect((await app.call('GET', '/v1/virtual-keys')).status).toBe(200);
    await third;
    expect(await outcome).toMatchObject([
      { status: 'rejected', reason: { code: 'query_timeout' } },
      { status: 'rejected', reason: { code: 'query_timeout' } },
    ]);
    expect(Date.now() - startedAt, 'ms of the sixty seconds that were asked for').toBeLessThan(30_000);
    expect(await database.read('SELECT 1 AS one', [])).toEqual([{ one: 1 }]);
    await database.onApplicationShutdown();
  });

  it('returns 503 when the log cannot be read', async () => {
    const database = app.app.get(LogDatabase, { strict: false });
    // Both of its connections wait for a lock, for as long as it takes to be refused.
    const gate = app.dataSource.createQueryRunner();
    await gate.query('SELECT pg_advisory_lock(4711)');
    const held = `SET statement_timeout = 0; SELECT pg_advisory_lock_shared(4711);
      SELECT pg_advisory_unlock_shared(4711); RESET statement_timeout`;
    const busy = Promise.all([database.read(held, []), database.read(held, [])]);

    const answer = await app.call('GET', '/v1/logs', { key: own.key });

    await gate.query('SELECT pg_advisory_unlock(4711)');
    await gate.release();
    await busy;
    expect(answer.status).toBe(503);
    expect((await app.call('GET', '/v1/logs', { key: own.key })).status).toBe(200);
  });

  it('finds the newest rows of a workspace and of an organization without sorting them', async () => {
    const plans = async (condition: string): Promise<string> => {
      const runner = app.dataSource.createQueryRunner();
      await runner.query('SET enable_seqscan = off');
      const rows = await runner.query(
        `EXPLAIN SELECT id FROM request_logs WHERE ${condition} ORDER BY created_at DESC, id DESC LIMIT 51`,
      );
      await runner.query('RESET enable_seqscan');
      await runner.release();
      return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
    };
    const organization = `organisation_id = '${app.first.organisation_id}'`;

    expect(await plans(organization)).not.toMatch(SORT);
    expect(await plans(`${organization} AND workspace_id = '${app.first.workspace_id}'`)).not.toMatch(SORT);
  });
});
