import { createHash, randomBytes } from 'node:crypto';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { header } from '../support/upstreams/echo.js';
import { Providers } from './providers.js';

/** What the clients of those with a dialect of their own offer besides an answer in words, asked of their own provider. */
const NOTE = Buffer.from('Tides come twice a day.');

let providers: Providers;
beforeAll(async () => {
  providers = await Providers.create('labs', {}, { anthropic: '/v1', google: '/v1beta', cohere: '' });
});
afterAll(() => providers.close());

const world = () => providers.world;

describe("Anthropic's client", () => {
  const client = () =>
    new Anthropic({
      apiKey: 'unused',
      baseURL: providers.root,
      maxRetries: 0,
      defaultHeaders: providers.headersFor('scripted anthropic'),
    });
  const ask = {
    model: 'claude-sonnet-4-5',
    max_tokens: 64,
    messages: [{ role: 'user' as const, content: 'hello' }],
  };

  it('pays for what it writes to the cache by how long that is kept', async () => {
    providers.answers('/v1/messages', {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: 'Good morning.' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 10,
        output_tokens: 20,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      },
    });
    const system = [
      {
        type: 'text' as const,
        text: 'Be brief.',
        cache_control: { type: 'ephemeral' as const, ttl: '1h' as const },
      },
    ];
    const { content } = await client().messages.create({ ...ask, system });

    expect(content).toMatchObject([{ type: 'text', text: 'Good morning.' }]);
    expect(providers.lastAsked()).toEqual({ ...ask, system });
    // Dollars per million: 3 in, 15 out, 0.30 read, 3.75 written for five minutes, 6 for an hour.
    const costNanoUsd = 10 * 3_000 + 20 * 15_000 + 100 * 300 + 200 * 3_750 + 100 * 6_000;
    await providers.checkRows([
      { provider: 'anthropic', path: '/v1/messages', input: 410, output: 20, costNanoUsd },
    ]);
  });

  it('counts tokens, and lists models', async () => {
    providers.answers('/v1/messages/count_tokens', { input_tokens: 12 });
    providers.answers('/v1/models', { data: [{ id: 'claude-sonnet-4-5', type: 'model' }], has_more: false });
    const { model, messages } = ask;

    expect(await client().messages.countTokens({ model, messages })).toEqual({ input_tokens: 12 });
    expect((await client().models.list()).data.map(({ id }) => id)).toEqual(['claude-sonnet-4-5']);
  });

  it('runs batches', async () => {
    const batch = {
      id: 'msgbatch_1',
      type: 'message_batch',
      processing_status: 'ended',
      results_url: `${world().upstream.url}/x`,
    };
    providers.answers('/v1/messages/batches', batch);
    providers.answers('/v1/messages/batches/msgbatch_1', batch);
    const { batches } = client().messages;
    const requests = [{ custom_id: 'a', params: ask }];

    expect((await batches.create({ requests })).id).toBe('msgbatch_1');
    expect(providers.lastAsked()).toEqual({ requests });
    expect((await batches.retrieve('msgbatch_1')).processing_status).toBe('ended');
  });

  it('keeps files', async () => {
    const facts = { id: 'file_1', type: 'file', filename: 'note.txt', size_bytes: NOTE.length };
    providers.answers('/v1/files', facts);
    world().upstream.on('/v1/files/file_1/content', { body: NOTE });
    const kept = await client().files.upload({
      file: await toFile(NOTE, 'note.txt', { type: 'text/plain' }),
    });

    expect(kept).toMatchObject({ id: 'file_1', filename: 'note.txt' });
    expect(world().upstream.ledger.at(-1)?.body.includes(NOTE)).toBe(true);
    const content = await client().files.download('file_1');
    expect(Buffer.from(await content.arrayBuffer()).equals(NOTE)).toBe(true);
  });
});

describe("Google's client", () => {
  const client = () =>
    new GoogleGenAI({
      apiKey: 'unused',
      httpOptions: { baseUrl: providers.root, headers: providers.headersFor('scripted google') },
    });
  const model = 'gemini-2.5-flash';
  /** The client asks for version 1 of a model call, and the other paths are those of the base URL. */
  const at = (path: string) => `/v1/models/${path}`;

  it('calls a function, and pays for what it thinks', async () => {
    const functionCall = { name: 'weather', args: { city: 'Rome' } };
    providers.answers(at(`${model}:generateContent`), {
      candidates: [{ content: { role: 'model', parts: [{ functionCall }] }, finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 20,
        totalTokenCount: 35,
      },
      modelVersion: model,
    });
    const tools = [{ functionDeclarations: [{ name: 'weather', description: 'The weather of a city' }] }];
    const { functionCalls } = await client().models.generateContent({
      model,
      contents: 'weather in Rome?',
      config: { tools },
    });

    expect(functionCalls).toMatchObject([functionCall]);
    const path = at(`${model}:generateContent`);
    await providers.checkRows([
      { provider: 'google', path, input: 10, output: 25, costNanoUsd: 10 * 300 + 25 * 2_500 },
    ]);
  });

  it('embeds, counts tokens, lists models and keeps contents in the cache', async () => {
    const embeddings = [{ values: [0.25, -0.5] }];
    providers.answers(at('gemini-embedding-001:batchEmbedContents'), {
      embeddings,
      usageMetadata: { promptTokenCount: 40 },
    });
    providers.answers(at(`${model}:countTokens`), { totalTokens: 7 });
    providers.answers('/v1beta/models', { models: [{ name: `models/${model}` }] });
    providers.answers('/v1beta/cachedContents', { name: 'cachedContents/1', model: `models/${model}` });
    const { models, caches } = client();
    const embedded = await models.embedContent({ model: 'gemini-embedding-001', contents: 'tides' });
    const listed: unknown[] = [];
    for await (const { name } of await models.list()) listed.push(name);

    expect(embedded.embeddings).toMatchObject(embeddings);
    expect((await models.countTokens({ model, contents: 'tides' })).totalTokens).toBe(7);
    expect(listed).toEqual([`models/${model}`]);
    expect((await caches.create({ model, config: { contents: 'tides' } })).name).toBe('cachedContents/1');
    const path = at('gemini-embedding-001:batchEmbedContents');
    await providers.checkRows([{ provider: 'google', path, input: 40, output: 0, costNanoUsd: 40 * 150 }]);
  });

  describe('uploads files in two steps', () => {
    const uploads = '/upload/v1/files';
    /** What it sends at once: https://github.com/googleapis/js-genai (MAX_CHUNK_SIZE). */
    const partBytes = 8 * 1024 * 1024;
    const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    /** Takes uploads as Google does: https://ai.google.dev/gemini-api/docs/files */
    const takesUploads = (address: string) =>
      world().upstream.on(uploads, (received) => {
        if (header(received, 'x-goog-upload-command') === 'start')
          return { headers: [['x-goog-upload-url', address]], body: '{}' };
        const isLast = header(received, 'x-goog-upload-command')?.includes('finalize') === true;
        return {
          headers: [
            ['content-type', 'application/json'],
            ['x-goog-upload-status', isLast ? 'final' : 'active'],
          ],
          body: JSON.stringify({ file: { name: 'files/1', uri: `${world().upstream.url}/v1beta/files/1` } }),
        };
      });
    const address = () => `${world().upstream.url}${uploads}?upload_id=a%2Fb&upload_protocol=resumable`;

    it('and every byte arrives, in order, with the stored credential', async () => {
      takesUploads(address());
      world().upstream.ledger.length = 0;
      const bytes = randomBytes(partBytes + 1_000);
      const file = await client().files.upload({
        file: new Blob([bytes]),
        config: { mimeType: 'application/pdf', displayName: 'Tides' },
      });

      expect(file.name).toBe('files/1');
      const [start, ...parts] = world().upstream.callsTo(uploads);
      expect(JSON.parse(start?.body.toString() ?? '')).toEqual({
        file: { mimeType: 'application/pdf', displayName: 'Tides', sizeBytes: String(bytes.length) },
      });
      expect(parts.map((part) => [part.target, part.sha256, header(part, 'x-goog-upload-offset')])).toEqual([
        [`${uploads}?upload_id=a%2Fb&upload_protocol=resumable`, sha256(bytes.subarray(0, partBytes)), '0'],
        [
          `${uploads}?upload_id=a%2Fb&upload_protocol=resumable`,
          sha256(bytes.subarray(partBytes)),
          String(partBytes),
        ],
      ]);
      for (const call of [start, ...parts])
        expect(call && header(call, 'x-goog-api-key')).toBe(world().providerSecret);
    });

    it.each([
      ["the provider's own place for uploads, under our address", address, () => providers.root],
      [
        'another place, which is not ours to reach, as it is',
        () => 'https://elsewhere.test/upload/v1/files?upload_id=1',
        null,
      ],
      ['another path of the provider, as it is', () => `${world().upstream.url}/v1beta/files`, null],
    ])('and gets an error for %s', async (_, told, here) => {
      takesUploads(told());
      const answer = await fetch(providers.root + uploads, {
        method: 'POST',
        headers: { ...providers.headersFor('scripted google'), 'x-goog-upload-command': 'start' },
      });

      const expected = here ? told().replace(world().upstream.url, here()) : told();
      expect(answer.headers.get('x-goog-upload-url')).toBe(expected);
    });

    it('but not at a provider that has no such place, nor without a key', async () => {
      const elsewhere = { ...providers.headersFor('scripted anthropic') };
      const refused = await fetch(providers.root + uploads, { method: 'POST', headers: elsewhere });
      const unknown = await fetch(providers.root + uploads, { method: 'POST' });

      expect([refused.status, unknown.status]).toEqual([400, 401]);
      expect(await refused.text()).toContain('endpoint_unsupported');
    });
  });
});

describe("Cohere's client", () => {
  const headers = () => providers.headersFor('scripted cohere');
  const client = () =>
    new CohereClientV2({
      token: 'unused',
      environment: providers.base,
      headers: headers(),
    });
  const usage = {
    billed_units: { input_tokens: 10, output_tokens: 5 },
    tokens: { input_tokens: 90, output_tokens: 7 },
  };
  const ask = {
    model: 'command-a-03-2025',
    messages: [{ role: 'user' as const, content: 'weather in Rome?' }],
  };

  it('calls a tool, and pays for what is billed', async () => {
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
    };
    providers.answers('/v2/chat', {
      id: 'c-1',
      finish_reason: 'TOOL_CALL',
      message: { role: 'assistant', tool_plan: 'I will look.', tool_calls: [call] },
      usage,
    });
    const tool = {
      name: 'weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    };
    const { message } = await client().chat({ ...ask, tools: [{ type: 'function', function: tool }] });

    expect(message.toolCalls?.[0]?.function).toEqual(call.function);
    const costNanoUsd = 10 * 2_500 + 5 * 10_000;
    await providers.checkRows([
      { provider: 'cohere', path: '/v1/v2/chat', input: 10, output: 5, costNanoUsd },
    ]);
  });

  it('embeds and ranks', async () => {
    providers.answers('/v2/embed', {
      id: 'e-1',
      embeddings: { float: [[0.25, -0.5]] },
      texts: ['tides'],
      meta: { billed_units: { input_tokens: 30 } },
    });
    providers.answers('/v2/rerank', {
      id: 'r-1',
      results: [{ index: 1, relevance_score: 0.9 }],
      meta: { billed_units: { search_units: 1 } },
    });
    const embedded = await client().embed({
      model: 'embed-v4.0',
      inputType: 'search_document',
      embeddingTypes: ['float'],
      texts: ['tides'],
    });
    const ranked = await client().rerank({
      model: 'rerank-v3.5',
      query: 'capital of France',
      documents: ['Rome', 'Paris'],
    });

    expect(embedded.embeddings.float).toEqual([[0.25, -0.5]]);
    expect(ranked.results).toMatchObject([{ index: 1, relevanceScore: 0.9 }]);
    await providers.checkRows([
      { provider: 'cohere', path: '/v1/v2/embed', input: 30, output: 0, costNanoUsd: 30 * 120 },
    ]);
  });

  it('ranks by the first version, with the documents', async () => {
    const document = { text: 'Paris' };
    providers.answers('/v1/rerank', {
      id: 'r-2',
      results: [{ index: 1, relevance_score: 0.9, document }],
      meta: { billed_units: { search_units: 1 } },
    });
    const first = new CohereClient({ token: 'unused', environment: providers.root, headers: headers() });
    const asked = { model: 'rerank-v3.5', query: 'capital of France', documents: ['Rome', 'Paris'] };
    const ranked = await first.rerank({ ...asked, returnDocuments: true });

    expect(ranked.results).toMatchObject([{ index: 1, relevanceScore: 0.9, document }]);
    expect(providers.lastAsked()).toMatchObject({ ...asked, return_documents: true });
  });

  it('is metered in streams', async () => {
    providers.streams('/v2/chat', [
      { type: 'message-start', id: 'c-2', delta: { message: { role: 'assistant' } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Sunny.' } } } },
      { type: 'content-end', index: 0 },
      { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage } },
    ]);
    let text = '';
    for await (const event of await client().chatStream(ask))
      if (event.type === 'content-delta') text += event.delta?.message?.content?.text ?? '';

    expect(text).toBe('Sunny.');
    const streamed = async () =>
      (await world().rows()).filter((row) => row.streamed && row.path === '/v1/v2/chat');
    await expect
      .poll(async () =>
        (await streamed()).map((row) => [row.input_tokens, row.output_tokens, row.usage_source]),
      )
      .toEqual([[10, 5, 'provider']]);
  });
});
