import { randomBytes } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import type { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { simulatedOpenAi } from '../support/upstreams/openai.js';
import { World } from '../support/world.js';

/**
 * Every shape in which clients talk, against every dialect in which providers answer: unmodified clients, the running
 * service, and a simulator of the providers' wire formats behind it.
 */
interface Place {
  readonly provider: string;
  /** Below the simulator's address, as the provider's base URL has it. */
  readonly base: string;
  readonly model: string;
  readonly fields?: Readonly<Record<string, string>>;
  /** The simulator counts no tokens of this dialect. */
  readonly isUncounted?: true;
}

const PLACES: readonly Place[] = [
  { provider: 'openai', base: '/v1', model: 'gpt-4o-mini' },
  { provider: 'anthropic', base: '/v1', model: 'claude-sonnet-4-5' },
  { provider: 'google', base: '/v1beta', model: 'gemini-2.5-flash' },
  {
    provider: 'bedrock',
    base: '',
    model: 'anthropic.claude-3-5-sonnet-20241022-v2:0',
    fields: { 'aws-region': 'us-east-1', 'aws-access-key-id': 'AKIAIOSFODNN7EXAMPLE' },
  },
  { provider: 'cohere', base: '', model: 'command-a-03-2025' },
  { provider: 'ollama-native', base: '', model: 'llama3.2', isUncounted: true },
];

const HELLO = 'Good morning to you, whoever you are.';
const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;

let world: World;
let simulator: LLMock;
const slugs = new Map<string, string>();

beforeAll(async () => {
  world = await World.create('clients');
  simulator = await simulatedOpenAi(world.service.facts.egressPorts);
  simulator
    .on(
      { predicate: ({ messages }) => messages.at(-1)?.role === 'tool' },
      { content: 'It is sunny in Rome.' },
    )
    .onMessage('weather', { toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' }] })
    .onMessage('hello', {
      content: HELLO,
      usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 },
    });
  for (const { provider, base, fields } of PLACES)
    slugs.set(
      provider,
      await world.administration.createVirtualKey({
        name: `${provider}-${randomBytes(4).toString('hex')}`,
        provider,
        secret: world.providerSecret,
        customHost: `${simulator.url}${base}`,
        ...(fields ? { fields } : {}),
      }),
    );
});

afterAll(async () => {
  await simulator.stop();
  await world.close();
});

const headersFor = (provider: string) => ({
  'x-gateway-api-key': world.apiKey.key,
  'x-gateway-virtual-key': slugs.get(provider) ?? '',
});
const openAi = (provider: string) =>
  new OpenAI({
    apiKey: 'unused',
    baseURL: `${world.service.baseUrl}/v1`,
    maxRetries: 0,
    defaultHeaders: headersFor(provider),
  });
const anthropic = (provider: string) =>
  new Anthropic({
    apiKey: 'unused',
    baseURL: world.service.baseUrl,
    maxRetries: 0,
    defaultHeaders: headersFor(provider),
  });

describe.each(PLACES)("OpenAI's client calls $provider", ({ provider, model, isUncounted }) => {
  const ask = (content: string) => ({ model, messages: [{ role: 'user' as const, content }] });
  const tools = [
    {
      type: 'function' as const,
      function: { name: WEATHER.name, description: WEATHER.description, parameters: WEATHER.schema },
    },
  ];

  it('for a chat completion', async () => {
    const answer = await openAi(provider).chat.completions.create(ask('hello'));

    expect(answer.object).toBe('chat.completion');
    expect(answer.choices[0]?.message.content).toBe(HELLO);
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    if (isUncounted) expect(answer.usage).toBeUndefined();
    else expect(answer.usage?.total_tokens).toBeGreaterThan(0);
  });

  it('for a stream with its usage', async () => {
    const stream = await openAi(provider).chat.completions.create({
      ...ask('hello'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let tokens = 0;
    const reasons: (string | null)[] = [];
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      reasons.push(chunk.choices[0]?.finish_reason ?? null);
      tokens = chunk.usage?.total_tokens ?? tokens;
    }

    expect(text).toBe(HELLO);
    expect(reasons).toContain('stop');
    expect(tokens > 0).toBe(!isUncounted);
  });

  it('to call a tool, and sends it the result', async () => {
    const client = openAi(provider);
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'weather in Rome?' }];
    const first = await client.chat.completions.create({ model, messages, tools });
    const asked = first.choices[0]?.message;
    const [call] = asked?.tool_calls ?? [];
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual({ city: 'Rome' });

    if (asked) messages.push(asked);
    messages.push({ role: 'tool', tool_call_id: call?.id ?? '', content: '{"sky":"clear"}' });
    const second = await client.chat.completions.create({ model, messages, tools });
    expect(second.choices[0]?.message.content).toBe('It is sunny in Rome.');
  });

  it('to call a tool in a stream', async () => {
    const runner = openAi(provider).chat.completions.stream({ ...ask('weather in Rome?'), tools });
    const message = await runner.finalMessage();
    const [call] = message.tool_calls ?? [];

    expect(call?.type === 'function' && call.function.name).toBe('weather');
    expect(call?.type === 'function' && JSON.parse(call.function.arguments)).toEqual({ city: 'Rome' });
  });
});

describe.each(PLACES)("Anthropic's client calls $provider", ({ provider, model }) => {
  const ask = (content: string) => ({
    model,
    max_tokens: 100,
    messages: [{ role: 'user' as const, content }],
  });
  const tools = [
    {
      name: WEATHER.name,
      description: WEATHER.description,
      input_schema: { ...WEATHER.schema, required: ['city'] },
    },
  ];

  it('for a message', async () => {
    const message = await anthropic(provider).messages.create(ask('hello'));

    expect(message.type).toBe('message');
    expect(message.content).toMatchObject([{ type: 'text', text: HELLO }]);
    expect(message.stop_reason).toBe('end_turn');
  });

  it('for a stream', async () => {
    const message = await anthropic(provider).messages.stream(ask('hello')).finalMessage();

    expect(message.content).toMatchObject([{ type: 'text', text: HELLO }]);
    expect(message.stop_reason).toBe('end_turn');
  });

  it.each([true, false])('to call a tool, streamed: %s', async (isStreamed) => {
    const request = { ...ask('weather in Rome?'), tools };
    const { messages } = anthropic(provider);
    const message = isStreamed
      ? await messages.stream(request).finalMessage()
      : await messages.create(request);

    expect(message.stop_reason).toBe('tool_use');
    expect(message.content.at(-1)).toMatchObject({
      type: 'tool_use',
      name: 'weather',
      input: { city: 'Rome' },
    });
  });
});

describe.each(PLACES)("OpenAI's client calls $provider by the Responses API", ({ provider, model }) => {
  const tools = [
    {
      type: 'function' as const,
      name: WEATHER.name,
      description: WEATHER.description,
      parameters: WEATHER.schema,
      strict: false,
    },
  ];

  it('for a response', async () => {
    const response = await openAi(provider).responses.create({ model, input: 'hello' });

    expect(response.status).toBe('completed');
    expect(response.output_text).toBe(HELLO);
  });

  it('for a stream', async () => {
    const response = await openAi(provider).responses.stream({ model, input: 'hello' }).finalResponse();

    expect(response.output_text).toBe(HELLO);
  });

  it.each([true, false])('to call a tool, streamed: %s', async (isStreamed) => {
    const request = { model, input: 'weather in Rome?', tools };
    const { responses } = openAi(provider);
    const response = isStreamed
      ? await responses.stream(request).finalResponse()
      : await responses.create(request);
    const call = response.output.find(({ type }) => type === 'function_call');

    expect(call).toMatchObject({ name: 'weather' });
    expect(JSON.parse((call as { arguments: string }).arguments)).toEqual({ city: 'Rome' });
  });
});

it('every exchange has its row, with tokens', async () => {
  const answered = async () => (await world.rows()).filter(({ status }) => status === 200);
  await expect.poll(async () => (await answered()).length).toBeGreaterThan(PLACES.length * 12);
  const rows = await answered();

  expect(rows.filter(({ ending }) => ending !== 'completed')).toEqual([]);
  expect(
    rows
      .filter(({ output_tokens }) => output_tokens === null)
      .map(({ provider, path }) => ({ provider, path })),
  ).toEqual([]);
});
