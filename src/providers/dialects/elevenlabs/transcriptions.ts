import type { Json } from '../../endpoint.js';
import { isObject, list, textOrNull } from '../../endpoints/reading.js';
import { type Context, FormUpload, type ProviderRequest, type Translator } from '../../translation.js';
import { fileIn, NO_STREAMS, others, formPartsOf, withoutNulls } from '../asked-media.js';
import { because, refuseImpossible } from '../refusing.js';
import { elevenLabsError } from './errors.js';

const IMPOSSIBLE = new Map([
  ...NO_STREAMS,
  ['prompt', because('send ElevenLabs\' "keyterms" instead', '""')] as const,
]);

const READ: ReadonlySet<string> = new Set([
  ...IMPOSSIBLE.keys(),
  'model',
  'file',
  'language',
  'response_format',
  'timestamp_granularities',
]);

/** `diarize`, `num_speakers`, `keyterms` and others are passed on. https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
function request(hub: Json, { model }: Context): ProviderRequest {
  refuseImpossible(hub, IMPOSSIBLE);
  const fields = { model_id: model, language_code: textOrNull(hub.language), ...others(hub, READ) };
  return {
    path: '/speech-to-text',
    body: new FormUpload([...formPartsOf(fields), ['file', fileIn(hub, 'file')]]),
  };
}

function answer({ text, language_code: language, words, audio_duration_secs: duration }: Json): Json {
  const spoken = list(words).filter(isObject);
  const seconds = typeof duration === 'number' ? duration : null;
  return withoutNulls({
    text: textOrNull(text) ?? '',
    language: textOrNull(language),
    duration: seconds ?? spoken.at(-1)?.end,
    words: spoken
      .filter(({ type }) => type === 'word')
      .map(({ text: word, start, end }) => ({ word, start, end })),
    usage: seconds === null ? null : { type: 'duration', seconds },
  });
}

export const elevenLabsTranscriptions: Translator = { request, answer, error: elevenLabsError };
