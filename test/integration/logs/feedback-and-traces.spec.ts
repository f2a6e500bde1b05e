import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOG_FILTERS } from '../../../src/request-log/reading/log-filters.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { aRecord, storeRecords } from '../../support/recorded-requests.js';

let app: AdminApp;
let key: string;
let otherKey: string;
let two: string;

beforeAll(async () => {
  app = await AdminApp.start();
  two = await app.anotherWorkspace('ws-two');
  key = (await app.workspaceKey(['logs.write', 'logs.list', 'logs.view'])).key;
  otherKey = (await app.workspaceKey(['logs.write', 'logs.list', 'logs.view'], two)).key;
});
afterAll(() => app.close());

const give = (body: unknown, by = key) => app.call('POST', '/v1/feedback', { key: by, body });
const store = (given: Partial<Parameters<typeof aRecord>[0]> = {}) => {
  const record = aRecord({
    created_at: Date.now(),
    organisation_id: app.first.organisation_id,
    workspace_id: app.first.workspace_id,
    ...given,
  });
  return storeRecords(app.url, [record]).then(() => record);
};
const listed = async (query: Record<string, string>, by = key): Promise<Json> => {
  const answer = await app.call('GET', `/v1/logs?${new URLSearchParams(query).toString()}`, { key: by });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const idsOf = async (query: Record<string, string>): Promise<string[]> =>
  (await listed(query)).data.map(({ id }: Json) => id);

describe('feedback', () => {
  it('is given on one trace, changed, and shown with the requests of the trace', async () => {
    const { id, trace_id } = await store();
    const given = await give({ trace_id, value: -3, weight: 0.5, metadata: { by: 'ada' } });
    expect(given).toMatchObject({
      status: 200,
      body: { status: 'success', feedback_ids: [expect.any(String)] },
    });
    const [feedbackId] = given.body.feedback_ids;

    const changed = await app.call('PUT', `/v1/feedback/${feedbackId}`, { key, body: { value: 10 } });

    expect(changed).toMatchObject({ status: 200, body: { feedback_ids: [feedbackId] } });
    const log = await app.call('GET', `/v1/logs/${id}`, { key });
    expect(log.body.feedback).toEqual([
      { id: feedbackId, value: 10, weight: 0.5, metadata: { by: 'ada' }, created_at: expect.any(String) },
    ]);
    expect(log.body.feedback_has_more).toBe(false);
  });

  it('is not changed by a body that names other feedback', async () => {
    const { trace_id } = await store();
    const given = await give([
      { trace_id, value: 1 },
      { trace_id, value: 1 },
    ]);
    const [one, other] = given.body.feedback_ids;

    const refused = await app.call('PUT', `/v1/feedback/${one}`, {
      key,
      body: { value: 9, feedback_id: other },
    });

    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    expect(refused.body.error.message).toContain('feedback_id');
  });

  it('is shown up to a hundred times, the oldest first, and says that there is more', async () => {
    const { id, trace_id } = await store({ trace_id: randomUUID() });
    const hundred = Array.from({ length: 100 }, () => ({ trace_id, value: 1 }));
    const { feedback_ids } = (await give(hundred)).body;
    const shown = async () => (await app.call('GET', `/v1/logs/${id}`, { key })).body;
    expect((await shown()).feedback_has_more).toBe(false);
    await give({ trace_id, value: 2 });

    const { feedback, feedback_has_more } = await shown();

    expect(feedback_has_more).toBe(true);
    expect(new Set(feedback.map((each: Json) => each.id))).toEqual(new Set(feedback_ids));
  });

  it('is given on many traces at once, or on none of them', async () => {
    const traces = [randomUUID(), randomUUID()];
    const many = await give(traces.map((trace_id) => ({ trace_id, value: 1 })));
    expect(many.status, many.text).toBe(200);
    expect(many.body.feedback_ids).toHaveLength(2);
    const [{ before }] = await app.dataSource.query('SELECT count(*)::int AS before FROM feedback');
    const broken = await give([
      { trace_id: 'x', value: 1 },
      { trace_id: 'y', value: 11 },
    ]);
    expect(broken.status).toBe(400);
    const [{ after }] = await app.dataSource.query('SELECT count(*)::int AS after FROM feedback');
    expect(after).toBe(before);
  });

  it.each([
    [{ value: 1 }],
    [{ trace_id: 'x' }],
    [{ trace_id: '', value: 1 }],
    [{ trace_id: 'x', value: 1.5 }],
    [{ trace_id: 'x', value: -11 }],
    [{ trace_id: 'x', value: '5' }],
    [{ trace_id: 'x', value: 1, weight: 1.1 }],
    [{ trace_id: 'x', value: 1, metadata: { a: 1 } }],
    [{ trace_id: 'x', value: 1, metadata: { a: 'x'.repeat(129) } }],
    [{ trace_id: 'x\0', value: 1 }],
    [{ trace_id: 'x', value: 1, more: true }],
    [[]],
    [[1]],
    [Array.from({ length: 101 }, () => ({ trace_id: 'x', value: 1 }))],
    ['text'],
  ])('is refused as %j', async (body) => {
    expect((await give(body)).status).toBe(400);
  });

  it('is for workspace keys with the scope; an admin key is refused', async () => {
    const body = { trace_id: 'x', value: 1 };
    expect((await app.call('POST', '/v1/feedback', { body })).status).toBe(403);
    expect((await app.call('PUT', `/v1/feedback/${randomUUID()}`, { body: { value: 1 } })).status).toBe(403);
    expect((await give(body, (await app.workspaceKey(['logs.list'])).key)).status).toBe(403);
  });

  it('of another workspace is as absent as one that never was', async () => {
    const { feedback_ids } = (await give({ trace_id: 'mine', value: 1 })).body;
    const change = (id: string) =>
      app.call('PUT', `/v1/feedback/${id}`, { key: otherKey, body: { value: 9 } });
    const [foreign, absent] = [await change(feedback_ids[0]), await change(randomUUID())];
    expect([foreign.status, absent.status]).toEqual([404, 404]);
    expect({ ...foreign.body.error, request_id: '' }).toEqual({ ...absent.body.error, request_id: '' });
  });
});

describe('the list of requests', () => {
  it('is narrowed by each filter of the compatible API', async () => {
    const trace_id = randomUUID();
    const marked = await store({
      trace_id,
      model: 'the-model',
      prompt_slug: 'pp-one',
      cache_status: 'HIT',
      saved_nano_usd: 700,
      usage: { input_tokens: 70_000, output_tokens: 30_000 },
      cost_nano_usd: 990_000_000,
      duration_ms: 77_777,
      status: 503,
      error_code: 'upstream_unreachable',
      metadata: { _user: 'ada', team: 'red' },
    });
    await store({ model: 'another', usage: null, cost_nano_usd: null, duration_ms: 5 });
    await give({ trace_id, value: -10 });
    const FITTING: readonly Record<string, string>[] = [
      { total_units_min: '100000', total_units_max: '100000' },
      { cost_min: '98.9', cost_max: '99.1' },
      { prompt_token_min: '70000', prompt_token_max: '70000' },
      { completion_token_min: '30000', completion_token_max: '30000' },
      { response_time_min: '77777', response_time_max: '77777' },
      { weighted_feedback_max: '-9' },
      { has_feedback: 'true', trace_id },
      { is_success: 'false', ai_model: 'the-model' },
      { error_code: 'upstream_unreachable' },
      { cache_status: 'HIT' },
      { prompt_slug: 'pp-one' },
      { user: 'ada' },
      { metadata: '{"team":"red"}' },
    ];
    for (const query of FITTING) expect(await idsOf(query), JSON.stringify(query)).toEqual([marked.id]);
    const [shown] = (await listed({ trace_id })).data;
    expect(shown).toMatchObject({
      cache_status: 'HIT',
      saved_nano_usd: 700,
      retry_count: 0,
    });
  });

  it('takes every filter that it names', async () => {
    const VALUES: Readonly<Record<string, string>> = {
      metadata: '{"a":"b"}',
      status_code: '200',
      status_code_min: '400',
      status_code_max: '499',
      is_success: 'true',
      has_feedback: 'false',
      user_id: randomUUID(),
      api_key_id: randomUUID(),
      api_key_ids: randomUUID(),
    };
    for (const name of Object.keys(LOG_FILTERS))
      await listed({
        [name]: VALUES[name.replace(/^not_/, '')] ?? (/_(min|max)$/.test(name) ? '1' : 'x'),
      }).catch((error: unknown) => {
        if (!/generation|created_at/.test(name)) throw error;
      });
  });

  it('is counted up to ten thousand, and only on request', async () => {
    const trace_id = randomUUID();
    await storeRecords(
      app.url,
      Array.from({ length: 10_050 }, () =>
        aRecord({
          created_at: Date.now(),
          organisation_id: app.first.organisation_id,
          workspace_id: app.first.workspace_id,
          trace_id,
        }),
      ),
      5_000,
    );
    expect(await listed({ trace_id, include_total: 'true' })).toMatchObject({
      total: 10_001,
      total_is_capped: true,
    });
    expect(await listed({ user: 'ada', include_total: 'true' })).toMatchObject({
      total: 1,
      total_is_capped: false,
    });
    expect((await listed({ trace_id })).total).toBeUndefined();
  });
});

describe('a trace', () => {
  it('is all of its requests as a tree, within the workspace', async () => {
    const trace_id = `checkout/${randomUUID()}`;
    const at = Date.now();
    await store({ trace_id, span_id: 'a', created_at: at });
    await store({ trace_id, span_id: 'b', parent_span_id: 'a', created_at: at + 1 });
    await store({ trace_id, span_id: 'c', parent_span_id: 'b', created_at: at + 2 });
    await store({ trace_id, span_id: 'z', workspace_id: two, created_at: at + 3 });
    const path = `/v1/logs/traces/${encodeURIComponent(trace_id)}`;

    const { status, body } = await app.call('GET', path, { key });

    expect(status).toBe(200);
    const shape = (spans: Json): unknown =>
      spans.map(({ span_id, children }: Json) => [span_id, shape(children)]);
    expect(shape(body.spans)).toEqual([['a', [['b', [['c', []]]]]]]);
    expect(body).toMatchObject({ object: 'trace', trace_id, has_more: false });
    expect((await app.call('GET', path, { key: otherKey })).body.spans).toHaveLength(1);
    expect((await app.call('GET', '/v1/logs/traces/absent', { key })).status).toBe(404);
    const spansIn = async (query: string) => (await app.call('GET', `${path}?${query}`)).body.spans?.length;
    expect(await spansIn('')).toBe(2);
    expect([await spansIn(`workspace_id=${two}`), await spansIn('workspace_slug=ws-two')]).toEqual([1, 1]);
    expect((await app.call('GET', `${path}?workspace_id=${two}`, { key })).status).toBe(404);
    expect((await app.call('GET', `${path}?workspace_id=absent`)).status).toBe(404);
    const unknown = await app.call('GET', `${path}?ai_model=gpt-5`);
    expect(unknown).toMatchObject({ status: 400 });
    expect(unknown.body.error.message).toContain('"ai_model"');
  });
});
