import { randomBytes } from 'node:crypto';
import { Mistral } from '@mistralai/mistralai';
import Groq, { toFile } from 'groq-sdk';
import Together from 'together-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Providers } from './providers.js';

/** What the clients of providers close to OpenAI's shape offer besides an answer in words, asked of their own provider. */
const SOUND = randomBytes(5_000);
const MESSAGES = [{ role: 'user' as const, content: 'weather in Rome?' }];
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const CALL = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

/** A chat completion, as each of them answers. */
const completion = (model: string, message: object) => ({
  id: 'c-1',
  object: 'chat.completion',
  created: 1_750_000_000,
  model,
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
  usage: USAGE,
});

let providers: Providers;
beforeAll(async () => {
  const simulated = { groq: '/v1', 'together-ai': '/v1' };
  providers = await Providers.create('compatible', simulated, {
    'mistral-ai': '/v1',
    groq: '/openai/v1',
    'together-ai': '/v1',
  });
  providers.simulator
    .onSpeech(/./, { audio: SOUND.toString('base64'), format: 'mp3' })
    .onTranscription({ transcription: { text: 'Hello.' } })
    .onTranslation({ transcription: { text: 'Good day.' } });
});
afterAll(() => providers.close());

const wav = () => toFile(SOUND, 'a.wav', { type: 'audio/wav' });

describe("Mistral's client", () => {
  const client = () => new Mistral({ apiKey: 'unused', serverURL: providers.root });
  const options = () => ({ headers: providers.headersFor('scripted mistral-ai') });

  it('calls a tool, and fills a gap', async () => {
    const model = 'mistral-small-latest';
    providers.answers('/v1/chat/completions', completion(model, { content: '', tool_calls: [CALL] }));
    providers.answers('/v1/fim/completions', completion('codestral-latest', { content: 'return a + b' }));
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: PARAMETERS } }];
    const called = await client().chat.complete({ model, messages: MESSAGES, tools }, options());
    const gap = { model: 'codestral-latest', prompt: 'add(a, b) {', suffix: '}' };
    const filled = await client().fim.complete(gap, options());

    expect(called.choices[0]?.message?.toolCalls?.[0]?.function.name).toBe('weather');
    expect(filled.choices[0]?.message?.content).toBe('return a + b');
    const told = { provider: 'mistral-ai', input: 100, output: 10 };
    await providers.checkRows([
      { ...told, path: '/v1/chat/completions', costNanoUsd: 100 * 100 + 10 * 300 },
      { ...told, path: '/v1/fim/completions', costNanoUsd: 100 * 300 + 10 * 900 },
    ]);
  });

  it('calls an agent, at the price of the model that responds for it', async () => {
    const path = '/v1/agents/completions';
    providers.answers(path, completion('mistral-small-latest', { content: 'Sunny.' }));
    const asked = { agentId: 'ag_1', messages: MESSAGES };
    const answered = await client().agents.complete(asked, options());

    expect(answered.choices[0]?.message?.content).toBe('Sunny.');
    await providers.checkRows([
      { provider: 'mistral-ai', path, input: 100, output: 10, costNanoUsd: 100 * 100 + 10 * 300 },
    ]);
  });

  it('embeds, moderates and reads documents', async () => {
    providers.answers('/v1/embeddings', {
      id: 'e-1',
      object: 'list',
      model: 'mistral-embed',
      data: [{ object: 'embedding', index: 0, embedding: [0.25, -0.5] }],
      usage: { prompt_tokens: 50, completion_tokens: 0, total_tokens: 50 },
    });
    const categories = { violence_and_threats: true };
    providers.answers('/v1/moderations', {
      id: 'm-1',
      model: 'mistral-moderation-latest',
      results: [{ categories }],
    });
    const page = { index: 0, markdown: '# Tides', images: [], dimensions: null };
    providers.answers('/v1/ocr', {
      pages: [page],
      model: 'mistral-ocr-latest',
      usage_info: { pages_processed: 1 },
    });
    const embedded = await client().embeddings.create(
      { model: 'mistral-embed', inputs: ['tides'] },
      options(),
    );
    const asked = { model: 'mistral-moderation-latest', inputs: 'a fight' };
    const moderated = await client().classifiers.moderate(asked, options());
    const document = { type: 'document_url' as const, documentUrl: 'https://example.com/tides.pdf' };
    const read = await client().ocr.process({ model: 'mistral-ocr-latest', document }, options());

    expect(embedded.data[0]?.embedding).toEqual([0.25, -0.5]);
    expect(moderated.results[0]?.categories).toEqual(categories);
    expect(read.pages[0]?.markdown).toBe('# Tides');
    await providers.checkRows([
      { provider: 'mistral-ai', path: '/v1/embeddings', input: 50, output: 0, costNanoUsd: 50 * 100 },
      // A page of `mistral-ocr-latest`.
      { provider: 'mistral-ai', path: '/v1/ocr', input: 0, output: 0, costNanoUsd: 4_000_000 },
    ]);
  });

  it('transcribes, keeps files and runs batches', async () => {
    const file = {
      id: '7c1f0ac4-0f0e-4c6e-9f0a-3c1b8a6f1d11',
      object: 'file',
      bytes: 3,
      created_at: 1,
      filename: 'in.jsonl',
    };
    providers.answers('/v1/files', {
      ...file,
      purpose: 'batch',
      sample_type: 'batch_request',
      source: 'upload',
    });
    providers.answers('/v1/audio/transcriptions', {
      model: 'voxtral-mini-latest',
      text: 'Hello.',
      language: 'en',
      usage: {},
    });
    providers.answers('/v1/batch/jobs', {
      id: 'b-1',
      object: 'batch',
      input_files: [file.id],
      endpoint: '/v1/chat/completions',
      errors: [],
      status: 'QUEUED',
      created_at: 1,
      total_requests: 1,
      completed_requests: 0,
      succeeded_requests: 0,
      failed_requests: 0,
    });
    const { files, audio, batch } = client();
    const fileName = 'in.jsonl';
    const kept = await files.upload(
      { file: { fileName, content: Buffer.from('{}\n') }, purpose: 'batch' },
      options(),
    );
    const heard = await audio.transcriptions.complete(
      { model: 'voxtral-mini-latest', file: { fileName: 'a.wav', content: SOUND } },
      options(),
    );
    expect(providers.world.upstream.ledger.at(-1)?.body.includes(SOUND)).toBe(true);
    const jobs = { inputFiles: [kept.id], endpoint: '/v1/chat/completions' as const };
    const job = await batch.jobs.create(jobs, options());

    expect([kept.filename, heard.text, job.status]).toEqual(['in.jsonl', 'Hello.', 'QUEUED']);
  });
});

describe("Groq's client", () => {
  const client = (name = 'groq') =>
    new Groq({
      apiKey: 'unused',
      baseURL: providers.base,
      maxRetries: 0,
      defaultHeaders: providers.headersFor(name),
    });

  it('calls a tool', async () => {
    const model = 'llama-3.3-70b-versatile';
    providers.answers('/openai/v1/chat/completions', completion(model, { tool_calls: [CALL] }));
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: PARAMETERS } }];
    const { choices } = await client('scripted groq').chat.completions.create({
      model,
      messages: MESSAGES,
      tools,
    });

    expect(choices[0]?.message.tool_calls?.[0]?.function.name).toBe('weather');
    const costNanoUsd = 100 * 590 + 10 * 790;
    const path = '/v1/openai/v1/chat/completions';
    await providers.checkRows([{ provider: 'groq', path, input: 100, output: 10, costNanoUsd }]);
  });

  it('speaks, transcribes, and translates to English', async () => {
    const { audio } = client();
    const said = await audio.speech.create({ model: 'playai-tts', voice: 'Fritz-PlayAI', input: 'Hello.' });
    const heard = await audio.transcriptions.create({ model: 'whisper-large-v3', file: await wav() });
    const english = await audio.translations.create({ model: 'whisper-large-v3', file: await wav() });

    expect(Buffer.from(await said.arrayBuffer()).equals(SOUND)).toBe(true);
    expect([heard.text, english.text]).toEqual(['Hello.', 'Good day.']);
  });

  it('keeps files, runs batches and lists models', async () => {
    const { files, batches } = client();
    const file = await toFile(Buffer.from('{"custom_id":"a"}\n'), 'in.jsonl');
    const { id: input_file_id } = await files.create({ file, purpose: 'batch' });
    const endpoint = '/v1/chat/completions' as const;
    const batch = await batches.create({
      input_file_id: input_file_id ?? '',
      endpoint,
      completion_window: '24h',
    });
    providers.answers('/openai/v1/models', { object: 'list', data: [{ id: 'llama-3.3-70b-versatile' }] });

    expect((await batches.retrieve(batch.id)).id).toBe(batch.id);
    expect((await client('scripted groq').models.list()).data[0]?.id).toBe('llama-3.3-70b-versatile');
  });
});

describe("Together's client", () => {
  const model = 'meta-llama/Llama-3.3-70B-Instruct-Turbo';
  const client = (name = 'scripted together-ai') =>
    new Together({
      apiKey: 'unused',
      baseURL: providers.base,
      maxRetries: 0,
      defaultHeaders: providers.headersFor(name),
    });

  it('calls a tool, and gets a stream', async () => {
    providers.answers('/v1/chat/completions', completion(model, { tool_calls: [CALL] }));
    const tools = [{ type: 'function', function: { name: 'weather', parameters: PARAMETERS } }];
    const { choices } = await client().chat.completions.create({ model, messages: MESSAGES, tools });
    expect(choices[0]?.message?.tool_calls?.[0]?.function.name).toBe('weather');
    const costNanoUsd = 110 * 880;
    const path = '/v1/chat/completions';
    await providers.checkRows([{ provider: 'together-ai', path, input: 100, output: 10, costNanoUsd }]);

    const delta = (content: string) => ({ model, choices: [{ index: 0, delta: { content } }] });
    providers.streams('/v1/chat/completions', [
      delta('Sun'),
      delta('ny.'),
      { model, choices: [], usage: USAGE },
      '[DONE]',
    ]);
    let text = '';
    for await (const chunk of await client().chat.completions.create({
      model,
      messages: MESSAGES,
      stream: true,
    }))
      text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('Sunny.');
  });

  it('embeds, ranks, draws, and keeps files', async () => {
    providers.answers('/v1/embeddings', {
      object: 'list',
      model: 'e',
      data: [{ index: 0, object: 'embedding', embedding: [0.25] }],
    });
    providers.answers('/v1/rerank', {
      object: 'rerank',
      model: 'r',
      results: [{ index: 1, relevance_score: 0.9 }],
    });
    providers.answers('/v1/images/generations', {
      id: 'i-1',
      object: 'list',
      model: 'f',
      data: [{ index: 0, b64_json: 'AAAA' }],
    });
    providers.answers('/v1/files', { data: [{ id: 'file-1', filename: 'in.jsonl' }] });
    const { embeddings, rerank, images, files } = client();
    const embedded = await embeddings.create({ model: 'BAAI/bge-large-en-v1.5', input: 'tides' });
    const asked = {
      model: 'Salesforce/Llama-Rank-V1',
      query: 'capital of France',
      documents: ['Rome', 'Paris'],
    };
    const ranked = await rerank.create(asked);
    expect(providers.lastAsked()).toEqual(asked);
    const drawn = await images.generate({
      model: 'black-forest-labs/FLUX.1-schnell',
      prompt: 'a lighthouse',
    });

    expect(embedded.data[0]?.embedding).toEqual([0.25]);
    expect(ranked.results[0]).toMatchObject({ index: 1, relevance_score: 0.9 });
    expect(drawn.data[0]).toMatchObject({ b64_json: 'AAAA' });
    expect((await files.list()).data[0]?.id).toBe('file-1');
  });

  it('speaks and transcribes', async () => {
    const { audio } = client('together-ai');
    const said = await audio.speech.create({
      model: 'cartesia/sonic',
      voice: 'laidback woman',
      input: 'Hello.',
    });
    const heard = await audio.transcriptions.create({ model: 'openai/whisper-large-v3', file: await wav() });

    expect(Buffer.from(await said.arrayBuffer()).equals(SOUND)).toBe(true);
    expect(heard).toMatchObject({ text: 'Hello.' });
  });
});
