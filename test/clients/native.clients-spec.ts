import { randomBytes } from 'node:crypto';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LLMock } from '@copilotkit/aimock';
import { GoogleGenAI } from '@google/genai';
import { ChatOpenAI } from '@langchain/openai';
import { Mistral } from '@mistralai/mistralai';
import { generateText, jsonSchema, streamText, tool } from 'ai';
import { CohereClientV2 } from 'cohere-ai';
import Groq from 'groq-sdk';
import OpenAI from 'openai';
import Together from 'together-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { simulatedOpenAi } from '../support/upstreams/openai.js';
import { World } from '../support/world.js';

/** Other people's clients, unmodified, with only the base address and headers changed. */
const HELLO = 'Good morning to you, whoever you are.';
const BASES: Readonly<Record<string, string>> = {
  openai: '/v1',
  anthropic: '/v1',
  google: '/v1beta',
  cohere: '',
  groq: '/v1',
  'mistral-ai': '/v1',
  'together-ai': '/v1',
};

let world: World;
let simulator: LLMock;
const slugs = new Map<string, string>();

beforeAll(async () => {
  world = await World.create('native');
  simulator = await simulatedOpenAi(world.service.facts.egressPorts);
  simulator
    .onMessage('weather', { toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' }] })
    .onMessage('hello', {
      content: HELLO,
      usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 },
    })
    .onEmbedding(/./, { embedding: [0.25, -0.5] });
  for (const [provider, base] of Object.entries(BASES))
    slugs.set(
      provider,
      await world.administration.createVirtualKey({
        name: `${provider}-${randomBytes(4).toString('hex')}`,
        provider,
        secret: world.providerSecret,
        customHost: `${simulator.url}${base}`,
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
const root = () => world.service.baseUrl;

describe("Google's client", () => {
  /** The simulator has no version 1, which the client would choose. */
  const apiVersion = 'v1beta';
  const client = () =>
    new GoogleGenAI({
      apiKey: 'unused',
      httpOptions: { baseUrl: root(), apiVersion, headers: headersFor('google') },
    });
  const ask = { model: 'gemini-2.5-flash', contents: 'hello' };

  it('gets a response', async () => {
    expect((await client().models.generateContent(ask)).text).toBe(HELLO);
  });

  it('gets a stream', async () => {
    let text = '';
    for await (const chunk of await client().models.generateContentStream(ask)) text += chunk.text ?? '';

    expect(text).toBe(HELLO);
  });

  it('needs no header but its key when that is a gateway key and the model names its target elsewhere', async () => {
    const keyed = new GoogleGenAI({
      apiKey: world.apiKey.key,
      httpOptions: {
        baseUrl: root(),
        apiVersion,
        headers: { 'x-gateway-virtual-key': slugs.get('google') ?? '' },
      },
    });

    expect((await keyed.models.generateContent(ask)).text).toBe(HELLO);
  });
});

describe("Cohere's client", () => {
  const client = () =>
    new CohereClientV2({ token: 'unused', environment: `${root()}/v1`, headers: headersFor('cohere') });
  const ask = { model: 'command-a-03-2025', messages: [{ role: 'user' as const, content: 'hello' }] };

  it('gets a response', async () => {
    const { message } = await client().chat(ask);

    expect(message?.content?.[0]).toMatchObject({ text: HELLO });
  });

  it('gets a stream', async () => {
    let text = '';
    for await (const event of await client().chatStream(ask))
      if (event.type === 'content-delta') text += event.delta?.message?.content?.text ?? '';

    expect(text).toBe(HELLO);
  });
});

describe('clients of other providers with OpenAI’s format', () => {
  const messages = [{ role: 'user' as const, content: 'hello' }];

  it("Mistral's gets a response and a stream", async () => {
    const client = new Mistral({ apiKey: 'unused', serverURL: root() });
    const options = { headers: headersFor('mistral-ai') };
    const answer = await client.chat.complete({ model: 'mistral-small-latest', messages }, options);
    let text = '';
    for await (const { data } of await client.chat.stream(
      { model: 'mistral-small-latest', messages },
      options,
    ))
      text += typeof data.choices[0]?.delta.content === 'string' ? data.choices[0].delta.content : '';

    expect([answer.choices?.[0]?.message?.content, text]).toEqual([HELLO, HELLO]);
  });

  it("Groq's gets a response and a stream", async () => {
    const client = new Groq({
      apiKey: 'unused',
      baseURL: `${root()}/v1`,
      defaultHeaders: headersFor('groq'),
    });
    const ask = { model: 'llama-3.3-70b-versatile', messages };
    const answer = await client.chat.completions.create(ask);
    let text = '';
    for await (const chunk of await client.chat.completions.create({ ...ask, stream: true }))
      text += chunk.choices[0]?.delta.content ?? '';

    expect([answer.choices[0]?.message.content, text]).toEqual([HELLO, HELLO]);
  });

  it("Together's gets a response", async () => {
    const client = new Together({
      apiKey: 'unused',
      baseURL: `${root()}/v1`,
      defaultHeaders: headersFor('together-ai'),
    });
    const answer = await client.chat.completions.create({
      model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
      messages,
    });

    expect(answer.choices[0]?.message?.content).toBe(HELLO);
  });
});

describe('frameworks', () => {
  const weather = tool({
    description: 'The weather of a city',
    inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
  });
  const openAi = (provider: string) =>
    createOpenAI({ apiKey: 'unused', baseURL: `${root()}/v1`, headers: headersFor(provider) });
  const anthropic = (provider: string) =>
    createAnthropic({ apiKey: 'unused', baseURL: `${root()}/v1`, headers: headersFor(provider) });
  const ways = [
    ['chat completions of OpenAI', () => openAi('openai').chat('gpt-4o-mini')],
    ['responses of OpenAI', () => openAi('openai').responses('gpt-4o-mini')],
    ['chat completions of Anthropic', () => openAi('anthropic').chat('claude-sonnet-4-5')],
    ['responses of Google', () => openAi('google').responses('gemini-2.5-flash')],
    ['messages of Anthropic', () => anthropic('anthropic')('claude-sonnet-4-5')],
    ['messages of OpenAI', () => anthropic('openai')('gpt-4o-mini')],
  ] as const;

  it.each(ways)('the AI SDK gets %s, streams them, and calls a tool', async (_, model) => {
    const { text } = await generateText({ model: model(), prompt: 'hello' });
    const streamed = await streamText({ model: model(), prompt: 'hello' }).text;
    const { toolCalls } = await generateText({ model: model(), prompt: 'weather?', tools: { weather } });

    expect([text, streamed]).toEqual([HELLO, HELLO]);
    expect(toolCalls[0]).toMatchObject({ toolName: 'weather', input: { city: 'Rome' } });
  });

  it.each(['openai', 'anthropic', 'google', 'cohere'])(
    'LangChain gets chat completions of %s',
    async (provider) => {
      const model = new ChatOpenAI({
        apiKey: 'unused',
        model: 'some-model',
        configuration: { baseURL: `${root()}/v1`, defaultHeaders: headersFor(provider) },
      });

      expect((await model.invoke('hello')).content).toBe(HELLO);
    },
  );
});

describe("OpenAI's client calls", () => {
  const client = (provider: string) =>
    new OpenAI({
      apiKey: 'unused',
      baseURL: `${root()}/v1`,
      defaultHeaders: headersFor(provider),
    });

  it.each([
    ['openai', 'text-embedding-3-small'],
    ['google', 'gemini-embedding-001'],
    ['cohere', 'embed-v4.0'],
  ])('%s for embeddings', async (provider, model) => {
    const { data } = await client(provider).embeddings.create({ model, input: 'hello' });

    expect(data[0]?.embedding.length).toBeGreaterThan(0);
    expect(data[0]?.embedding.every((value) => typeof value === 'number')).toBe(true);
  });

  it('for the models that its workspace reaches, and those of the whole catalogue, with nothing but its key', async () => {
    const bare = new OpenAI({ apiKey: world.apiKey.key, baseURL: `${root()}/v1`, maxRetries: 0 });
    const usable = await bare.models.list();
    expect(usable.data.every(({ id }) => id.startsWith('@'))).toBe(true);
    expect(usable.data.map(({ id }) => id)).toContain(`@${world.virtualKey}/gpt-4o-mini`);
    const { data } = await bare.models.list({ query: { scope: 'all' } });

    expect(data.length).toBeGreaterThan(250);
    expect(data.map(({ id }) => id)).toContain('gpt-4o-mini');
  });
});
