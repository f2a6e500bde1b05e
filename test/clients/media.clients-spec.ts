import { randomBytes } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { World } from '../support/world.js';

/** OpenAI's client, unmodified, against providers of sound and pictures that have words of their own. */
const SOUND = randomBytes(20_000);
const PIXELS = randomBytes(3_000);

let world: World;
const slugs = new Map<string, string>();

beforeAll(async () => {
  world = await World.create('media');
  for (const [provider, base] of [
    ['elevenlabs', '/v1'],
    ['deepgram', '/v1'],
    ['stability-ai', ''],
  ] as const)
    slugs.set(
      provider,
      await world.administration.createVirtualKey({
        name: `${provider}-${randomBytes(4).toString('hex')}`,
        provider,
        secret: world.providerSecret,
        customHost: `${world.upstream.url}${base}`,
      }),
    );
});
afterAll(() => world.close());

const client = (provider: string) =>
  new OpenAI({
    apiKey: 'unused',
    baseURL: `${world.service.baseUrl}/v1`,
    maxRetries: 0,
    defaultHeaders: {
      'x-gateway-api-key': world.apiKey.key,
      'x-gateway-virtual-key': slugs.get(provider) ?? '',
    },
  });
const answers = (path: string, body: object): void => {
  world.upstream.on(path, { headers: [['content-type', 'application/json']], body: JSON.stringify(body) });
};

describe("OpenAI's client", () => {
  it.each([
    ['elevenlabs', '/v1/text-to-speech/v1', 'eleven_turbo_v2_5', 'v1'],
    ['deepgram', '/v1/speak', 'aura-2', 'thalia'],
  ])('receives speech of %s', async (provider, path, model, voice) => {
    world.upstream.on(path, { headers: [['content-type', 'audio/mpeg']], body: SOUND });
    const said = await client(provider).audio.speech.create({ model, voice, input: 'Hello' });

    expect(Buffer.from(await said.arrayBuffer()).equals(SOUND)).toBe(true);
  });

  it('gets a transcription with times from Deepgram', async () => {
    const words = [{ word: 'hello', punctuated_word: 'Hello.', start: 0.1, end: 0.5 }];
    answers('/v1/listen', {
      metadata: { duration: 2 },
      results: { channels: [{ alternatives: [{ transcript: 'Hello.', words }] }] },
    });
    const heard = await client('deepgram').audio.transcriptions.create({
      file: await toFile(SOUND, 'a.mp3', { type: 'audio/mpeg' }),
      model: 'nova-3',
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
    });

    expect(heard).toMatchObject({
      text: 'Hello.',
      duration: 2,
      words: [{ word: 'Hello.', start: 0.1, end: 0.5 }],
    });
    expect(world.upstream.ledger.at(-1)?.body.equals(SOUND)).toBe(true);
  });

  it('gets a transcription as subtitles from ElevenLabs', async () => {
    answers('/v1/speech-to-text', { text: 'Hi', words: [{ text: 'Hi', start: 0, end: 0.4, type: 'word' }] });
    const heard = await client('elevenlabs').audio.transcriptions.create({
      file: await toFile(SOUND, 'a.mp3', { type: 'audio/mpeg' }),
      model: 'scribe_v1',
      response_format: 'srt',
    });

    expect(heard).toBe('1\n00:00:00,000 --> 00:00:00,400\nHi\n');
  });

  it('gets images of Stability AI, new ones and edited ones', async () => {
    const told = { image: PIXELS.toString('base64'), finish_reason: 'SUCCESS', seed: 1 };
    answers('/v2beta/stable-image/generate/core', told);
    answers('/v2beta/stable-image/edit/inpaint', told);
    const pictures = client('stability-ai').images;
    const made = await pictures.generate({ model: 'stable-image-core', prompt: 'a lighthouse' });
    const changed = await pictures.edit({
      model: 'inpaint',
      image: await toFile(PIXELS, 'a.png', { type: 'image/png' }),
      prompt: 'at night',
    });

    for (const { data } of [made, changed])
      expect(Buffer.from(data?.[0]?.b64_json ?? '', 'base64').equals(PIXELS)).toBe(true);
    expect(world.upstream.ledger.at(-1)?.body.includes(PIXELS)).toBe(true);
  });

  it('reads a refusal as its own', async () => {
    world.upstream.on('/v1/speak', {
      status: 429,
      headers: [['content-type', 'application/json']],
      body: '{"err_code":"TOO_MANY_REQUESTS","err_msg":"Too many requests."}',
    });
    const asked = client('deepgram').audio.speech.create({
      model: 'aura-2',
      voice: 'thalia',
      input: 'Hello',
    });

    await expect(asked).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  });
});
