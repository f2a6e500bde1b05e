import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, HttpClient, jsonOf } from '../support/http-client.js';
import { rawExchange } from '../support/raw-client.js';
import { expectRefusal } from '../support/refusals.js';
import { EchoUpstream, header, type Received, type Respond, type Script } from '../support/upstreams/echo.js';
import { eventually, inParallel, sleep } from '../support/waiting.js';
import { World } from '../support/world.js';

/** What routing does by measuring, what it tells of it, and what no document can do to it, at the built service. */
const CHAT = '/base/v9/chat/completions';
const ASK = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] };
const USAGE = { prompt_tokens: 40, completion_tokens: 25, total_tokens: 65 };
/** gpt-4o-mini: $0.15 and $0.60 per million tokens, in nano-dollars. */
const COST = 40 * 150 + 25 * 600;
/** The first question is late after this; the slow target takes longer than the whole of any test's patience for that. */
const AFTER_MS = 60;
const SLOW_MS = 800;

let world: World;
let spare: EchoUpstream;
let keys: { first: string; second: string };

beforeAll(async () => {
  world = await World.create('policies');
  spare = await EchoUpstream.start(world.service.facts.egressPorts);
  const second = await world.administration.createVirtualKey({
    name: `${world.virtualKey}-second`,
    secret: world.canaries.make('second'),
    customHost: `${spare.url}/base/v9`,
  });
  keys = { first: world.virtualKey, second };
});
afterAll(async () => {
  await spare.stop();
  await world.close();
});
beforeEach(() => {
  for (const upstream of [world.upstream, spare]) upstream.reset();
  world.upstream.on(CHAT, says('the first'));
  spare.on(CHAT, says('the second'));
});

function says(content: string, more: Partial<Script> = {}): Respond {
  const message = { role: 'assistant', content };
  const body = JSON.stringify({
    model: 'gpt-4o-mini-2024-07-18',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: USAGE,
  });
  return { headers: [['content-type', 'application/json']], body, ...more };
}
const fails: Respond = { status: 503, headers: [['content-type', 'application/json']], body: '{"error":{}}' };
const calls = (upstream: EchoUpstream): readonly Received[] => upstream.callsTo(CHAT);
const bodies = (upstream: EchoUpstream) =>
  calls(upstream).map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);

interface Wishes {
  readonly body?: object;
  readonly metadata?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly client?: HttpClient;
}

/** On a connection of its own, unless a client is given, so that any process may get it. */
async function ask(
  config: object | string,
  { body = ASK, metadata, headers, client }: Wishes = {},
): Promise<Answer> {
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  const answer = await (client ?? world.service.client).call({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: {
      'x-gateway-api-key': world.apiKey.key,
      'x-gateway-config': text,
      ...(metadata ? { 'x-gateway-metadata': JSON.stringify(metadata) } : {}),
      ...headers,
    },
    body,
    fresh: client === undefined,
  });
  world.note(answer.requestId, 'once');
  return answer;
}
const contentOf = (answer: Answer): unknown => jsonOf(answer).choices?.[0]?.message.content;

/** A request as the log shows it. */
async function logOf({ requestId }: Answer) {
  await world.logs.row(requestId);
  const answer = await world.service.client.call({
    path: `/v1/logs/${requestId}`,
    headers: { 'x-gateway-api-key': world.apiKey.key },
  });
  return jsonOf(answer);
}

const either = (strategy: object, ...targets: object[]) => ({
  strategy,
  targets: targets.length > 0 ? targets : [{ virtual_key: keys.first }, { virtual_key: keys.second }],
});

async function savedConfig(config: object): Promise<{ slug: string; id: string; version_id: string }> {
  const { workspace_id } = world.service.bootstrap;
  const made = await world.administration.ask('POST', '/v1/configs', {
    name: 'policies',
    config,
    workspace_id,
  });
  return made.data;
}

describe('a second question beside a slow first one', () => {
  it('ends the first at its provider, and bills both', async () => {
    world.upstream.on(CHAT, says('the first', { delayMs: SLOW_MS }));
    const hedge = { after_ms: AFTER_MS, max_share: 100, max_spend: 100 };

    const answer = await ask(either({ mode: 'fallback', hedge }));

    expect(contentOf(answer)).toBe('the second');
    await eventually(() => calls(world.upstream)[0]?.cancelledAt, {
      withinMs: 5_000,
      what: 'the first to be ended',
    });
    const { attempts, cost_nano_usd } = await logOf(answer);
    const [lost, won] = attempts;
    expect([lost.error_code, won.error_code, won.cost_nano_usd]).toEqual(['hedge_lost', null, COST]);
    expect(lost.cost_nano_usd).toBeGreaterThan(0);
    expect(cost_nano_usd).toBe(Number(lost.cost_nano_usd) + COST);
  });

  it('receives no more than the configured share of requests, plus ten', async () => {
    world.upstream.on(CHAT, says('the first', { delayMs: 3 * AFTER_MS }));
    const hedge = { after_ms: AFTER_MS, max_share: 10, max_spend: 100 };
    const requests = 150;

    await inParallel(Array(requests).fill(null), 50, () => ask(either({ mode: 'fallback', hedge })));

    const seconds = calls(spare).length;
    const processes = world.service.pids.gateways.length;
    expect(calls(world.upstream)).toHaveLength(requests);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(requests * 0.1 + 10 * processes);
  });
});

describe('a load balance', () => {
  it('by latency leaves the slow target to its rest', async () => {
    world.upstream.on(CHAT, says('the first', { delayMs: 250 }));
    const config = either({ mode: 'loadbalance', balance_by: 'latency' });
    const requests = 40;

    for (let at = 0; at < requests; at += 4) await Promise.all([1, 2, 3, 4].map(() => ask(config)));

    // Each process has to find it out, and asks it now and then to see whether it has become faster.
    expect(calls(world.upstream).length).toBeLessThan(requests / 2);
    expect(calls(spare).length).toBe(requests - calls(world.upstream).length);
  });

  it('by what is under way gives each target as much, whatever it does with it', async () => {
    const hangs: Respond = says('late', { delayMs: SLOW_MS });
    world.upstream.on(CHAT, hangs);
    const config = either({ mode: 'loadbalance', balance_by: 'least_busy' });

    // Whoever finds both free takes either. One hangs, so what comes after it goes to the second, which is free again each time.
    const client = new HttpClient(world.service.baseUrl);
    const waiting: Promise<Answer>[] = [];
    const firstHangs = (): boolean => {
      if (calls(world.upstream).length > 0) return true;
      waiting.push(ask(config, { client }));
      return false;
    };
    await eventually(firstHangs, { withinMs: 5_000, everyMs: 100, what: 'the first to hang' });
    await Promise.all(waiting);
    client.close();

    const several = await inParallel(Array(24).fill(null), 24, () => ask(config));
    expect(several.every(({ status }) => status === 200)).toBe(true);
    expect(calls(world.upstream).length).toBeLessThan(
      calls(spare).length + 2 * world.service.pids.gateways.length,
    );
  });

  it('by cost takes the cheaper model each time', async () => {
    const model = (virtual_key: string, name: string) => ({ virtual_key, override_params: { model: name } });
    const config = either(
      { mode: 'loadbalance', balance_by: 'cost' },
      model(keys.first, 'gpt-4o'),
      model(keys.second, 'gpt-4o-mini'),
    );

    for (let at = 0; at < 6; at += 1) expect(contentOf(await ask(config))).toBe('the second');

    expect(calls(world.upstream)).toEqual([]);
  });
});

describe('a breaker of a saved config', () => {
  it('that one process opened keeps the others from calling too', async () => {
    world.upstream.on(CHAT, fails);
    const threshold = 4;
    const cb_config = { failure_threshold: threshold, cooldown_interval: 60_000 };
    const { slug } = await savedConfig(either({ mode: 'fallback', cb_config }));
    // One connection is one process.
    const client = new HttpClient(world.service.baseUrl);
    await eventually(
      async () => {
        const before = calls(world.upstream).length;
        const answer = await ask(slug, { client });
        return answer.status === 200 && before >= threshold && calls(world.upstream).length === before;
      },
      { withinMs: 10_000, everyMs: 5, what: 'the breaker to open' },
    );
    client.close();
    expect(calls(world.upstream)).toHaveLength(threshold);

    // Sixteen connections reach every process. Each would have to fail as often for itself.
    await eventually(
      async () => {
        const before = calls(world.upstream).length;
        await sleep(100);
        await inParallel(Array(16).fill(null), 1, () => ask(slug));
        return calls(world.upstream).length === before;
      },
      { withinMs: 10_000, what: 'all processes to know' },
    );

    expect(calls(world.upstream).length).toBeLessThan(2 * threshold);
  });
});

describe('what a config may say besides', () => {
  it('fills in, takes out and replaces parameters', async () => {
    const target = {
      virtual_key: keys.first,
      override_params: { temperature: 0.1 },
      default_params: { top_p: 0.5, user: 'nobody' },
      drop_params: ['seed'],
    };

    await ask(target, { body: { ...ASK, temperature: 1, seed: 7, user: 'ada' } });

    expect(bodies(world.upstream)).toEqual([{ ...ASK, temperature: 0.1, top_p: 0.5, user: 'ada' }]);
  });

  it('goes to a host of its own with a key of its own, and forwards what it lists', async () => {
    const target = {
      provider: 'openai',
      api_key: world.canaries.make('in-the-config'),
      custom_host: `${spare.url}/base/v9`,
      forward_headers: ['x-tenant'],
    };

    const answer = await ask(target, { headers: { 'x-tenant': 'blue', 'x-other': 'red' } });

    expect(contentOf(answer)).toBe('the second');
    const [call] = calls(spare);
    if (!call) throw new Error('It was not called.');
    expect([header(call, 'authorization'), header(call, 'x-tenant')]).toEqual([
      `Bearer ${target.api_key}`,
      'blue',
    ]);
  });

  it.each(['use_retry_after_header', 'use_retry_after_headers'])(
    'waits as long as the provider requests (%s)',
    async (name) => {
      let isFirst = true;
      world.upstream.on(CHAT, () => {
        const busy: Respond = { status: 429, headers: [['retry-after-ms', '300']], body: '{}' };
        const script = isFirst ? busy : says('the first');
        isFirst = false;
        return script as Script;
      });

      const answer = await ask({ virtual_key: keys.first, retry: { attempts: 2, [name]: true } });

      expect([answer.status, answer.headers['x-gateway-retry-attempt-count']]).toEqual([200, '1']);
      const [first, again] = calls(world.upstream);
      expect((again?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(295);
    },
  );

  it.each([
    [{ 'metadata.tier': { $ne: 'free' } }, { tier: 'paid' }],
    [{ 'metadata.age': { $gt: 17, $lte: 65 } }, { age: '40' }],
    [{ 'metadata.age': { $gte: 40, $lt: 41 } }, { age: '40' }],
    [{ 'metadata.tier': { $nin: ['free', 'trial'] } }, { tier: 'paid' }],
    [{ $or: [{ 'metadata.tier': 'gold' }, { 'params.model': { $in: ['gpt-4o-mini'] } }] }, {}],
    [{ 'url.pathname': '/v1/chat/completions' }, {}],
  ])('branches by %j', async (query, metadata) => {
    const strategy = { mode: 'conditional', conditions: [{ query, then: 'yes' }], default: 'no' };
    const config = either(
      strategy,
      { name: 'no', virtual_key: keys.first },
      { name: 'yes', virtual_key: keys.second },
    );

    expect(contentOf(await ask(config, { metadata }))).toBe('the second');
  });
});

describe('a row of the log', () => {
  it('has plan, conditions, targets and costs, equal to those of a simulation', async () => {
    world.upstream.on(CHAT, fails);
    const tried = [{ virtual_key: keys.first, retry: { attempts: 0 } }, { virtual_key: keys.second }];
    const document = {
      strategy: {
        mode: 'conditional',
        conditions: [{ query: { 'metadata.plan': 'paid' }, then: 'good' }],
        default: 'any',
      },
      targets: [
        { name: 'any', virtual_key: keys.first },
        { name: 'good', strategy: { mode: 'fallback' }, targets: tried },
      ],
    };
    const { slug, id, version_id } = await savedConfig(document);
    const metadata = { plan: 'paid' };

    const simulated = await world.administration.ask('POST', '/v1/configs/simulate', {
      config: slug,
      model: ASK.model,
      metadata,
    });
    expect(calls(world.upstream)).toEqual([]);
    const row = await logOf(await ask(slug, { metadata }));

    expect(row).toMatchObject({
      config_id: id,
      config_version_id: version_id,
      option_path: 'config.targets[1].targets[1]',
      cost_nano_usd: COST,
      attempts: [
        { option_path: 'config.targets[1].targets[0]', status: 503, cost_nano_usd: null },
        { option_path: 'config.targets[1].targets[1]', status: 200, cost_nano_usd: COST },
      ],
    });
    expect(row.decisions).toEqual(['config: conditions[0] holds, so config.targets[1]']);
    expect(simulated.data.decisions).toEqual(row.decisions);
    expect(simulated.data.targets.map(({ path }: { path: string }) => path)).toEqual(
      row.attempts.map(({ option_path }: { option_path: string }) => option_path),
    );
  });
});

describe('moderation by a provider', () => {
  it('calls it with a stored key, and denies what it flags', async () => {
    world.upstream.on('/base/v9/moderations', ({ body }) => {
      const isBad = body.toString().includes('harm');
      const results = [{ flagged: isBad, categories: { violence: isBad, hate: false } }];
      return { headers: [['content-type', 'application/json']], body: JSON.stringify({ results }) };
    });
    const check = {
      'default.moderateContent': { virtual_key: keys.first, categories: ['violence'] },
      deny: true,
    };
    const config = { virtual_key: keys.second, input_guardrails: [check] };
    const saying = (content: string) => ({ body: { ...ASK, messages: [{ role: 'user', content }] } });

    const good = await ask(config, saying('peace'));
    const bad = await ask(config, saying('harm'));

    expect([good.status, bad.status, jsonOf(bad).error.code]).toEqual([200, 446, 'guardrail_denied']);
    expect(calls(spare)).toHaveLength(1);
    const [asked] = world.upstream.callsTo('/base/v9/moderations');
    expect(asked && header(asked, 'authorization')).toBe(`Bearer ${world.providerSecret}`);
  });
});

describe('a document that is out of all bounds', () => {
  const nested = (depth: number): string => `${'{"targets":['.repeat(depth)}{}${']}'.repeat(depth)}`;
  const target = (more: string): string => `{"virtual_key":"x",${more}}`;
  const send = async (path: string, body: string): Promise<Answer> =>
    world.service.client.call({
      method: 'POST',
      path,
      headers: {
        'x-gateway-api-key': world.service.bootstrap.admin_api_key,
        'content-type': 'application/json',
      },
      body,
    });

  it.each([
    ['51 levels', nested(51), [400]],
    ['100,000 levels', nested(100_000), [400, 413]],
    ['a key __proto__', target('"override_params":{"__proto__":{"polluted":1}}'), [400]],
    ['a key constructor', target('"override_params":{"constructor":{"prototype":{"polluted":1}}}'), [400]],
    ['a weight that is not a number', target('"weight":NaN'), [400]],
    ['a weight beyond all numbers', target('"weight":1e999'), [400]],
    ['a negative weight', target('"weight":-1'), [400]],
  ])('with %s is refused by name, saved or sent, and does no harm', async (_, config, statuses) => {
    const { workspace_id } = world.service.bootstrap;
    const saved = await send(
      '/v1/configs',
      `{"name":"x","workspace_id":"${workspace_id}","config":${config}}`,
    );
    const simulated = await send(
      '/v1/configs/simulate',
      `{"workspace_id":"${workspace_id}","config":${config}}`,
    );
    const answers = [saved, simulated];
    if (config.length < 8_000) answers.push(await ask(config));

    for (const answer of answers) {
      expect(statuses).toContain(answer.status);
      expect(jsonOf(answer).error.code).toMatch(
        /^(config_invalid|invalid_request|invalid_json|header_invalid|body_too_large)$/,
      );
    }
    expect(contentOf(await ask({ virtual_key: keys.first }))).toBe('the first');
  });

  it('of 5 MB is refused before it is read', async () => {
    const body = target(`"name":"${'x'.repeat(5 * 1024 * 1024)}"`);
    const head = [
      'POST /v1/configs HTTP/1.1',
      'host: gateway.example',
      `x-gateway-api-key: ${world.service.bootstrap.admin_api_key}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];

    // Only the beginning: what it says of its length is enough.
    const { answers } = await rawExchange(
      world.service.baseUrl,
      `${head.join('\r\n')}\r\n\r\n${body.slice(0, 1_024)}`,
      { waitMs: 10_000, answers: 1 },
    );

    expectRefusal(answers[0]?.body ?? Buffer.alloc(0), 'body_too_large');
    expect(contentOf(await ask({ virtual_key: keys.first }))).toBe('the first');
  });

  it.each([
    '{"credit_limit":-1}',
    '{"credit_limit":1e999}',
    '{"credit_limit":NaN}',
    '{"credit_limit":5,"__proto__":{"spent":0}}',
  ])('a budget of %s is refused by name', async (budget) => {
    const { workspace_id } = world.service.bootstrap;
    const answer = await send(
      '/v1/api-keys/workspace/service',
      `{"name":"x","workspace_id":"${workspace_id}","scopes":["logs.list"],"usage_limits":${budget}}`,
    );

    expect(answer.status).toBe(400);
    expect(jsonOf(answer).error.code).toMatch(/^invalid_(request|json)$/);
  });
});

describe('after all of this', () => {
  it('every request has its row', () => world.checkLog());
});
