import type { Dialect } from '../../dialect.js';
import { deepgramSpeech } from './speech.js';
import { deepgramTranscriptions } from './transcriptions.js';

/** Deepgram. The base URL is `https://api.deepgram.com/v1`. https://developers.deepgram.com/reference */
export const deepgram: Dialect = {
  id: 'deepgram',
  translators: { speech: deepgramSpeech, transcriptions: deepgramTranscriptions },
};
