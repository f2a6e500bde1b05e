import type { Dialect } from '../../dialect.js';
import { elevenLabsSpeech } from './speech.js';
import { elevenLabsTranscriptions } from './transcriptions.js';

/** ElevenLabs. The base URL is `https://api.elevenlabs.io/v1`. https://elevenlabs.io/docs/api-reference/introduction */
export const elevenLabs: Dialect = {
  id: 'elevenlabs',
  translators: { speech: elevenLabsSpeech, transcriptions: elevenLabsTranscriptions },
};
