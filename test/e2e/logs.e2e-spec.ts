import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonOf, sha256 } from '../support/http-client.js';
import { withDatabase } from '../support/database-dump.js';
import { eventually, inParallel } from '../support/waiting.js';
import { World } from '../support/world.js';

/** Nano-dollars per token of gpt-4o-mini: $0.15, $0.075 and $0.60 per million (openai.com/api/pricing). */
const INPUT = 150;
const CACHED = 75;
const OUTPUT = 600;
const MODEL = 'gpt-4o-mini';
const DATED = 'gpt-4o-mini-2024-07-18';
const CHAT = '/v1/chat/completions';
const PATH = '/base/v9/chat/completions';
const JSON_TYPE = [['content-type', 'application/json']] as const;
const SSE = [['content-type', 'text/event-stream']] as const;

let world: World;

beforeAll(async () => {
  world = await World.create('logs');
});
afterAll(() => world.close());

const completion = (usage: object | null, model = DATED): string =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'An answer of some words.' },
        finish_reason: 'stop',
      },
    ],
    ...(usage ? { usage } : {}),
  });

const USAGE = {
  prompt_tokens: 1_000,
  completion_tokens: 500,
  total_tokens: 1_500,
  prompt_tokens_details: { cached_tokens: 200 },
};
const COST = 800 * INPUT + 200 * CACHED + 500 * OUTPUT;

const events = (usage: object | null): string => {
  const chunk = (more: object): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: DATED, ...more })}\n\n`;
  const deltas = ['One', ' two', ' three', ' four'].map((content) =>
    chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
  );
  return `${deltas.join('')}${usage ? chunk({ choices: [], usage }) : ''}data: [DONE]\n\n`;
};

const ask = (more: object = {}) => ({
  model: MODEL,
  messages: [{ role: 'user', content: 'Count to four, please.' }],
  ...more,
});

async function rowOf(more: object = {}, headers: Record<string, string> = {}) {
  const answer = await world.send({
    method: 'POST',
    path: CHAT,
    body: ask(more),
    headers: { ...world.headers, ...headers },
  });
  return { answer, row: await world.logs.row(answer.requestId) };
}

describe('a row', () => {
  it('says who, what, where and how it ended', async () => {
    world.upstream.on(PATH, { headers: JSON_TYPE, body: completion(USAGE) });
    const { answer, row } = await rowOf(
      { user: 'u-1' },
      { 'x-gateway-trace-id': 'trace-1', 'x-gateway-metadata': '{"team":"blue","_user":"u-1"}' },
    );
    expect(row).toMatchObject({
      id: answer.requestId,
      api_key_id: world.apiKey.id,
      workspace_id: world.service.bootstrap.workspace_id,
      trace_id: 'trace-1',
      method: 'POST',
      path: CHAT,
      endpoint: 'chat-completions',
      provider: 'openai',
      virtual_key: world.virtualKey,
      model: MODEL,
      response_model: DATED,
      streamed: false,
      ending: 'completed',
      status: 200,
      error_code: null,
      usage_source: 'provider',
      input_tokens: 1_000,
      cached_input_tokens: 200,
      output_tokens: 500,
      response_bytes: answer.body.length,
      metadata: { team: 'blue', _user: 'u-1' },
    });
    expect(Math.abs(Date.parse(row.created_at) - Date.now())).toBeLessThan(30_000);
  });

  it('L05: has keys of the metadata that name prototypes as they were sent', async () => {
    const metadata =
      '{"__proto__":"a","__proto__.x":"b","a.__proto__.b":"c","constructor.prototype.x":"d","toString":"e"}';
    const answer = await world.send({
      path: '/v1/probe',
      headers: { ...world.headers, 'x-gateway-metadata': metadata },
    });
    expect(answer.status).toBe(200);
    const row = await world.logs.row(answer.requestId);
    expect(Object.entries(row.metadata ?? {}).sort()).toEqual(Object.entries(JSON.parse(metadata)).sort());
  });

  it('has the exact cost in nano-dollars', async () => {
    world.upstream.on(PATH, { headers: JSON_TYPE, body: completion(USAGE) });
    const { row } = await rowOf();
    expect(row.cost_nano_usd).toBe(COST);
  });

  it('has no cost when the price is unknown, never a zero', async () => {
    world.upstream.on(PATH, { headers: JSON_TYPE, body: completion(USAGE, 'a-model-of-nobody') });
    const { row } = await rowOf({ model: 'a-model-of-nobody' });
    expect(row).toMatchObject({
      cost_nano_usd: null,
      input_tokens: 1_000,
      output_tokens: 500,
      usage_source: 'provider',
    });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)(
    'has the usage of a response that came in %s, and the client got the packed bytes',
    async (encoding, pack) => {
      const packed = pack(completion(USAGE));
      world.upstream.on(PATH, { headers: [...JSON_TYPE, ['content-encoding', encoding]], body: packed });
      const { answer, row } = await rowOf();
      expect(answer.body.equals(packed)).toBe(true);
      expect(row).toMatchObject({ usage_source: 'provider', input_tokens: 1_000, output_tokens: 500 });
      expect(row.cost_nano_usd).toBe(COST);
    },
  );

  it('has the usage that a stream reported at its end', async () => {
    world.upstream.on(PATH, { headers: SSE, body: events(USAGE) });
    const { answer, row } = await rowOf({ stream: true, stream_options: { include_usage: true } });
    expect(answer.body.toString()).toBe(events(USAGE));
    expect(row).toMatchObject({
      streamed: true,
      usage_source: 'provider',
      input_tokens: 1_000,
      output_tokens: 500,
      response_model: DATED,
    });
    expect(row.cost_nano_usd).toBe(COST);
  });

  it.each([true, false])(
    'has counted tokens, marked as such, when the provider reported none (stream: %s)',
    async (stream) => {
      world.upstream.on(
        PATH,
        stream ? { headers: SSE, body: events(null) } : { headers: JSON_TYPE, body: completion(null) },
      );
      const { row } = await rowOf({ stream });
      expect(row.usage_source).toBe('counted');
      expect(row.input_tokens).toBeGreaterThan(3);
      expect(row.output_tokens).toBeGreaterThan(3);
      expect(row.output_tokens).toBeLessThan(20);
      expect(row.cost_nano_usd).toBe((row.input_tokens ?? 0) * INPUT + (row.output_tokens ?? 0) * OUTPUT);
    },
  );

  it.each([
    ['negative', { prompt_tokens: -5, completion_tokens: -5 }],
    ['text', { prompt_tokens: '12', completion_tokens: '7' }],
    ['gigantic', { prompt_tokens: 1e18, completion_tokens: 1e30 }],
    ['fractions', { prompt_tokens: 1.5, completion_tokens: 0.1 }],
    ['an array', []],
  ])('never has a negative or absurd cost when the usage is %s', async (_, usage) => {
    world.upstream.on(PATH, { headers: JSON_TYPE, body: completion(usage) });
    const { answer, row } = await rowOf();
    expect(answer.status).toBe(200);
    if (row.cost_nano_usd !== null) {
      expect(row.cost_nano_usd).toBeGreaterThanOrEqual(0);
      expect(row.cost_nano_usd).toBeLessThan(1e9);
    }
  });

  it('of a provider’s refusal keeps its status, and marks whose it was', async () => {
    world.upstream.on(PATH, { status: 429, headers: JSON_TYPE, body: '{"error":{"message":"slow down"}}' });
    const { answer, row } = await rowOf();
    expect([answer.status, answer.body.toString()]).toEqual([429, '{"error":{"message":"slow down"}}']);
    expect(row).toMatchObject({
      status: 429,
      ending: 'completed',
      error_source: 'provider',
      cost_nano_usd: null,
    });
  });

  it('of our refusal has its code', async () => {
    const answer = await world.send({
      method: 'POST',
      path: CHAT,
      body: ask(),
      headers: { ...world.headers, 'x-gateway-virtual-key': 'none' },
    });
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      status: 404,
      ending: 'refused',
      error_code: 'not_found',
      error_source: 'gateway',
    });
  });

  it('of a body that is no JSON reports it', async () => {
    const answer = await world.send({
      method: 'POST',
      path: CHAT,
      body: '{"model":',
      headers: { ...world.headers, 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(400);
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      status: 400,
      ending: 'refused',
      error_code: 'invalid_json',
    });
  });

  it('has one attempt row per try, and the last one carries the cost', async () => {
    let tries = 0;
    world.upstream.on(PATH, () => {
      tries++;
      return tries < 3
        ? { status: 503, headers: JSON_TYPE, body: '{"error":{"message":"busy"}}' }
        : { headers: JSON_TYPE, body: completion(USAGE) };
    });
    const { answer, row } = await rowOf({}, { 'x-gateway-retry-count': '3' });
    expect([answer.status, answer.headers['x-gateway-retry-attempt-count'], tries]).toEqual([200, '2', 3]);
    expect(
      row.attempts?.map(({ attempt, status, cost_nano_usd }) => [attempt, status, cost_nano_usd]),
    ).toEqual([
      [0, 503, null],
      [1, 503, null],
      [2, 200, COST],
    ]);
    expect(row.attempts?.every(({ origin }) => origin === world.upstream.url)).toBe(true);
    expect(row.cost_nano_usd).toBe(COST);
  });
});

describe('bodies', () => {
  const bodiesOf = (id: string) =>
    withDatabase(world.service, async (client) => {
      const { rows } = await client.query<{
        direction: string;
        original_bytes: string;
        truncated: boolean;
        has_body: boolean;
      }>(
        'SELECT direction, original_bytes, truncated, body IS NOT NULL AS has_body FROM request_bodies WHERE request_id = $1 ORDER BY direction',
        [id],
      );
      return rows;
    });

  it('are kept apart from the row, with their size', async () => {
    world.upstream.on(PATH, { headers: JSON_TYPE, body: completion(USAGE) });
    const { answer, row } = await rowOf();
    const kept = await bodiesOf(answer.requestId);
    expect(kept.map(({ direction, truncated, has_body }) => [direction, truncated, has_body])).toEqual([
      ['request', false, true],
      ['response', false, true],
    ]);
    expect(Number(kept[1]?.original_bytes)).toBe(answer.body.length);
    expect(JSON.stringify(row)).toContain('Count to four');
    expect(JSON.stringify(row)).toContain('An answer of some words');
  });

  it('are not kept when the caller disables them', async () => {
    world.upstream.on(PATH, { headers: JSON_TYPE, body: completion(USAGE) });
    const { answer, row } = await rowOf({}, { 'x-gateway-debug': 'false' });
    expect((await bodiesOf(answer.requestId)).filter(({ has_body }) => has_body)).toEqual([]);
    expect(JSON.stringify(row)).not.toContain('Count to four');
  });

  it('that are large are kept in part, and arrive whole', async () => {
    const large = JSON.stringify({ ...JSON.parse(completion(USAGE)), filler: 'x'.repeat(900_000) });
    world.upstream.on(PATH, { headers: JSON_TYPE, body: large });
    const { answer, row } = await rowOf();
    expect(answer.sha256).toBe(sha256(Buffer.from(large)));
    expect(row).toMatchObject({ response_bytes: large.length, input_tokens: 1_000 });
    expect((await bodiesOf(answer.requestId))[1]).toMatchObject({
      truncated: true,
      original_bytes: String(large.length),
    });
  });
});

describe('the list', () => {
  const COUNT = 33;
  const trace = `trace-list-${Date.now()}`;
  const ids: string[] = [];

  beforeAll(async () => {
    world.upstream.on('/base/v9/listed', ({ target }) => ({
      status: target.includes('bad') ? 500 : 200,
      headers: JSON_TYPE,
      body: '{}',
    }));
    const answers = await inParallel(Array.from({ length: COUNT }), 8, (_, i) =>
      world.send({
        path: i % 3 === 0 ? '/v1/listed?bad' : '/v1/listed',
        headers: { ...world.headers, 'x-gateway-trace-id': trace },
      }),
    );
    ids.push(...answers.map(({ requestId }) => requestId));
    for (const id of ids) await world.logs.row(id);
  });

  const own = async (query: Record<string, string>): Promise<string[]> =>
    (await world.logs.all(query)).filter(({ trace_id }) => trace_id === trace).map(({ id }) => id);

  it('is newest first, and every row once', async () => {
    const rows = (await world.logs.all()).filter(({ trace_id }) => trace_id === trace);
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(ids));
    expect(rows).toHaveLength(COUNT);
    const times = rows.map(({ created_at }) => Date.parse(created_at));
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  it('in pages gives every row once, also while new ones arrive', async () => {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await world.logs.page({ trace_id: trace, page_size: '7', ...(cursor ? { cursor } : {}) });
      expect(page.rows.length).toBeLessThanOrEqual(7);
      found.push(...page.rows.map(({ id }) => id));
      cursor = page.cursor;
      await world.send({ path: '/v1/listed', headers: world.headers });
    }
    expect(found).toHaveLength(COUNT);
    expect(new Set(found)).toEqual(new Set(ids));
  });

  it('is filtered by trace, by status and by virtual key', async () => {
    expect(new Set(await own({ trace_id: trace }))).toEqual(new Set(ids));
    const bad = await own({ trace_id: trace, status_code: '500' });
    expect(bad).toHaveLength(Math.ceil(COUNT / 3));
    expect(await own({ trace_id: trace, virtual_keys: 'none' })).toEqual([]);
    expect(await own({ trace_id: trace, virtual_keys: world.virtualKey })).toHaveLength(COUNT);
  });

  it('is filtered by time', async () => {
    const future = new Date(Date.now() + 60_000).toISOString();
    expect(await own({ time_of_generation_min: future })).toEqual([]);
    expect(await own({ time_of_generation_max: future, trace_id: trace })).toHaveLength(COUNT);
  });

  it.each(["x' OR 1=1--", '%', '{"$gt":""}', '\\', '\u0000'])(
    'M05: the filter %j finds nothing and breaks nothing',
    async (value) => {
      const answer = await world.service.client.call({
        path: `/v1/logs?workspace_id=${world.service.bootstrap.workspace_id}&trace_id=${encodeURIComponent(value)}`,
        headers: { 'x-gateway-api-key': world.service.bootstrap.admin_api_key },
      });
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 200) expect(JSON.parse(answer.body.toString()).data).toEqual([]);
    },
  );

  it('is closed without the scope, and shows a key its own workspace only', async () => {
    const { key } = await world.administration.createKey('no logs', ['completions.write']);
    const closed = await world.service.client.call({
      path: '/v1/logs',
      headers: { 'x-gateway-api-key': key },
    });
    expect(closed.status).toBe(403);
    const own = await world.service.client.call({
      path: '/v1/logs',
      headers: { 'x-gateway-api-key': world.apiKey.key },
    });
    expect(own.status).toBe(200);
    const rows = JSON.parse(own.body.toString()).data as { workspace_id: string }[];
    expect(new Set(rows.map((row) => row.workspace_id))).toEqual(
      new Set([world.service.bootstrap.workspace_id]),
    );
  });
});

describe('through the gateway', () => {
  it('new requests are watched', async () => {
    world.upstream.on('/base/v9/watched', { headers: JSON_TYPE, body: '{}' });
    const { stream, status, headers, request } = await world.service.client.open({
      path: '/v1/logs/stream',
      headers: { 'x-gateway-api-key': world.apiKey.key },
    });
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream']);
    let text = '';
    const sent: string[] = [];
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    stream.on('error', () => undefined);

    const watched = await eventually(
      async () => {
        // What came before the first look is not new, so more than one may be needed.
        sent.push((await world.send({ path: '/v1/watched' })).requestId);
        await world.logs.row(sent.at(-1) ?? '');
        return sent.find((id) => text.includes(id));
      },
      { what: 'an event of a new request' },
    );
    request.destroy();
    expect(text).toContain(`id: ${watched}\nevent: log\ndata: {`);
  });

  it('an export is written, and its signed link hands it out without a key', async () => {
    world.upstream.on(PATH, { headers: JSON_TYPE, body: completion(USAGE) });
    const { row } = await rowOf({}, { 'x-gateway-trace-id': `export-${Date.now()}` });
    const { administration } = world;
    const { id } = await administration.ask('POST', '/v1/logs/exports', {
      workspace_id: world.service.bootstrap.workspace_id,
      filters: { trace_id: row.trace_id },
      requested_data: ['id', 'request'],
    });
    await administration.ask('POST', `/v1/logs/exports/${id}/start`);
    const path = `/v1/logs/exports/${id}`;
    await eventually(async () => (await administration.ask('GET', path)).status === 'success', {
      what: 'the end of an export',
    });
    const { signed_url } = await administration.ask('GET', `${path}/download`);
    const link = new URL(String(signed_url));

    const file = await world.service.client.call({ path: `${link.pathname}${link.search}` });
    expect(file.status).toBe(200);
    expect(jsonOf(file)).toMatchObject({ id: row.id, request: { body: { model: MODEL } } });
    const spoiled = `${link.pathname}${link.search.replace(/signature=(.)/, (_, first) => `signature=${first === 'A' ? 'B' : 'A'}`)}`;
    expect((await world.service.client.call({ path: spoiled })).status).toBe(404);
  });
});

describe('after all of this', () => {
  it('the log has one row per request', () => world.checkLog());
  it('no secret appears anywhere', () => world.checkCanaries());
});
