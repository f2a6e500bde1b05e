import type { Dialect } from '../../dialect.js';
import { embeddings } from './embeddings.js';
import { imageGenerations } from './images.js';
import { transcriptions } from './transcriptions.js';

/**
 * Hugging Face. Chat has OpenAI's format below the base URL; other tasks go to its own provider, HF Inference, beside it.
 * https://huggingface.co/docs/inference-providers/providers/hf-inference
 */
export const huggingFace: Dialect = {
  id: 'huggingface',
  translators: { embeddings, 'image-generations': imageGenerations, transcriptions },
};
