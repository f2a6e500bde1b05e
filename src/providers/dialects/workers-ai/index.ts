import type { Dialect } from '../../dialect.js';
import { imageGenerations } from './images.js';
import { rerank } from './rerank.js';
import { speech } from './speech.js';
import { transcriptions, translations } from './transcriptions.js';

/**
 * Workers AI. Chat and embeddings have OpenAI's format below the base URL; every other model is beside it, at `/ai/run/<model>`.
 * https://developers.cloudflare.com/workers-ai/get-started/rest-api/
 */
export const workersAi: Dialect = {
  id: 'workers-ai',
  translators: { 'image-generations': imageGenerations, speech, transcriptions, translations, rerank },
};
