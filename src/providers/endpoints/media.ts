import type { Usage } from '../../common/contracts/usage.js';
import type { Json, UsageReader } from '../endpoint.js';
import { textOrNull } from './reading.js';
import { durationUsage, tokenUsageOf, openaiUsage } from './openai-usage.js';

/**
 * Reads the usage of images and transcriptions, in the response or in the last event of a stream (`image_generation.completed`,
 * `image_edit.completed`, `transcript.text.done`). If a provider reports none, there is no text to count. Tokens of images are part of the
 * totals. https://github.com/openai/openai-node/blob/master/src/resources/images.ts
 * https://github.com/openai/openai-node/blob/master/src/resources/audio/transcriptions.ts
 */
export const mediaUsage: UsageReader = {
  fromAnswer: (answer) => tokenUsageOf(answer.usage) ?? openaiUsage(answer.usage) ?? transcriptUsage(answer),
  modelOf: ({ model }) => textOrNull(model),
  outputText: () => '',
  passingText: () => '',
  inputText: () => '',
};

/**
 * A `verbose_json` transcript has the duration of the audio. Groq charges that duration and reports no usage.
 * https://console.groq.com/docs/speech-to-text
 */
const transcriptUsage = ({ text, duration }: Json): Usage | null =>
  typeof text === 'string' ? durationUsage(duration) : null;
