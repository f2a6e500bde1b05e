import type { Dialect } from '../../dialect.js';
import { speech } from './speech.js';
import { transcriptions } from './transcriptions.js';

/** ElevenLabs. The base URL is `https://api.elevenlabs.io/v1`. https://elevenlabs.io/docs/api-reference/introduction */
export const elevenLabs: Dialect = {
  id: 'elevenlabs',
  translators: { speech, transcriptions },
};
