import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Administration } from '../support/administration.js';
import { withDatabase } from '../support/database-dump.js';
import { jsonOf } from '../support/http-client.js';
import { portRange } from '../support/ports.js';
import { type OwnService, startService } from '../support/service.js';
import { EchoUpstream } from '../support/upstreams/echo.js';
import { eventually, sleep } from '../support/waiting.js';

/** The response cache of the built service, as OpenAI's own client sees it. One gateway process, so that it can be killed. */
const PATH = '/v1/chat/completions';
const COST = 10 * 150 + 5 * 600;
const SIMPLE = { mode: 'simple' };
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const model = 'gpt-4o-mini';
const event = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c-1', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
const EVENTS = [
  event({ role: 'assistant', content: 'Za' }),
  event({ content: 'żółć' }),
  event({}, { choices: [], usage }),
  'data: [DONE]\n\n',
];

const EMBEDDINGS = '/v1/embeddings';
const EMBEDDING_MODEL = 'text-embedding-3-small';
/** 8 tokens at $0.02 per million. */
const EMBEDDING_COST = 8 * 20;
/** Texts of the same words point the same way, whatever their order. */
const directionOf = (text: string): number[] =>
  ['capital', 'france', 'spain', 'bread'].map((word) => (text.toLowerCase().includes(word) ? 1 : 0.01));

let service: OwnService;
let upstream: EchoUpstream;
let administration: Administration;
let key: string;
let slug: string;
/** Streams stop before their last event until this is called. */
let goOn: () => void = () => undefined;
let mayEnd: Promise<void> = Promise.resolve();

beforeAll(async () => {
  const ports = await portRange(4);
  upstream = await EchoUpstream.start(ports);
  upstream.on(PATH, ({ body }) => {
    const { stream } = JSON.parse(body.toString()) as { stream?: boolean };
    const head = { headers: [['content-type', stream ? 'text/event-stream' : 'application/json']] as const };
    if (!stream)
      return {
        ...head,
        delayMs: 50,
        body: JSON.stringify({
          id: `c-${upstream.ledger.length}`,
          object: 'chat.completion',
          created: 1,
          model,
          choices: [{ index: 0, message: { role: 'assistant', content: 'Za' }, finish_reason: 'stop' }],
          usage,
        }),
      };
    return {
      ...head,
      body: async (response) => {
        for (const text of EVENTS.slice(0, -1)) {
          response.write(text);
          await sleep(5);
        }
        await mayEnd;
        response.end(EVENTS.at(-1));
      },
    };
  });
  upstream.on(EMBEDDINGS, ({ body }) => {
    const { input } = JSON.parse(body.toString()) as { input: string };
    return {
      headers: [['content-type', 'application/json']] as const,
      body: JSON.stringify({
        object: 'list',
        model: 'text-embedding-3-small',
        data: [{ object: 'embedding', index: 0, embedding: directionOf(input) }],
        usage: { prompt_tokens: 8, total_tokens: 8 },
      }),
    };
  });
  service = await startService({
    egressPorts: ports,
    env: { GATEHOUSE_PROCESSES: '1', GATEHOUSE_DRAIN_DELAY_MS: '0' },
  });
  administration = new Administration(service);
  const { workspace_id: workspaceId } = service.bootstrap;
  ({ key, slug } = await access(workspaceId));
});
afterAll(async () => {
  goOn();
  await service.dispose();
  await upstream.stop();
});

async function access(workspaceId: string): Promise<{ key: string; slug: string }> {
  const created = await administration.createKey('caching', undefined, { workspace_id: workspaceId });
  const customHost = `${upstream.url}/v1`;
  const wish = { name: `caching-${workspaceId.slice(-6)}`, secret: 'sk-provider', customHost, workspaceId };
  return { key: created.key, slug: await administration.createVirtualKey(wish) };
}

const clientOf = (
  headers: Record<string, string> = {},
  as = { key, slug },
  config: object = { cache: SIMPLE },
) =>
  new OpenAI({
    apiKey: as.key,
    baseURL: `${service.baseUrl}/v1`,
    maxRetries: 0,
    defaultHeaders: {
      'x-gateway-config': JSON.stringify({ virtual_key: as.slug, ...config }),
      ...headers,
    },
  });

interface Heard {
  readonly id: string;
  readonly requestId: string;
  readonly cache: string | null;
  readonly option: string | null;
}
async function ask(content: string, client = clientOf()): Promise<Heard> {
  const { data, response } = await client.chat.completions
    .create({ model, messages: [{ role: 'user', content }] })
    .withResponse();
  return { id: data.id, ...factsOf(response) };
}
const factsOf = ({ headers }: Response) => ({
  requestId: headers.get('x-gateway-request-id') ?? '',
  cache: headers.get('x-gateway-cache-status'),
  option: headers.get('x-gateway-last-used-option-index'),
});
/** Requests the usage, which this provider always reports. */
const STREAMED = { stream: true, stream_options: { include_usage: true } } as const;

async function raw(content: string): Promise<Heard & { pieces: string[] }> {
  const response = await clientOf()
    .chat.completions.create({ model, messages: [{ role: 'user', content }], ...STREAMED })
    .asResponse();
  const pieces: string[] = [];
  for await (const piece of response.body ?? []) pieces.push(Buffer.from(piece).toString());
  return { id: '', ...factsOf(response), pieces };
}
const calls = (): number => upstream.callsTo(PATH).length;
const rowOf = (id: string) =>
  eventually(
    async () => {
      const answer = await administration.call('GET', `/v1/logs/${id}`);
      return answer.status === 200 ? jsonOf(answer) : null;
    },
    { what: `the row of ${id}` },
  );

describe('an equal request', () => {
  it('is served without the provider, and its row has the savings', async () => {
    const before = calls();
    const [first, second] = [await ask('hello'), await ask('hello')];

    expect([first.cache, second.cache]).toEqual(['MISS', 'HIT']);
    expect(second.id).toBe(first.id);
    expect(calls() - before).toBe(1);
    expect(await rowOf(second.requestId)).toMatchObject({
      cache_status: 'HIT',
      cost_nano_usd: 0,
      saved_nano_usd: COST,
      input_tokens: 10,
      attempts: [],
    });
    expect(await rowOf(first.requestId)).toMatchObject({ cache_status: 'MISS', cost_nano_usd: COST });
  });

  it("gets the same bytes of a stream, and OpenAI's client reads them", async () => {
    const before = calls();
    const [first, second] = [await raw('stream'), await raw('stream')];

    expect([first.cache, second.cache]).toEqual(['MISS', 'HIT']);
    expect(first.pieces.join('')).toBe(EVENTS.join(''));
    expect(second.pieces.join('')).toBe(first.pieces.join(''));
    const stream = await clientOf().chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'stream' }],
      ...STREAMED,
    });
    let text = '';
    for await (const each of stream) text += each.choices[0]?.delta.content ?? '';
    expect(text).toBe('Zażółć');
    expect(calls() - before).toBe(1);
    expect((await ask('stream')).cache).toBe('MISS');
  });

  it('is fetched again on demand, and kept apart in another namespace', async () => {
    const first = await ask('fresh');
    const fresh = await ask('fresh', clientOf({ 'x-portkey-cache-force-refresh': 'true' }));
    const after = await ask('fresh');
    const apart = await ask('fresh', clientOf({ 'x-gateway-cache-namespace': 'apart' }));

    expect([first.cache, fresh.cache, after.cache, apart.cache]).toEqual(['MISS', 'REFRESH', 'HIT', 'MISS']);
    expect(fresh.id).not.toBe(first.id);
    expect(after.id).toBe(fresh.id);
  });

  it('of another workspace never gets it', async () => {
    const workspace = await administration.ask('POST', '/v1/admin/workspaces', { name: 'Other of caching' });
    const other = await access(workspace.id as string);
    const before = calls();

    const mine = await ask('tenants');
    const theirs = await ask('tenants', clientOf({}, other));

    expect([mine.cache, theirs.cache]).toEqual(['MISS', 'MISS']);
    expect(theirs.id).not.toBe(mine.id);
    expect(calls() - before).toBe(2);
  });

  it('is found behind a fallback whose first targets are down', async () => {
    upstream.on('/down/chat/completions', { status: 503, body: '{}' });
    const downSlug = await administration.createVirtualKey({
      name: 'caching-down',
      secret: 'sk-provider',
      customHost: `${upstream.url}/down`,
    });
    const config = {
      virtual_key: undefined,
      cache: SIMPLE,
      strategy: { mode: 'fallback' },
      targets: [downSlug, downSlug, slug].map((virtual_key) => ({ virtual_key })),
    };
    const before = calls();
    const client = clientOf({}, undefined, config);
    const [first, second] = [await ask('fallback', client), await ask('fallback', client)];

    expect([first.cache, second.cache]).toEqual(['MISS', 'HIT']);
    expect(second).toMatchObject({ id: first.id, option: 'config.targets[2]' });
    expect(calls() - before).toBe(1);
  });

  it('is one of a hundred that come at once: the provider is called once', async () => {
    const before = calls();

    const heard = await Promise.all(Array.from({ length: 100 }, () => ask('herd')));

    expect(calls() - before).toBe(1);
    expect(new Set(heard.map(({ id }) => id)).size).toBe(1);
    expect(heard.filter(({ cache }) => cache === 'HIT')).toHaveLength(99);
  });
});

describe('a question that means the same', () => {
  const semantic = () => ({
    cache: { mode: 'semantic', embedding: { virtual_key: slug, model: EMBEDDING_MODEL } },
  });
  const attemptsOf = (row: { attempts: { option_path: string; cost_nano_usd: number }[] }) =>
    row.attempts.map(({ option_path, cost_nano_usd }) => [option_path, cost_nano_usd]);

  it('is served without the provider; its row has the score and the cost of the embedding', async () => {
    const before = [calls(), upstream.callsTo(EMBEDDINGS).length];
    const client = clientOf({}, undefined, semantic());
    const first = await ask('What is the capital of France?', client);
    const second = await ask("France's capital is what?", client);
    const other = await ask('How is bread made?', client);

    expect([first.cache, second.cache, other.cache]).toEqual([
      'SEMANTIC MISS',
      'SEMANTIC HIT',
      'SEMANTIC MISS',
    ]);
    expect(second.id).toBe(first.id);
    expect([calls() - (before[0] ?? 0), upstream.callsTo(EMBEDDINGS).length - (before[1] ?? 0)]).toEqual([
      2, 3,
    ]);
    const embedded = ['config.cache.embedding', EMBEDDING_COST];
    const hit = await rowOf(second.requestId);
    expect(hit).toMatchObject({
      cache_status: 'SEMANTIC HIT',
      cost_nano_usd: EMBEDDING_COST,
      saved_nano_usd: COST,
    });
    expect(hit.cache_score).toBeGreaterThan(0.99);
    expect(attemptsOf(hit)).toEqual([embedded]);
    const miss = await rowOf(first.requestId);
    expect(miss).toMatchObject({ cost_nano_usd: COST + EMBEDDING_COST, retry_count: 0, fallback_count: 0 });
    expect(attemptsOf(miss)).toEqual([embedded, ['config', COST]]);
  });

  it('is found where the workspace enables it for all its requests, and not by requests that disable the cache', async () => {
    await administration.ask('PUT', '/v1/admin/workspaces/ws-default', { defaults: semantic() });
    const plain = clientOf({}, undefined, {});
    const alike = ['Which is the capital of Spain?', 'Tell me the capital of Spain!'] as const;
    const asked = await eventually(
      async () => {
        const heard = await ask(alike[0], plain);
        return heard.cache === 'DISABLED' ? null : heard;
      },
      { what: 'the default of the workspace' },
    );

    const second = await ask(alike[1], plain);
    const off = await ask(alike[1], clientOf({ 'x-gateway-cache': 'off' }, undefined, {}));

    expect([asked.cache, second.cache, off.cache]).toEqual(['SEMANTIC MISS', 'SEMANTIC HIT', 'DISABLED']);
    await administration.ask('PUT', '/v1/admin/workspaces/ws-default', { defaults: { cache: null } });
  });
});

describe('what is kept', () => {
  it('survives a kill of the gateway, except an incomplete response', async () => {
    const before = await sharedAnswers();
    const kept = await ask('kept');
    await eventually(async () => before === null || Number(await sharedAnswers()) > before, {
      what: 'the answer in the store',
    });
    mayEnd = new Promise((resolve) => (goOn = resolve));
    const cut = raw('cut').catch(() => 'cut off');
    await eventually(() => upstream.callsTo(PATH).some(({ body }) => body.includes('"cut"')), {
      what: 'the stream',
    });

    const [gateway] = service.pids.gateways;
    process.kill(gateway ?? 0, 'SIGKILL');
    expect(await cut).toBe('cut off');
    goOn();
    mayEnd = Promise.resolve();
    await eventually(
      async () => service.pids.gateways.some((pid) => pid !== gateway) && (await service.ready()),
      {
        what: 'the next gateway process',
      },
    );

    expect(await ask('kept')).toMatchObject({ cache: 'HIT', id: kept.id });
    const again = await raw('cut');
    expect(again.cache).toBe('MISS');
    expect(again.pieces.join('')).toBe(EVENTS.join(''));
    expect((await raw('cut')).cache).toBe('HIT');
  });

  it('is kept in memory while the store fails', async () => {
    await withDatabase(service, (client) =>
      client.query('ALTER TABLE cached_answers RENAME TO cached_answers_away'),
    );

    expect([(await ask('away')).cache, (await ask('away')).cache]).toEqual(['MISS', 'HIT']);

    await withDatabase(service, (client) =>
      client.query('ALTER TABLE cached_answers_away RENAME TO cached_answers'),
    );
  });
});

/** In PostgreSQL the rows can be counted; Redis is written in the same turn. */
const sharedAnswers = (): Promise<number | null> =>
  process.env['TEST_REDIS_URL']
    ? Promise.resolve(null)
    : withDatabase(service, async (client) => {
        const { rows } = await client.query<{ kept: number }>(
          'SELECT count(*)::int AS kept FROM cached_answers',
        );
        return rows[0]?.kept ?? 0;
      });
