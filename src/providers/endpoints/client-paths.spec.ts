import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import type { EndpointId } from '../endpoint.js';
import { findProvider } from '../catalog/registry.js';
import { findEndpointRow } from './index.js';
import { supportOf } from '../support.js';

const BASE = 'http://gateway.invalid/v1';

/** The request of OpenAI's own client for a call, as method and path below `/v1`. */
async function sentBy(call: (client: OpenAI, file: File) => PromiseLike<unknown>): Promise<[string, string]> {
  let sent: [string, string] = ['', ''];
  const client = new OpenAI({
    apiKey: 'canary',
    baseURL: BASE,
    maxRetries: 0,
    fetch: (url, init) => {
      const { pathname } = new URL(url instanceof Request ? url.url : url);
      sent = [init?.method?.toUpperCase() ?? 'GET', pathname.slice('/v1'.length)];
      return Promise.resolve(
        new Response('{"data":[],"has_more":false}', { headers: { 'content-type': 'application/json' } }),
      );
    },
  });
  await call(client, await toFile(Buffer.from('x'), 'x.png'));
  return sent;
}

const messages = [{ role: 'user' as const, content: 'hi' }];

const calls: readonly [EndpointId, (client: OpenAI, file: File) => PromiseLike<unknown>][] = [
  ['chat-completions', (c) => c.chat.completions.create({ model: 'm', messages })],
  ['completions', (c) => c.completions.create({ model: 'm', prompt: 'hi' })],
  ['responses', (c) => c.responses.create({ model: 'm', input: 'hi' })],
  ['responses', (c) => c.responses.retrieve('resp_1')],
  ['responses', (c) => c.responses.delete('resp_1')],
  ['responses', (c) => c.responses.cancel('resp_1')],
  ['responses', (c) => c.responses.inputItems.list('resp_1')],
  ['embeddings', (c) => c.embeddings.create({ model: 'm', input: 'hi' })],
  ['moderations', (c) => c.moderations.create({ input: 'hi' })],
  ['image-generations', (c) => c.images.generate({ prompt: 'hi' })],
  ['image-edits', (c, image) => c.images.edit({ image, prompt: 'hi' })],
  ['image-variations', (c, image) => c.images.createVariation({ image })],
  ['speech', (c) => c.audio.speech.create({ model: 'm', voice: 'alloy', input: 'hi' })],
  ['transcriptions', (c, file) => c.audio.transcriptions.create({ model: 'm', file })],
  ['translations', (c, file) => c.audio.translations.create({ model: 'm', file })],
  ['files', (c, file) => c.files.create({ file, purpose: 'batch' })],
  ['files', (c) => c.files.list()],
  ['files', (c) => c.files.retrieve('file-1')],
  ['files', (c) => c.files.content('file-1')],
  ['files', (c) => c.files.delete('file-1')],
  [
    'batches',
    (c) => c.batches.create({ input_file_id: 'f', endpoint: '/v1/embeddings', completion_window: '24h' }),
  ],
  ['batches', (c) => c.batches.list()],
  ['batches', (c) => c.batches.retrieve('batch_1')],
  ['batches', (c) => c.batches.cancel('batch_1')],
  ['fine-tuning', (c) => c.fineTuning.jobs.create({ model: 'm', training_file: 'f' })],
  ['fine-tuning', (c) => c.fineTuning.jobs.list()],
  ['fine-tuning', (c) => c.fineTuning.jobs.retrieve('ftjob-1')],
  ['fine-tuning', (c) => c.fineTuning.jobs.cancel('ftjob-1')],
  ['fine-tuning', (c) => c.fineTuning.jobs.pause('ftjob-1')],
  ['fine-tuning', (c) => c.fineTuning.jobs.resume('ftjob-1')],
  ['fine-tuning', (c) => c.fineTuning.jobs.listEvents('ftjob-1')],
  ['fine-tuning', (c) => c.fineTuning.jobs.checkpoints.list('ftjob-1')],
  ['vector-stores', (c) => c.vectorStores.create({})],
  ['vector-stores', (c) => c.vectorStores.list()],
  ['vector-stores', (c) => c.vectorStores.retrieve('vs_1')],
  ['vector-stores', (c) => c.vectorStores.update('vs_1', {})],
  ['vector-stores', (c) => c.vectorStores.delete('vs_1')],
  ['vector-stores', (c) => c.vectorStores.search('vs_1', { query: 'hi' })],
  ['vector-stores', (c) => c.vectorStores.files.create('vs_1', { file_id: 'f' })],
  ['vector-stores', (c) => c.vectorStores.files.list('vs_1')],
  ['vector-stores', (c) => c.vectorStores.files.retrieve('f', { vector_store_id: 'vs_1' })],
  ['vector-stores', (c) => c.vectorStores.files.update('f', { vector_store_id: 'vs_1', attributes: {} })],
  ['vector-stores', (c) => c.vectorStores.files.delete('f', { vector_store_id: 'vs_1' })],
  ['vector-stores', (c) => c.vectorStores.files.content('f', { vector_store_id: 'vs_1' })],
  ['vector-stores', (c) => c.vectorStores.fileBatches.create('vs_1', { file_ids: ['f'] })],
  ['vector-stores', (c) => c.vectorStores.fileBatches.retrieve('b', { vector_store_id: 'vs_1' })],
  ['vector-stores', (c) => c.vectorStores.fileBatches.cancel('b', { vector_store_id: 'vs_1' })],
  ['vector-stores', (c) => c.vectorStores.fileBatches.listFiles('b', { vector_store_id: 'vs_1' })],
  ['realtime', (c) => c.realtime.clientSecrets.create({})],
  ['realtime', (c) => c.realtime.calls.accept('rtc_1', { type: 'realtime' })],
  ['realtime', (c) => c.realtime.calls.hangup('rtc_1')],
  ['realtime', (c) => c.realtime.calls.refer('rtc_1', { target_uri: 'tel:+1' })],
  ['realtime', (c) => c.realtime.calls.reject('rtc_1')],
  ['models', (c) => c.models.list()],
  ['models', (c) => c.models.retrieve('ft:gpt-4o:org::7p4lURel')],
  ['models', (c) => c.models.delete('ft:gpt-4o:org::7p4lURel')],
];

describe("the paths of OpenAI's own client", () => {
  it.each(calls)('are those of %s: %s', async (id, call) => {
    const [method, path] = await sentBy(call);

    expect([method, path, findEndpointRow(method, path)?.id]).toEqual([method, path, id]);
  });
});

/** Requests of other providers' own clients below `/v1`, read in their sources; null passes through unread. */
const OTHERS: readonly (readonly [provider: string, method: string, path: string, id: EndpointId | null])[] =
  [
    ['anthropic', 'POST', '/messages', 'messages'],
    ['anthropic', 'POST', '/messages/count_tokens', 'count-tokens'],
    ['anthropic', 'POST', '/messages/batches', null],
    ['anthropic', 'GET', '/messages/batches/msgbatch_1/results', null],
    ['anthropic', 'POST', '/files', 'files'],
    ['anthropic', 'GET', '/models/claude-sonnet-4-5', 'models'],
    ['cohere', 'POST', '/v2/chat', 'chat-v2'],
    ['cohere', 'POST', '/v2/embed', 'embed-v2'],
    ['cohere', 'POST', '/v2/rerank', 'rerank-v2'],
    // The first version is still served; Cohere's later pages describe the migration: https://docs.cohere.com/docs/migrating-v1-to-v2
    ['cohere', 'POST', '/v1/chat', null],
    ['cohere', 'POST', '/v1/embed', null],
    ['cohere', 'POST', '/v1/rerank', null],
    ['cohere', 'POST', '/v1/tokenize', null],
    ['mistral-ai', 'POST', '/chat/completions', 'chat-completions'],
    ['mistral-ai', 'POST', '/fim/completions', 'fim-completions'],
    ['mistral-ai', 'POST', '/agents/completions', 'agent-completions'],
    // Mistral hosts the creation of agents and their conversations: https://docs.mistral.ai/agents/agents
    ['mistral-ai', 'POST', '/agents', null],
    ['mistral-ai', 'POST', '/conversations', null],
    ['mistral-ai', 'POST', '/embeddings', 'embeddings'],
    ['mistral-ai', 'POST', '/moderations', 'moderations'],
    ['mistral-ai', 'POST', '/audio/speech', 'speech'],
    ['mistral-ai', 'POST', '/audio/transcriptions', 'transcriptions'],
    ['mistral-ai', 'POST', '/ocr', 'ocr'],
    ['mistral-ai', 'POST', '/files', 'files'],
    ['mistral-ai', 'POST', '/batch/jobs', null],
    ['groq', 'POST', '/chat/completions', 'chat-completions'],
    ['groq', 'POST', '/embeddings', 'embeddings'],
    ['groq', 'POST', '/audio/speech', 'speech'],
    ['groq', 'POST', '/audio/transcriptions', 'transcriptions'],
    ['groq', 'POST', '/audio/translations', 'translations'],
    ['groq', 'POST', '/files', 'files'],
    ['groq', 'POST', '/batches', 'batches'],
    ['together-ai', 'POST', '/chat/completions', 'chat-completions'],
    ['together-ai', 'POST', '/completions', 'completions'],
    ['together-ai', 'POST', '/embeddings', 'embeddings'],
    ['together-ai', 'POST', '/rerank', 'rerank'],
    ['together-ai', 'POST', '/images/generations', 'image-generations'],
    ['together-ai', 'POST', '/audio/speech', 'speech'],
    ['together-ai', 'POST', '/audio/transcriptions', 'transcriptions'],
    ['together-ai', 'POST', '/files/upload', null],
    ['together-ai', 'GET', '/files/file-1/content', 'files'],
    ['together-ai', 'POST', '/fine-tunes', null],
  ];

it.each(OTHERS)('%s has what its own client requests by %s %s, so that it is never refused', (...row) => {
  const [provider, method, path, id] = row;
  const found = findEndpointRow(method, path);

  expect(found?.id ?? null).toBe(id);
  const isOpaque = found === null || (found.body === 'opaque' && found.usage === null);
  if (!isOpaque) expect(supportOf(findProvider(provider), found.id)).toBe('native');
});

describe("the paths of Google's own client", () => {
  /** How the client builds a URL: https://github.com/googleapis/js-genai/blob/main/src/_api_client.ts */
  const sent = (apiVersion: string, method: string): string =>
    ['', apiVersion, `models/gemini-2.5-pro:${method}`]
      .filter((part, at) => at === 0 || part !== '')
      .join('/');

  it.each(['v1beta', ''])('below the base URL of the gateway are known in version "%s"', (apiVersion) => {
    for (const method of ['generateContent', 'streamGenerateContent', 'countTokens'])
      expect(findEndpointRow('POST', sent(apiVersion, method))?.id).toBe('generate-content');
    for (const method of ['embedContent', 'batchEmbedContents'])
      expect(findEndpointRow('POST', sent(apiVersion, method))?.id).toBe('embed-content');
  });
});
