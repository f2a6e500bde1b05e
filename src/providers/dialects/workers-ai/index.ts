import type { Dialect } from '../../dialect.js';
import { workersImages } from './images.js';
import { rerank } from './rerank.js';
import { workersSpeech } from './speech.js';
import { workersTranscriptions, translations } from './transcriptions.js';

/**
 * Workers AI. Chat and embeddings have OpenAI's format below the base URL; every other model is beside it, at `/ai/run/<model>`.
 * https://developers.cloudflare.com/workers-ai/get-started/rest-api/
 */
export const workersAi: Dialect = {
  id: 'workers-ai',
  translators: {
    'image-generations': workersImages,
    speech: workersSpeech,
    transcriptions: workersTranscriptions,
    translations,
    rerank,
  },
};
