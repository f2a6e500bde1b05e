import type { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { jsonOf } from '../support/http-client.js';
import type { Script } from '../support/upstreams/echo.js';
import { simulatedOpenAi } from '../support/upstreams/openai.js';
import { sleep } from '../support/waiting.js';
import { World } from '../support/world.js';

/**
 * Routes between providers that fail, throttle, stall and break off, asked by clients that know nothing of it. The
 * configs of the first part are those of the compatible API's published pages.
 */
const ask = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'hello' }] };
const ALL_DOWN = { dropRate: 1 };

let world: World;
/** Simulators of OpenAI and of Anthropic, and the virtual keys that lead to them. */
let openAi: LLMock;
let spare: LLMock;
let keys: { openAi: string; spare: string; anthropic: string };

beforeAll(async () => {
  world = await World.create('routing');
  const ports = world.service.facts.egressPorts;
  openAi = await simulatedOpenAi(ports);
  spare = await simulatedOpenAi(ports);
  openAi.onMessage('hello', { content: 'from the first' });
  spare.onMessage('hello', { content: 'from the second' });
  const virtualKey = (name: string, provider: string, mock: LLMock): Promise<string> =>
    world.administration.createVirtualKey({
      name: `${world.virtualKey}-${name}`,
      provider,
      secret: world.providerSecret,
      customHost: `${mock.url}/v1`,
    });
  keys = {
    openAi: await virtualKey('first', 'openai', openAi),
    spare: await virtualKey('second', 'openai', spare),
    anthropic: await virtualKey('claude', 'anthropic', spare),
  };
});

afterAll(async () => {
  await world.checkLog();
  await openAi.stop();
  await spare.stop();
  await world.close();
});

beforeEach(() => {
  for (const mock of [openAi, spare]) {
    mock.clearChaos();
    mock.clearRequests();
  }
});

interface Heard {
  readonly text: string;
  readonly option: string | null;
  readonly retries: string | null;
  readonly provider: string | null;
  readonly id: string;
}

function heard(text: string, { headers }: Response): Heard {
  const id = headers.get('x-gateway-request-id') ?? '';
  world.note(id, 'once');
  return {
    text,
    option: headers.get('x-gateway-last-used-option-index'),
    retries: headers.get('x-gateway-retry-attempt-count'),
    provider: headers.get('x-gateway-provider'),
    id,
  };
}

/** OpenAI's own client; the config is a header. */
async function asked(config: object, metadata: object = {}): Promise<Heard> {
  const client = new OpenAI({
    apiKey: world.apiKey.key,
    baseURL: `${world.service.baseUrl}/v1`,
    maxRetries: 0,
    defaultHeaders: {
      'x-gateway-config': JSON.stringify(config),
      'x-gateway-metadata': JSON.stringify(metadata),
    },
  });
  const { data, response } = await client.chat.completions.create(ask).withResponse().catch(noted);
  return heard(data.choices[0]?.message.content ?? '', response);
}

/** A refused request has a row too. */
function noted(error: unknown): never {
  if (error instanceof OpenAI.APIError)
    world.note((error.headers as Headers | undefined)?.get('x-gateway-request-id') ?? '', 'once');
  throw error;
}

async function streamed(config: object): Promise<Heard> {
  const client = new OpenAI({
    apiKey: world.apiKey.key,
    baseURL: `${world.service.baseUrl}/v1`,
    maxRetries: 0,
    defaultHeaders: { 'x-gateway-config': JSON.stringify(config) },
  });
  const { data, response } = await client.chat.completions.create({ ...ask, stream: true }).withResponse();
  let text = '';
  for await (const event of data) text += event.choices[0]?.delta.content ?? '';
  return heard(text, response);
}

/** A request as the log shows it. */
async function logOf(id: string) {
  const { apiKey, service } = world;
  await world.logs.row(id);
  const answer = await service.client.call({
    path: `/v1/logs/${id}`,
    headers: { 'x-gateway-api-key': apiKey.key },
  });
  return jsonOf(answer);
}

const fallback = (strategy: object = {}, ...more: object[]) => ({
  strategy: { mode: 'fallback', ...strategy },
  targets: more.length > 0 ? more : [{ virtual_key: keys.openAi }, { virtual_key: keys.spare }],
});

describe('the published configs', () => {
  it('fallback: the first target responds while it can, the second when it cannot', async () => {
    expect(await asked(fallback())).toMatchObject({ text: 'from the first', option: 'config.targets[0]' });

    openAi.setChaos(ALL_DOWN);
    expect(await asked(fallback())).toMatchObject({ text: 'from the second', option: 'config.targets[1]' });
  });

  it('fallback to another provider with a model of its own, translated', async () => {
    openAi.setChaos(ALL_DOWN);
    const second = { virtual_key: keys.anthropic, override_params: { model: 'claude-sonnet-4-5' } };

    const answer = await asked(fallback({}, { virtual_key: keys.openAi }, second));

    expect(answer).toMatchObject({ text: 'from the second', provider: 'anthropic' });
    expect(spare.getLastRequest()?.path).toBe('/v1/messages');
    expect(await streamed(fallback({}, { virtual_key: keys.openAi }, second))).toMatchObject({
      text: 'from the second',
    });
  });

  it('fallback on certain statuses: only those', async () => {
    openAi.setChaos({ rateLimitRate: 1 });
    expect((await asked(fallback({ on_status_codes: [429] }))).text).toBe('from the second');

    await expect(asked(fallback({ on_status_codes: [503] }))).rejects.toMatchObject({ status: 429 });
  });

  it('load balance: every request goes to one of the targets, by weight', async () => {
    const config = {
      strategy: { mode: 'loadbalance' },
      targets: [
        { virtual_key: keys.openAi, weight: 0.7 },
        { virtual_key: keys.spare, weight: 0.3 },
      ],
    };

    const answers = await Promise.all(Array.from({ length: 60 }, () => asked(config)));

    const first = answers.filter(({ option }) => option === 'config.targets[0]').length;
    // Sixty draws at 0.7: outside of this once in a million runs.
    expect(first).toBeGreaterThan(23);
    expect(first).toBeLessThan(59);
    expect(openAi.getRequests()).toHaveLength(first);
  });

  it('load balance with sticky sessions: a caller stays with its target in every process', async () => {
    const config = {
      strategy: {
        mode: 'loadbalance',
        sticky: { enabled: true, hash_fields: ['metadata.user_id'], ttl: 3600 },
      },
      targets: [{ virtual_key: keys.openAi }, { virtual_key: keys.spare }],
    };

    for (const user of ['ada', 'ben', 'eve']) {
      const answers = await Promise.all(Array.from({ length: 12 }, () => asked(config, { user_id: user })));
      expect(new Set(answers.map(({ option }) => option)).size).toBe(1);
    }
  });

  it('conditional: by metadata, else the default', async () => {
    const config = {
      strategy: {
        mode: 'conditional',
        conditions: [
          { query: { 'metadata.user_plan': { $eq: 'paid' } }, then: 'finetuned-gpt4' },
          {
            query: {
              $and: [{ 'metadata.region': { $in: ['eu', 'ch'] } }],
              'params.model': { $regex: '^gpt' },
            },
            then: 'finetuned-gpt4',
          },
        ],
        default: 'base-gpt4',
      },
      targets: [
        { name: 'finetuned-gpt4', virtual_key: keys.openAi },
        { name: 'base-gpt4', virtual_key: keys.spare },
      ],
    };

    expect((await asked(config, { user_plan: 'paid' })).text).toBe('from the first');
    expect((await asked(config, { region: 'eu' })).text).toBe('from the first');
    expect((await asked(config, { user_plan: 'free' })).text).toBe('from the second');
  });

  it('retry: as often as configured, and the response has the number of retries', async () => {
    openAi.nextRequestError(503).nextRequestError(503);

    expect(await asked({ virtual_key: keys.openAi, retry: { attempts: 3 } })).toMatchObject({
      text: 'from the first',
      retries: '2',
    });
    openAi.nextRequestError(400);
    await expect(asked({ virtual_key: keys.openAi, retry: { attempts: 3 } })).rejects.toMatchObject({
      status: 400,
    });
  });

  it('calls a second target beside a slow one, takes its response and ends and logs the slow one', async () => {
    openAi.setChaos({ latencyMs: 2_000 });
    const hedge = { after_ms: 50, max_share: 100, max_spend: 100 };
    const config = fallback({ hedge }, { virtual_key: keys.openAi }, { virtual_key: keys.spare });

    const { text, option, id } = await asked(config);

    expect([text, option]).toEqual(['from the second', 'config.targets[1]']);
    expect(await logOf(id)).toMatchObject({
      attempts: [
        { option_path: 'config.targets[0]', error_code: 'hedge_lost' },
        { option_path: 'config.targets[1]', error_code: null },
      ],
    });
  });

  it('request timeout with a fallback on 408', async () => {
    openAi.setChaos({ latencyMs: 2_000 });
    const slow = { virtual_key: keys.openAi, request_timeout: 150 };

    expect((await asked(fallback({ on_status_codes: [408] }, slow, { virtual_key: keys.spare }))).text).toBe(
      'from the second',
    );
    await expect(asked(slow)).rejects.toMatchObject({ status: 408 });
  });

  it('a load balance between fallbacks, nested', async () => {
    openAi.setChaos(ALL_DOWN);
    const config = {
      strategy: { mode: 'loadbalance' },
      retry: { attempts: 1, on_status_codes: [500] },
      targets: [
        { weight: 1, ...fallback() },
        { weight: 0, virtual_key: keys.openAi },
      ],
    };

    expect(await asked(config)).toMatchObject({
      text: 'from the second',
      option: 'config.targets[0].targets[1]',
    });
  });

  it('a model that names its target, in override_params', async () => {
    openAi.setChaos(ALL_DOWN);
    const config = fallback(
      {},
      { override_params: { model: `@${keys.openAi}/gpt-4o` } },
      { override_params: { model: `@${keys.spare}/gpt-4.1-mini` } },
    );

    expect((await asked(config)).text).toBe('from the second');
    expect(spare.getLastRequest()?.body).toMatchObject({ model: 'gpt-4.1-mini' });
  });
});

describe('a provider that fails', () => {
  it.each([
    ['throttles', { rateLimitRate: 1 }],
    ['answers 500', ALL_DOWN],
    ['hangs up', { disconnectRate: 1 }],
  ])('and %s is passed over, in streams too', async (_, chaos) => {
    openAi.setChaos(chaos);

    expect((await asked(fallback())).text).toBe('from the second');
    expect((await streamed(fallback())).text).toBe('from the second');
  });

  it('leaves a row of its own in the log, with the place of each target', async () => {
    openAi.setChaos(ALL_DOWN);
    const { id } = await asked(fallback());

    expect(await logOf(id)).toMatchObject({
      option_path: 'config.targets[1]',
      virtual_key: keys.spare,
      attempts: [
        { attempt: 0, option_path: 'config.targets[0]', status: 500 },
        { attempt: 1, option_path: 'config.targets[1]', status: 200 },
      ],
    });
  });
});

describe('a stream that breaks before its first token', () => {
  const STREAM: Script['headers'] = [['content-type', 'text/event-stream']];
  const role = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })}\n\n`;

  it.each([
    ['says an error', { headers: STREAM, body: `${role}data: {"error":{"message":"overloaded"}}\n\n` }],
    [
      'is cut off',
      {
        headers: STREAM,
        body: async (response) => {
          response.write(role);
          await sleep(50);
          response.destroy();
        },
      },
    ],
  ] satisfies readonly (readonly [string, Script])[])(
    'and %s is replaced, unnoticed by clients',
    async (_, script) => {
      world.upstream.on('/base/v9/chat/completions', script);

      const answer = await streamed(
        fallback({}, { virtual_key: world.virtualKey }, { virtual_key: keys.spare }),
      );

      expect(answer).toMatchObject({ text: 'from the second', option: 'config.targets[1]' });
    },
  );
});

describe('a target that keeps failing', () => {
  it('is taken out of service and not called any more', async () => {
    openAi.setChaos(ALL_DOWN);
    const config = fallback({ cb_config: { failure_threshold: 2, cooldown_interval: 60_000 } });

    // Each gateway process counts for itself where the config comes with the request.
    const processes = world.service.pids.gateways.length;
    for (let count = 0; count < 40; count++) expect((await asked(config)).text).toBe('from the second');

    expect(openAi.getRequests().length).toBeLessThanOrEqual(2 * processes);
  });
});

describe("the compatible API's own client", () => {
  it('sends its config as an object', async () => {
    openAi.setChaos(ALL_DOWN);
    const client = new Portkey({
      apiKey: world.apiKey.key,
      baseURL: `${world.service.baseUrl}/v1`,
      config: fallback(),
    });

    const answer = await client.chat.completions.create(ask);

    const headers = answer.getHeaders() as Record<string, string>;
    world.note(headers['request-id'] ?? headers['x-portkey-request-id'] ?? '', 'once');
    expect(answer.choices[0]?.message?.content).toBe('from the second');
    expect(headers['last-used-option-index']).toBe('config.targets[1]');
  });
});

describe('a config that would not run', () => {
  it('is refused with the path of every mistake, and nothing is sent', async () => {
    const config = {
      strategy: { mode: 'falback' },
      targets: [
        { virtual_key: keys.openAi, weight: -1 },
        { virtual_key: keys.spare, retry: { attempts: 99 } },
      ],
    };

    const refused = await asked(config).then(
      () => null,
      (error: unknown) => error as InstanceType<typeof OpenAI.APIError>,
    );

    expect(refused).toMatchObject({ status: 400, code: 'config_invalid' });
    for (const path of [
      'config.strategy.mode',
      'config.targets[0].weight',
      'config.targets[1].retry.attempts',
    ])
      expect(refused?.message).toContain(path);
    expect(openAi.getRequests()).toEqual([]);
  });

  it('that does not exist is not found', async () => {
    const answer = await world.send({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { ...world.headers, 'x-gateway-config': 'pc-nobody' },
      body: ask,
    });

    expect([answer.status, jsonOf(answer).error.code]).toEqual([404, 'not_found']);
  });
});
