import type { Dialect } from '../../dialect.js';
import { imageEdits, imageGenerations } from './images.js';

/** Stability AI. The base URL is `https://api.stability.ai`. https://platform.stability.ai/docs/api-reference */
export const stability: Dialect = {
  id: 'stability',
  translators: { 'image-generations': imageGenerations, 'image-edits': imageEdits },
};
