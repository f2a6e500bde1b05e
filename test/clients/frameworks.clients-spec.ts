import { randomBytes } from 'node:crypto';
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage } from '@langchain/core/messages';
import { tool as langChainTool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embedMany, experimental_generateSpeech, experimental_transcribe, generateImage } from 'ai';
import { toFile } from 'openai';
import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Providers } from './providers.js';

/** What frameworks and Portkey's own client offer besides what `native` has. */
const HELLO = 'Good morning to you, whoever you are.';
const SOUND = randomBytes(5_000);
const PIXELS = randomBytes(3_000);
const WEATHER = { name: 'weather', description: 'The weather of a city' };
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } } as const;

let providers: Providers;
beforeAll(async () => {
  const bases = { openai: '/v1', anthropic: '/v1' };
  providers = await Providers.create('frameworks', bases, bases);
  providers.simulator
    .onMessage('weather', { toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' }] })
    .onMessage('hello', {
      content: HELLO,
      usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 },
    })
    .onEmbedding(/./, { embedding: [0.25, -0.5] })
    .onImage(/./, { image: { b64Json: PIXELS.toString('base64') } })
    .onSpeech(/./, { audio: SOUND.toString('base64'), format: 'mp3' })
    .onTranscription({ transcription: { text: 'Hello.' } })
    .onModerate(/./, { flagged: true, categories: { violence: true } });
});
afterAll(() => providers.close());

describe('the AI SDK', () => {
  const openAi = () =>
    createOpenAI({ apiKey: 'unused', baseURL: providers.base, headers: providers.headersFor('openai') });

  it('embeds, draws, speaks and transcribes', async () => {
    const { embeddings } = await embedMany({
      model: openAi().embedding('text-embedding-3-small'),
      values: ['tides', 'moons'],
    });
    const { image } = await generateImage({ model: openAi().image('gpt-image-1'), prompt: 'a lighthouse' });
    const { audio } = await experimental_generateSpeech({ model: openAi().speech('tts-1'), text: 'Hello.' });
    const { text } = await experimental_transcribe({
      model: openAi().transcription('whisper-1'),
      audio: SOUND,
    });

    expect(embeddings).toHaveLength(2);
    expect(Buffer.from(image.uint8Array).equals(PIXELS)).toBe(true);
    expect(Buffer.from(audio.uint8Array).equals(SOUND)).toBe(true);
    expect(text).toBe('Hello.');
  });
});

describe('LangChain', () => {
  const configuration = (name: string) => ({
    baseURL: providers.base,
    defaultHeaders: providers.headersFor(name),
  });

  it.each(['openai', 'anthropic'])('streams chat completions of %s, and calls a tool', async (provider) => {
    const model = new ChatOpenAI({
      apiKey: 'unused',
      model: 'some-model',
      maxRetries: 0,
      configuration: configuration(provider),
    });
    let text = '';
    for await (const chunk of await model.stream('hello')) text += chunk.text;
    const weather = langChainTool(() => 'sunny', { ...WEATHER, schema: PARAMETERS });
    const { tool_calls } = await model.bindTools([weather]).invoke([new HumanMessage('weather in Rome?')]);

    expect(text).toBe(HELLO);
    expect(tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Rome' } }]);
  });

  it('keeps sending "seed" where the provider has none, once it may be dropped', async () => {
    const model = (headers: Record<string, string>) =>
      new ChatOpenAI({
        apiKey: 'unused',
        model: 'claude-sonnet-4-5',
        maxRetries: 0,
        modelKwargs: { seed: 7 },
        configuration: {
          baseURL: providers.base,
          defaultHeaders: { ...providers.headersFor('scripted anthropic'), ...headers },
        },
      });
    providers.answers('/v1/messages', {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: HELLO }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 9, output_tokens: 12 },
    });

    await expect(model({}).invoke('hello')).rejects.toThrow('x-gateway-unsupported-parameters: drop');
    const answer = await model({ 'x-gateway-unsupported-parameters': 'drop' }).invoke('hello');

    expect(answer.text).toBe(HELLO);
    expect(providers.lastAsked()).toMatchObject({
      model: 'claude-sonnet-4-5',
      max_tokens: expect.any(Number),
    });
    expect(providers.lastAsked()).not.toHaveProperty('seed');
  });

  it('embeds', async () => {
    const model = new OpenAIEmbeddings({
      apiKey: 'unused',
      model: 'text-embedding-3-small',
      configuration: configuration('openai'),
    });

    expect((await model.embedQuery('tides')).length).toBeGreaterThan(0);
  });
});

describe("Portkey's client", () => {
  const client = (name = 'openai') =>
    new Portkey({
      apiKey: providers.world.apiKey.key,
      baseURL: providers.base,
      virtualKey: providers.headersFor(name)['x-gateway-virtual-key'],
    });
  const wav = () => toFile(SOUND, 'a.wav', { type: 'audio/wav' });

  it.each(['openai', 'anthropic'])(
    'gets chat of %s, streamed and plain, and calls a tool',
    async (provider) => {
      const ask = (content: string) => ({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] });
      const { completions } = client(provider).chat;
      const plain = await completions.create(ask('hello'));
      let text = '';
      for await (const chunk of await completions.create({ ...ask('hello'), stream: true }))
        text += chunk.choices?.[0]?.delta?.content ?? '';
      const tools = [{ type: 'function', function: { ...WEATHER, parameters: PARAMETERS } }];
      const called = await completions.create({ ...ask('weather in Rome?'), tools });

      expect([plain.choices?.[0]?.message?.content, text]).toEqual([HELLO, HELLO]);
      expect(called.choices?.[0]?.message?.tool_calls?.[0]).toMatchObject({ function: { name: 'weather' } });
    },
  );

  it('gets responses, embeddings, images, audio and moderations', async () => {
    const { responses, embeddings, images, audio, moderations } = client();
    const answer = await responses.create({ model: 'gpt-4o-mini', input: 'hello' });
    const embedded = await embeddings.create({ model: 'text-embedding-3-small', input: 'tides' });
    const drawn = await images.generate({ model: 'gpt-image-1', prompt: 'a lighthouse' });
    const said = await audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hello.' });
    const heard = await audio.transcriptions.create({ model: 'whisper-1', file: await wav() });
    const judged = await moderations.create({ input: 'a fight' });

    expect(answer.output_text).toBe(HELLO);
    expect(embedded.data?.length).toBe(1);
    expect(Buffer.from(drawn.data?.[0]?.b64_json ?? '', 'base64').equals(PIXELS)).toBe(true);
    expect(Buffer.from(await said.arrayBuffer()).equals(SOUND)).toBe(true);
    expect([heard.text, judged.results[0]?.flagged]).toEqual(['Hello.', true]);
  });

  it('keeps files, runs batches and fetches their output', async () => {
    const file = await toFile(Buffer.from('{"custom_id":"a"}\n'), 'in.jsonl');
    const { id: input_file_id } = await client().files.create({ file, purpose: 'batch' });
    const batch = await client().batches.create({
      input_file_id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    expect((await client().batches.retrieve(batch.id)).id).toBe(batch.id);

    const output = '{"custom_id":"a","response":{"status_code":200}}';
    providers.answers('/v1/batches/batch_1', {
      id: 'batch_1',
      status: 'completed',
      output_file_id: 'file-9',
    });
    providers.world.upstream.on('/v1/files/file-9/content', { body: output });
    expect(await client('scripted openai').batches.output('batch_1')).toBe(output);
  });

  it('is metered', async () => {
    await providers.checkRows([
      {
        provider: 'openai',
        path: '/v1/chat/completions',
        input: 9,
        output: 12,
        costNanoUsd: 9 * 150 + 12 * 600,
      },
    ]);
  });
});
