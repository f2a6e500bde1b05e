import { createHmac } from 'node:crypto';
import type { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { header } from '../support/upstreams/echo.js';
import { simulatedOpenAi } from '../support/upstreams/openai.js';
import { World } from '../support/world.js';

const ask = (content: string) => ({ model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content }] });
const NO_APOLLO = { 'default.contains': { operator: 'none', words: ['Apollo'] } };

let world: World;
let openAi: LLMock;
let virtualKey: string;

beforeAll(async () => {
  world = await World.create('guardrails');
  openAi = await simulatedOpenAi(world.service.facts.egressPorts);
  openAi
    .onMessage('mail', { content: 'You can reach Jane at jane.doe@example.com any day.' })
    .onMessage('project', { content: 'It has the name Apollo, and nobody may know.' })
    .onMessage(/./, { content: 'Good morning to you, whoever you are.' });
  virtualKey = await world.administration.createVirtualKey({
    name: `${world.virtualKey}-openai`,
    secret: world.providerSecret,
    customHost: `${openAi.url}/v1`,
  });
});

afterAll(async () => {
  await openAi.stop();
  await world.close();
});

/** OpenAI's own client, unmodified, with a config. */
const client = (config: object) =>
  new OpenAI({
    apiKey: 'unused',
    baseURL: `${world.service.baseUrl}/v1`,
    maxRetries: 0,
    defaultHeaders: {
      'x-gateway-api-key': world.apiKey.key,
      'x-gateway-virtual-key': virtualKey,
      'x-gateway-config': JSON.stringify(config),
    },
  });

const withResponse = async (config: object, content: string) => {
  const { data, response } = await client(config).chat.completions.create(ask(content)).withResponse();
  world.note(response.headers.get('x-gateway-request-id') ?? '', 'once', 'chat');
  return { data, response };
};

async function refusal(promise: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error(`no refusal: ${String(error)}`);
  world.note(error.headers?.get('x-gateway-request-id') ?? '', 'once', 'a refusal');
  return error;
}

describe("guardrails, with OpenAI's own client", () => {
  it('deny a request with 446, which the client sees as an error with its code', async () => {
    const error = await refusal(
      client({ input_guardrails: [{ ...NO_APOLLO, deny: true }] }).chat.completions.create(ask('Apollo?')),
    );

    expect(error.status).toBe(446);
    expect(error.code).toBe('guardrail_denied');
    expect(error.type).toBe('hooks_failed');
  });

  it('that only warn mark a good response with 246', async () => {
    const { data, response } = await withResponse({ input_guardrails: [NO_APOLLO] }, 'hello Apollo');

    expect(response.status).toBe(246);
    expect(data.choices[0]?.message.content).toContain('Good morning');
  });

  it('redact a stream before it reaches the client', async () => {
    const stream = await client({
      output_mutators: [{ 'default.pii': { redact: true } }],
    }).chat.completions.create({ ...ask('mail'), stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';

    expect(text).toBe('You can reach Jane at {{EMAIL_ADDRESS_1}} any day.');
  });

  it('stop a stream in the middle, and the client receives the reason', async () => {
    const stream = await client({
      output_guardrails: [{ ...NO_APOLLO, deny: true }],
    }).chat.completions.create({ ...ask('project'), stream: true });
    let text = '';
    const reading = (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    })();

    await expect(reading).rejects.toThrow(/guardrail|denied/i);
    expect('It has the name '.startsWith(text)).toBe(true);
  });

  it('call a webhook, signed, and follow its verdict', async () => {
    const secret = 'a-secret-of-the-webhook';
    const { upstream } = world;
    upstream.on('/verdict', {
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({ verdict: false, data: { reason: 'not today' } }),
    });
    const hook = { 'default.webhook': { webhookURL: `${upstream.url}/verdict`, secret }, deny: true };
    const error = await refusal(
      client({ input_guardrails: [hook] }).chat.completions.create(ask('anything')),
    );

    expect(error.status).toBe(446);
    const call = upstream.ledger.findLast(({ target }) => target === '/verdict');
    if (!call) throw new Error('The webhook was not called.');
    const [, seconds, digest] = /^t=(\d+),v1=(\w+)$/.exec(header(call, 'x-gateway-signature') ?? '') ?? [];
    const signed = `${seconds ?? ''}.${call.body.toString('utf8')}`;
    expect(digest).toBe(createHmac('sha256', secret).update(signed).digest('hex'));
    expect(JSON.parse(call.body.toString('utf8'))).toMatchObject({
      eventType: 'beforeRequestHook',
      request: { text: 'anything' },
    });
  });

  it('never call an address that is closed, whatever a config says', async () => {
    const hook = {
      'default.webhook': { webhookURL: 'http://169.254.169.254/latest' },
      deny: true,
      fail_on_error: true,
    };
    const error = await refusal(
      client({ input_guardrails: [hook] }).chat.completions.create(ask('anything')),
    );

    expect(error.status).toBe(446);
    expect(JSON.stringify(error.error)).not.toContain('latest');
  });

  it('of a workspace hold for all of it within two seconds, and are gone as fast', async () => {
    const { administration, service } = world;
    const { id: workspace_id } = await administration.ask('POST', '/v1/admin/workspaces', {
      name: 'Guarded',
    });
    const { key } = await administration.createKey('guarded', undefined, { workspace_id });
    const { slug } = await administration.ask('POST', '/v1/guardrails', {
      name: 'For all',
      workspace_id,
      checks: [{ id: 'default.contains', parameters: { operator: 'none', words: ['Apollo'] } }],
      actions: { deny: true },
    });
    const impose = (input_guardrails: unknown[]) =>
      administration.ask('PUT', `/v1/admin/workspaces/${String(workspace_id)}`, {
        defaults: { input_guardrails },
      });
    /** Of all processes: each call goes over a connection of its own. */
    const statuses = async (): Promise<number[]> => {
      const headers = { 'x-gateway-api-key': key, 'x-gateway-provider': 'sandbox' };
      const body = { ...ask('Apollo'), model: 'sandbox-1' };
      const call = { method: 'POST', path: '/v1/chat/completions', body, headers, fresh: true };
      return Promise.all(Array.from({ length: 8 }, async () => (await service.client.call(call)).status));
    };
    const all = (status: number) => Array.from({ length: 8 }, () => status);

    expect(await statuses()).toEqual(all(200));
    await impose([slug]);
    await expect.poll(statuses, { timeout: 2_000, interval: 100 }).toEqual(all(446));
    await impose([]);
    await expect.poll(statuses, { timeout: 2_000, interval: 100 }).toEqual(all(200));
  });

  it('that are stored serve by their id, a change within two seconds, and move a fallback on', async () => {
    const { workspace_id } = world.service.bootstrap;
    const { slug } = await world.administration.ask('POST', '/v1/guardrails', {
      name: 'No names',
      workspace_id,
      checks: [{ id: 'default.contains', parameters: { operator: 'none', words: ['Apollo'] } }],
      actions: { deny: true },
    });
    const config = {
      strategy: { mode: 'fallback', on_status_codes: [446] },
      targets: [
        { virtual_key: virtualKey, output_guardrails: [slug] },
        { virtual_key: virtualKey, override_params: { messages: ask('hello').messages } },
      ],
    };
    const { data, response } = await withResponse(config, 'project');
    expect(response.status).toBe(200);
    expect(response.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]');
    expect(data.choices[0]?.message.content).toContain('Good morning');

    await world.administration.ask('PUT', `/v1/guardrails/${String(slug)}`, { actions: { deny: false } });
    await expect
      .poll(async () => (await withResponse({ output_guardrails: [slug] }, 'project')).response.status, {
        interval: 250,
      })
      .toBe(246);
  });
});
