import { randomBytes } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Providers } from './providers.js';

/** What OpenAI's own client offers besides chat, which `crosswise` has; realtime sessions are in `test/e2e`. */
const SOUND = randomBytes(20_000);
const PIXELS = randomBytes(3_000);

let providers: Providers;
beforeAll(async () => {
  providers = await Providers.create('openai', { openai: '/v1' }, { openai: '/v1' });
  providers.simulator
    .onImage(/./, { image: { b64Json: PIXELS.toString('base64') } })
    .onSpeech(/./, { audio: SOUND.toString('base64'), format: 'mp3' })
    .onTranscription({ transcription: { text: 'Hello.' } })
    .onTranslation({ transcription: { text: 'Good day.' } })
    .onModerate(/./, { flagged: true, categories: { violence: true } });
});
afterAll(() => providers.close());

const client = (name = 'openai') =>
  new OpenAI({
    apiKey: 'unused',
    baseURL: providers.base,
    maxRetries: 0,
    defaultHeaders: providers.headersFor(name),
  });
const scripted = () => client('scripted openai');
const answers = (path: string, body: object): void => providers.answers(`/v1${path}`, body);
const wav = () => toFile(SOUND, 'a.wav', { type: 'audio/wav' });
const png = () => toFile(PIXELS, 'a.png', { type: 'image/png' });

describe("OpenAI's client", () => {
  it('makes and edits images', async () => {
    const { images } = client();
    const made = await images.generate({ model: 'gpt-image-1', prompt: 'a lighthouse' });
    const edited = await images.edit({ model: 'gpt-image-1', image: await png(), prompt: 'at night' });

    for (const { data } of [made, edited])
      expect(Buffer.from(data?.[0]?.b64_json ?? '', 'base64').equals(PIXELS)).toBe(true);
  });

  it('speaks, transcribes in the spoken language, and translates to English', async () => {
    const { audio } = client();
    const said = await audio.speech.create({ model: 'gpt-4o-mini-tts', voice: 'alloy', input: 'Hello.' });
    const heard = await audio.transcriptions.create({ model: 'whisper-1', file: await wav() });
    const english = await audio.translations.create({ model: 'whisper-1', file: await wav() });

    expect(Buffer.from(await said.arrayBuffer()).equals(SOUND)).toBe(true);
    expect([heard.text, english.text]).toEqual(['Hello.', 'Good day.']);
  });

  it('has texts moderated', async () => {
    const { results } = await client().moderations.create({ input: 'a fight' });

    expect(results[0]).toMatchObject({ flagged: true, categories: { violence: true } });
  });

  it('keeps files, byte for byte', async () => {
    const { files } = client();
    const line = '{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{}}\n';
    const kept = await files.create({ file: await toFile(Buffer.from(line), 'in.jsonl'), purpose: 'batch' });
    const [listed, found] = [await files.list(), await files.retrieve(kept.id)];
    const content = await files.content(kept.id);

    expect(listed.data.map(({ id }) => id)).toContain(kept.id);
    expect([found.filename, found.bytes]).toEqual(['in.jsonl', line.length]);
    expect(await content.text()).toBe(line);
    expect(await files.delete(kept.id)).toMatchObject({ id: kept.id, deleted: true });
  });

  it('runs batches and tunes models', async () => {
    const { files, batches, fineTuning } = client();
    const file = await files.create({
      file: await toFile(Buffer.from('{}\n'), 'in.jsonl'),
      purpose: 'batch',
    });
    const endpoint = '/v1/chat/completions' as const;
    const batch = await batches.create({ input_file_id: file.id, endpoint, completion_window: '24h' });
    expect((await batches.retrieve(batch.id)).id).toBe(batch.id);
    expect((await batches.list()).data.map(({ id }) => id)).toContain(batch.id);

    const lines = Buffer.from('{"messages":[{"role":"user","content":"a"}]}\n');
    const training = await files.create({ file: await toFile(lines, 't.jsonl'), purpose: 'fine-tune' });
    const job = await fineTuning.jobs.create({ model: 'gpt-4o-mini-2024-07-18', training_file: training.id });
    expect((await fineTuning.jobs.retrieve(job.id)).id).toBe(job.id);
    expect((await fineTuning.jobs.listEvents(job.id)).data.length).toBeGreaterThan(0);
  });

  it('searches in vector stores', async () => {
    const store = { id: 'vs_1', object: 'vector_store', name: 'Notes' };
    const page = { object: 'list', data: [{ file_id: 'file-1', score: 0.9 }], has_more: false };
    answers('/vector_stores', store);
    answers('/vector_stores/vs_1/files', { id: 'file-1', object: 'vector_store.file' });
    answers('/vector_stores/vs_1/search', page);
    const { vectorStores } = scripted();

    expect((await vectorStores.create({ name: 'Notes' })).id).toBe('vs_1');
    expect(providers.lastAsked()).toEqual({ name: 'Notes' });
    expect((await vectorStores.files.create('vs_1', { file_id: 'file-1' })).id).toBe('file-1');
    const [hit] = (await vectorStores.search('vs_1', { query: 'tides' })).data;
    expect(hit).toMatchObject({ file_id: 'file-1', score: 0.9 });
  });

  it('uploads large files in parts, and reads stored responses', async () => {
    answers('/uploads', { id: 'upload_1', status: 'pending' });
    answers('/uploads/upload_1/parts', { id: 'part_1', upload_id: 'upload_1' });
    answers('/uploads/upload_1/complete', { id: 'upload_1', status: 'completed' });
    answers('/responses/resp_1', { id: 'resp_1', object: 'response', output: [] });
    const { uploads, responses } = scripted();
    const facts = {
      bytes: SOUND.length,
      filename: 'a.wav',
      mime_type: 'audio/wav',
      purpose: 'user_data' as const,
    };

    expect((await uploads.create(facts)).id).toBe('upload_1');
    expect((await uploads.parts.create('upload_1', { data: await wav() })).id).toBe('part_1');
    expect(providers.world.upstream.ledger.at(-1)?.body.includes(SOUND)).toBe(true);
    expect((await uploads.complete('upload_1', { part_ids: ['part_1'] })).status).toBe('completed');
    expect((await responses.retrieve('resp_1')).id).toBe('resp_1');
  });

  it('is metered wherever a response reports its cost', async () => {
    answers('/embeddings', {
      object: 'list',
      model: 'text-embedding-3-small',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage: { prompt_tokens: 100, total_tokens: 100 },
    });
    answers('/completions', {
      model: 'gpt-3.5-turbo-instruct',
      choices: [{ index: 0, text: 'yes' }],
      usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
    });
    answers('/images/generations', {
      data: [{ b64_json: 'AAAA' }],
      usage: {
        input_tokens: 50,
        output_tokens: 1_000,
        input_tokens_details: { text_tokens: 50, image_tokens: 0 },
      },
    });
    answers('/audio/transcriptions', {
      text: 'Hello.',
      usage: {
        type: 'tokens',
        input_tokens: 100,
        output_tokens: 10,
        input_token_details: { audio_tokens: 100 },
      },
    });
    const { embeddings, completions, images, audio } = scripted();
    const vector = await embeddings.create({
      model: 'text-embedding-3-small',
      input: 'a',
      encoding_format: 'float',
    });
    expect(vector.data[0]?.embedding).toEqual([0.5]);
    await completions.create({ model: 'gpt-3.5-turbo-instruct', prompt: 'a' });
    await images.generate({ model: 'gpt-image-1', prompt: 'a' });
    await audio.transcriptions.create({ model: 'gpt-4o-transcribe', file: await wav() });

    await providers.checkRows([
      { provider: 'openai', path: '/v1/embeddings', input: 100, output: 0, costNanoUsd: 2_000 },
      { provider: 'openai', path: '/v1/completions', input: 10, output: 2, costNanoUsd: 19_000 },
      // Rows of simulated pictures and transcripts, which tell no usage, stand beside these.
      {
        provider: 'openai',
        path: '/v1/images/generations',
        input: 50,
        output: 1_000,
        costNanoUsd: 50 * 5_000 + 1_000 * 40_000,
      },
      {
        provider: 'openai',
        path: '/v1/audio/transcriptions',
        input: 100,
        output: 10,
        costNanoUsd: 100 * 6_000 + 10 * 10_000,
      },
    ]);
  });
});
