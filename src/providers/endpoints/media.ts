import type { UsageReader } from '../endpoint.js';
import { textOrNull } from './reading.js';
import { tokenUsageOf } from './openai-usage.js';

/**
 * Reads the usage of images and transcriptions, in the answer or in the last event of a stream
 * (`image_generation.completed`, `image_edit.completed`, `transcript.text.done`). Nothing of them can be counted as text
 * where a provider tells none. Tokens of images are part of the totals.
 * https://github.com/openai/openai-node/blob/master/src/resources/images.ts
 * https://github.com/openai/openai-node/blob/master/src/resources/audio/transcriptions.ts
 */
export const mediaUsage: UsageReader = {
  fromAnswer: ({ usage }) => tokenUsageOf(usage),
  modelOf: ({ model }) => textOrNull(model),
  outputText: () => '',
  inputText: () => '',
};
