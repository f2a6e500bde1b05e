import { inHeader } from '../auth-scheme.js';
import type { Provider } from '../provider.js';
import { deepgram } from '../dialects/deepgram/index.js';
import { elevenLabs } from '../dialects/elevenlabs/index.js';
import { stability } from '../dialects/stability.js';
import { compatible, optional, passedThrough, translated } from './compatible.js';

/** Images, audio, video and 3D. Most have an API of their own, which passes through. */
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
    unverified: 'Paths, fields and responses are verified against copies of its specification.',
  }),
  passedThrough({
    id: 'segmind',
    name: 'Segmind',
    baseUrl: 'https://api.segmind.com/{segmind-api-version}',
    auth: inHeader('x-api-key'),
    fields: [
      optional({
        name: 'segmind-api-version',
        title: 'Version of the API: models that take longer than a minute are in v2',
        default: 'v1',
        pattern: /^v\d$/,
        example: 'v2',
      }),
    ],
    pricesId: null,
    source: 'https://docs.segmind.com/docs/serverless-api',
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
    baseUrl: 'https://fal.run',
    auth: inHeader('authorization', 'Key'),
    pricesId: null,
    source: 'https://docs.fal.ai/documentation/model-apis/authentication',
  }),
  passedThrough({
    id: 'fal-ai-queue',
    name: 'fal, its queue',
    baseUrl: 'https://queue.fal.run',
    auth: inHeader('authorization', 'Key'),
    pricesId: null,
    source: 'https://fal.ai/docs/documentation/model-apis/inference/queue.md',
  }),
  passedThrough({
    id: 'black-forest-labs',
    name: 'Black Forest Labs',
    // Europe and the United States have separate hosts, https://api.eu.bfl.ai and https://api.us.bfl.ai.
    baseUrl: 'https://api.bfl.ai/v1',
    auth: inHeader('x-key'),
    pricesId: null,
    source: 'https://github.com/black-forest-labs/skills/blob/main/skills/bfl-api/references/endpoints.md',
  }),
  passedThrough({
    id: 'runway',
    name: 'Runway',
    baseUrl: 'https://api.dev.runwayml.com/v1',
    accountHeaders: [{ field: 'runway-version', header: 'x-runway-version' }],
    pricesId: null,
    source: 'https://github.com/runwayml/sdk-python/blob/main/src/runwayml/_client.py',
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
  }),
  passedThrough({
    id: 'meshy',
    name: 'Meshy',
    baseUrl: 'https://api.meshy.ai/openapi/{meshy-api-version}',
    fields: [
      optional({
        name: 'meshy-api-version',
        title: 'Version of the API: texts become models in v2',
        default: 'v1',
        pattern: /^v\d$/,
        example: 'v2',
      }),
    ],
    pricesId: null,
    source: 'https://docs.meshy.ai/api/quick-start',
  }),
  passedThrough({
    id: 'tripo3d',
    name: 'Tripo3D',
    baseUrl: 'https://api.tripo3d.ai/v2/openapi',
    pricesId: null,
    source: 'https://github.com/VAST-AI-Research/tripo-python-sdk/blob/master/tripo3d/client.py',
  }),
  passedThrough({
    id: 'assemblyai',
    name: 'AssemblyAI',
    baseUrl: 'https://api.assemblyai.com',
    auth: inHeader('authorization'),
    pricesId: null,
    source: 'https://assemblyai.com/docs/walkthroughs',
  }),
  passedThrough({
    id: 'assemblyai-eu',
    name: 'AssemblyAI (Europe)',
    baseUrl: 'https://api.eu.assemblyai.com',
    auth: inHeader('authorization'),
    pricesId: null,
    source: 'https://assemblyai.com/docs/walkthroughs',
  }),
];
