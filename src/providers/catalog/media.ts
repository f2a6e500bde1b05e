import { inHeader } from '../auth-scheme.js';
import type { Provider } from '../provider.js';
import { deepgram } from '../dialects/deepgram/index.js';
import { elevenLabs } from '../dialects/elevenlabs/index.js';
import { stability } from '../dialects/stability/index.js';
import { compatible, passedThrough, translated } from './compatible.js';

/** Images, sound, video and 3D. Most have an API of their own, which passes through. */
export const media: readonly Provider[] = [
  compatible({
    id: 'recraft-ai',
    name: 'Recraft',
    baseUrl: 'https://external.api.recraft.ai/v1',
    endpoints: ['image-generations'],
    pricesId: null,
    source: 'https://www.recraft.ai/docs/api-reference/clients',
  }),
  translated({
    id: 'stability-ai',
    name: 'Stability AI',
    baseUrl: 'https://api.stability.ai',
    dialect: stability,
    accountHeaders: [
      { field: 'stability-client-id', header: 'stability-client-id' },
      { field: 'stability-client-user-id', header: 'stability-client-user-id' },
      { field: 'stability-client-version', header: 'stability-client-version' },
    ],
    pricesId: null,
    source: 'https://platform.stability.ai/docs/api-reference',
    unverified: 'Paths, fields and answers were read in copies of its specification.',
  }),
  passedThrough({
    id: 'segmind',
    name: 'Segmind',
    baseUrl: 'https://api.segmind.com/v1',
    auth: inHeader('x-api-key'),
    pricesId: null,
    source: 'https://docs.segmind.com/docs/serverless-api',
    unverified: 'Models that take longer than a minute are below /v2, which needs a custom host.',
  }),
  passedThrough({
    id: 'replicate',
    name: 'Replicate',
    baseUrl: 'https://api.replicate.com/v1',
    pricesId: null,
    source: 'https://replicate.com/docs/reference/http',
  }),
  passedThrough({
    id: 'fal-ai',
    name: 'fal',
    // The queue has a host of its own, https://queue.fal.run.
    baseUrl: 'https://fal.run',
    auth: inHeader('authorization', 'Key'),
    pricesId: null,
    source: 'https://docs.fal.ai/documentation/model-apis/authentication',
    unverified: 'Its queue is at https://queue.fal.run, which needs a custom host.',
  }),
  translated({
    id: 'deepgram',
    name: 'Deepgram',
    baseUrl: 'https://api.deepgram.com/v1',
    dialect: deepgram,
    auth: inHeader('authorization', 'Token'),
    pricesId: null,
    source: 'https://developers.deepgram.com/reference/authentication',
  }),
  translated({
    id: 'elevenlabs',
    name: 'ElevenLabs',
    baseUrl: 'https://api.elevenlabs.io/v1',
    dialect: elevenLabs,
    auth: inHeader('xi-api-key'),
    pricesId: null,
    source:
      'https://github.com/elevenlabs/elevenlabs-python/blob/main/src/elevenlabs/speech_to_text/raw_client.py',
    unverified: 'The formats of speech were read at services that resell it.',
  }),
  passedThrough({
    id: 'meshy',
    name: 'Meshy',
    baseUrl: 'https://api.meshy.ai/openapi/v1',
    pricesId: null,
    source: 'https://docs.meshy.ai/api/quick-start',
    unverified: 'Texts become models below /openapi/v2, which needs a custom host.',
  }),
  passedThrough({
    id: 'tripo3d',
    name: 'Tripo3D',
    baseUrl: 'https://api.tripo3d.ai/v2/openapi',
    pricesId: null,
    source: 'https://platform.tripo3d.ai/docs',
    unverified: 'Base URL and authentication were read in a guide of others.',
  }),
  passedThrough({
    id: 'assemblyai',
    name: 'AssemblyAI',
    // Europe has a host of its own, https://api.eu.assemblyai.com, which a custom host names.
    baseUrl: 'https://api.assemblyai.com',
    auth: inHeader('authorization'),
    pricesId: null,
    source: 'https://assemblyai.com/docs/walkthroughs',
  }),
];
