import type { Dialect } from '../../dialect.js';
import { speech } from './speech.js';
import { transcriptions } from './transcriptions.js';

/** Deepgram. The base URL is `https://api.deepgram.com/v1`. https://developers.deepgram.com/reference */
export const deepgram: Dialect = {
  id: 'deepgram',
  translators: { speech, transcriptions },
};
