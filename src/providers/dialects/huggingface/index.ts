import type { Dialect } from '../../dialect.js';
import { huggingFaceEmbeddings } from './embeddings.js';
import { huggingFaceImages } from './images.js';
import { huggingFaceTranscriptions } from './transcriptions.js';

/**
 * Hugging Face. Chat has OpenAI's format below the base URL; other tasks go to its own provider, HF Inference, beside it.
 * https://huggingface.co/docs/inference-providers/providers/hf-inference
 */
export const huggingFace: Dialect = {
  id: 'huggingface',
  translators: {
    embeddings: huggingFaceEmbeddings,
    'image-generations': huggingFaceImages,
    transcriptions: huggingFaceTranscriptions,
  },
};
