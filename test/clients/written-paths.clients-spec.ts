import { randomBytes } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI, type LiveServerMessage } from '@google/genai';
import { AzureChatOpenAI, AzureOpenAIEmbeddings } from '@langchain/openai';
import { AzureOpenAI, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { header } from '../support/upstreams/echo.js';
import { RealtimeUpstream } from '../support/upstreams/realtime.js';
import { Providers } from './providers.js';

/** Clients that write paths of their provider in full, or follow addresses that it tells. */
let providers: Providers;
let azure = '';
beforeAll(async () => {
  providers = await Providers.create('written paths', {}, { anthropic: '/v1', google: '/v1beta' });
  const { administration, providerSecret: secret, upstream } = providers.world;
  azure = await administration.createVirtualKey({
    name: `azure-${randomBytes(4).toString('hex')}`,
    provider: 'azure-openai',
    secret,
    customHost: `${upstream.url}/openai`,
    fields: { 'azure-resource-name': 'res', 'azure-api-version': '2024-06-01' },
  });
});
afterAll(() => providers.close());

const world = () => providers.world;
const gatewayKeys = (): string[] =>
  world().upstream.ledger.flatMap(({ headers, target }) =>
    [target, ...headers.map(([, value]) => value)].filter((text) => /gw_(ws|admin|user)_/.test(text)),
  );

describe("Azure's clients", () => {
  const VERSION = '2024-10-21';
  const MODEL = 'gpt-4o';
  const SOUND = randomBytes(5_000);
  const headers = () => ({ 'x-gateway-virtual-key': azure });
  const at = (path: string) => `/openai/deployments/${MODEL}${path}`;
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  const message = { role: 'assistant', content: 'Hello.' };
  const answer = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4o-2024-08-06',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  };
  const chunk = { ...answer, object: 'chat.completion.chunk', usage: null };
  const events = [
    { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { ...chunk, choices: [], usage },
    '[DONE]',
  ];
  const rowsOf = async (path: string) =>
    (await world().rows()).filter((row) => row.path === `${path}?api-version=${VERSION}`);
  /** Chat costs what its tokens cost at Azure: 2.50 dollars a million in, 10 out. */
  const checkChat = (path: string, count: number) =>
    expect
      .poll(async () =>
        (await rowsOf(path)).map(({ endpoint, model, input_tokens, output_tokens, cost_nano_usd }) => ({
          endpoint,
          model,
          tokens: [input_tokens, output_tokens],
          cost_nano_usd,
        })),
      )
      .toEqual(
        Array.from({ length: count }, () => ({
          endpoint: 'chat-completions',
          model: MODEL,
          tokens: [100, 10],
          cost_nano_usd: 100 * 2_500 + 10 * 10_000,
        })),
      );

  it.each([
    ['', ''],
    ['/v1', '/v1'],
  ])('openai: chats, streams, embeds, draws, transcribes and speaks below "%s"', async (root, logged) => {
    const { upstream } = world();
    upstream.ledger.length = 0;
    providers.answers(at('/chat/completions'), answer);
    providers.answers('/openai/deployments/text-embedding-3-small/embeddings', {
      data: [{ index: 0, embedding: [0.5] }],
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
    providers.answers('/openai/deployments/dall-e-3/images/generations', {
      created: 1,
      data: [{ b64_json: 'AA' }],
    });
    providers.answers('/openai/deployments/whisper/audio/transcriptions', { text: 'Hello.' });
    upstream.on('/openai/deployments/tts-1/audio/speech', {
      headers: [['content-type', 'audio/mpeg']],
      body: SOUND,
    });
    providers.answers('/openai/files', { data: [], has_more: false });
    const client = new AzureOpenAI({
      endpoint: providers.root + root,
      apiKey: world().apiKey.key,
      apiVersion: VERSION,
      maxRetries: 0,
      defaultHeaders: headers(),
    });
    const ask = { model: MODEL, messages: [{ role: 'user' as const, content: 'hello' }] };
    const plain = await client.chat.completions.create(ask);
    providers.streams(at('/chat/completions'), events);
    let streamed = '';
    const stream_options = { include_usage: true };
    for await (const part of await client.chat.completions.create({ ...ask, stream: true, stream_options }))
      streamed += part.choices[0]?.delta.content ?? '';
    const embedded = await client.embeddings.create({
      model: 'text-embedding-3-small',
      input: 'tides',
      encoding_format: 'float',
    });
    const drawn = await client.images.generate({ model: 'dall-e-3', prompt: 'a lighthouse' });
    const file = await toFile(SOUND, 'a.wav', { type: 'audio/wav' });
    const { text } = await client.audio.transcriptions.create({ model: 'whisper', file });
    const speech = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hello.' });
    await client.files.list();

    expect([plain.choices[0]?.message.content, streamed, text]).toEqual(['Hello.', 'Hello.', 'Hello.']);
    expect([embedded.data[0]?.embedding, drawn.data?.[0]?.b64_json]).toEqual([[0.5], 'AA']);
    expect(Buffer.from(await speech.arrayBuffer()).equals(SOUND)).toBe(true);
    expect(upstream.ledger.map(({ target }) => target.replace('/openai', ''))).toEqual(
      [
        ...[at('/chat/completions'), at('/chat/completions')].map((path) => path.replace('/openai', '')),
        '/deployments/text-embedding-3-small/embeddings',
        '/deployments/dall-e-3/images/generations',
        '/deployments/whisper/audio/transcriptions',
        '/deployments/tts-1/audio/speech',
        '/files',
      ].map((path) => `${path}?api-version=${VERSION}`),
    );
    for (const call of upstream.ledger) expect(header(call, 'api-key')).toBe(world().providerSecret);
    expect(gatewayKeys()).toEqual([]);
    await checkChat(logged + at('/chat/completions'), 2);
  });

  it('LangChain: chats, streams and embeds', async () => {
    const { upstream } = world();
    providers.answers('/openai/deployments/text-embedding-3-small/embeddings', {
      data: [{ index: 0, embedding: [0.5] }],
    });
    const options = {
      azureOpenAIApiKey: world().apiKey.key,
      azureOpenAIApiVersion: VERSION,
      azureOpenAIEndpoint: `${providers.root}/v1`,
      maxRetries: 0,
      configuration: { defaultHeaders: headers() },
    };
    const model = new AzureChatOpenAI({
      ...options,
      azureOpenAIApiDeploymentName: 'chat-prod',
      model: MODEL,
    });
    const vectors = new AzureOpenAIEmbeddings({
      ...options,
      azureOpenAIBasePath: `${providers.root}/v1/openai/deployments`,
      azureOpenAIApiEmbeddingsDeploymentName: 'text-embedding-3-small',
    });
    const path = '/openai/deployments/chat-prod/chat/completions';
    upstream.ledger.length = 0;
    providers.answers(path, answer);
    const plain = await model.invoke('hello');
    providers.streams(path, events);
    let streamed = '';
    for await (const part of await model.stream('hello')) streamed += part.text;
    const embedded = await vectors.embedQuery('tides');

    expect([plain.content, streamed, embedded]).toEqual(['Hello.', 'Hello.', [0.5]]);
    expect(new Set(upstream.ledger.map(({ target }) => target))).toEqual(
      new Set(
        [path, '/openai/deployments/text-embedding-3-small/embeddings'].map(
          (each) => `${each}?api-version=${VERSION}`,
        ),
      ),
    );
    expect(gatewayKeys()).toEqual([]);
    await expect
      .poll(async () =>
        (await rowsOf(`/v1${path}`)).map((row) => [
          row.endpoint,
          row.model,
          row.input_tokens,
          row.output_tokens,
        ]),
      )
      .toEqual([0, 1].map(() => ['chat-completions', 'chat-prod', 100, 10]));
  });

  it('openai: is refused with a second gateway key, and nothing is sent', async () => {
    const { upstream } = world();
    const client = new AzureOpenAI({
      endpoint: providers.root,
      apiKey: world().apiKey.key,
      apiVersion: VERSION,
      maxRetries: 0,
      defaultHeaders: { ...headers(), 'x-portkey-api-key': world().service.bootstrap.workspace_api_key },
    });
    upstream.ledger.length = 0;

    await expect(client.files.list()).rejects.toMatchObject({ status: 400, code: 'ambiguous_credentials' });
    expect(upstream.ledger).toEqual([]);
  });
});

describe("Anthropic's client", () => {
  it('reads the results of a batch through the gateway, and its key never leaves that', async () => {
    const { upstream } = world();
    const path = '/v1/messages/batches/msgbatch_1';
    const results_url = `${upstream.url}${path}/results`;
    const batch = { id: 'msgbatch_1', type: 'message_batch', processing_status: 'ended', results_url };
    upstream.ledger.length = 0;
    providers.answers(path, batch);
    providers.answers('/v1/messages/batches', {
      data: [batch],
      has_more: false,
      first_id: null,
      last_id: null,
    });
    upstream.on(`${path}/results`, {
      headers: [['content-type', 'application/x-jsonl']],
      body: '{"custom_id":"a","result":{"type":"expired"}}\n{"custom_id":"b","result":{"type":"canceled"}}\n',
    });
    const { batches } = new Anthropic({
      apiKey: world().apiKey.key,
      baseURL: providers.root,
      maxRetries: 0,
      defaultHeaders: {
        'x-gateway-virtual-key': providers.headersFor('scripted anthropic')['x-gateway-virtual-key'],
      },
    }).messages;
    const found: string[] = [];
    for await (const { custom_id } of await batches.results('msgbatch_1')) found.push(custom_id);
    const [listed] = (await batches.list()).data;

    expect(found).toEqual(['a', 'b']);
    expect(listed?.results_url).toBe(`${providers.root}${path}/results`);
    expect(gatewayKeys()).toEqual([]);
    for (const call of upstream.ledger) expect(header(call, 'x-api-key')).toBe(world().providerSecret);
    expect(upstream.callsTo(`${path}/results`)).toHaveLength(1);
  });
});

describe("Google's client", () => {
  const headers = () => ({
    'x-gateway-virtual-key': providers.headersFor('scripted google')['x-gateway-virtual-key'] ?? '',
  });

  it.each(['v1alpha', 'v1beta', 'v1'])('gets the version that it requests: %s', async (apiVersion) => {
    const { upstream } = world();
    const path = `/${apiVersion}/models/gemini-2.5-flash:generateContent`;
    // Version 1 is what the gateway's own paths begin with, so that client's base address ends with it.
    const baseUrl = apiVersion === 'v1' ? `${providers.root}/v1` : providers.root;
    providers.answers(path, {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    });
    const client = new GoogleGenAI({
      apiKey: world().apiKey.key,
      httpOptions: { baseUrl, apiVersion, headers: headers() },
    });
    upstream.ledger.length = 0;
    const { text } = await client.models.generateContent({ model: 'gemini-2.5-flash', contents: 'hello' });

    expect(text).toBe('Hello.');
    expect(upstream.ledger.map(({ target }) => target)).toEqual([path]);
    expect(gatewayKeys()).toEqual([]);
    const logged = apiVersion === 'v1' ? `/v1${path}` : path;
    await providers.checkRows([
      { provider: 'google', path: logged, input: 10, output: 5, costNanoUsd: 10 * 300 + 5 * 2_500 },
    ]);
  });

  it('makes a token for a session', async () => {
    providers.answers('/v1alpha/auth_tokens', { name: 'auth_tokens/abc' });
    const client = new GoogleGenAI({
      apiKey: world().apiKey.key,
      httpOptions: { baseUrl: providers.root, apiVersion: 'v1alpha', headers: headers() },
    });

    expect((await client.authTokens.create({ config: { uses: 1 } })).name).toBe('auth_tokens/abc');
  });

  describe('holds a live session', () => {
    let upstream: RealtimeUpstream;
    let live = '';
    beforeAll(async () => {
      upstream = await RealtimeUpstream.start(world().service.facts.egressPorts);
      upstream.play = (socket) => {
        socket.on('message', (data) => {
          const said = JSON.parse((data as Buffer).toString()) as { setup?: unknown };
          socket.send(
            JSON.stringify(said.setup ? { setupComplete: {} } : { serverContent: { turnComplete: true } }),
          );
        });
      };
      const { administration, providerSecret: secret } = world();
      live = await administration.createVirtualKey({
        name: `live-${randomBytes(4).toString('hex')}`,
        provider: 'google',
        secret,
        customHost: `http://127.0.0.1:${upstream.port}/v1beta`,
      });
    });
    afterAll(() => upstream.stop());

    it.each([
      ['v1beta', () => world().apiKey.key, 'BidiGenerateContent', ''],
      ['v1alpha', () => 'unused', 'BidiGenerateContent', ''],
      ['v1alpha', () => 'auth_tokens/abc', 'BidiGenerateContentConstrained', '?access_token=auth_tokens/abc'],
    ])(
      'in %s, whose key stays here',
      async (apiVersion, key, method, query) => {
        const apiKey = key();
        const own: Record<string, string> = apiKey.startsWith('gw_')
          ? {}
          : { 'x-gateway-api-key': world().apiKey.key };
        const client = new GoogleGenAI({
          apiKey,
          httpOptions: {
            baseUrl: providers.root,
            apiVersion,
            headers: { ...own, 'x-gateway-virtual-key': live },
          },
        });
        const heard: LiveServerMessage[] = [];
        const session = await client.live.connect({
          model: 'gemini-live-2.5-flash-preview',
          callbacks: { onmessage: (message) => void heard.push(message) },
        });
        session.sendClientContent({ turns: 'hello' });

        await expect.poll(() => heard.some(({ serverContent }) => serverContent?.turnComplete)).toBe(true);
        session.close();
        const { target, headers: seen } = upstream.last;
        expect(target).toBe(
          `/ws/google.ai.generativelanguage.${apiVersion}.GenerativeService.${method}${query}`,
        );
        expect(seen['x-goog-api-key']).toBe(world().providerSecret);
        expect(JSON.stringify([target, seen])).not.toContain('gw_');
        await expect.poll(() => upstream.last.closedWith).not.toBeNull();
      },
      20_000,
    );
  });
});
