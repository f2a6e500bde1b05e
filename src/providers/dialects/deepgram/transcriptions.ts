import type { Json } from '../../endpoint.js';
import { isObject, list, objectOf, textOrNull } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { fileIn, NO_STREAMS, others, withoutNulls, withQuery } from '../asked-media.js';
import { because, refuseImpossible } from '../refusing.js';
import { deepgramError } from './errors.js';

const IMPOSSIBLE = new Map([
  ...NO_STREAMS,
  ['prompt', because('send Deepgram\'s "keyterm" instead', '""')] as const,
  ['temperature', because('Deepgram has no sampling', '0', '"0"')] as const,
]);

const READ: ReadonlySet<string> = new Set([
  ...IMPOSSIBLE.keys(),
  'model',
  'file',
  'language',
  'response_format',
  'timestamp_granularities',
]);

/**
 * The file is the body. Without `smart_format`, Deepgram writes no punctuation, which the hub's transcripts have. `diarize`, `keyterm`,
 * `detect_language` and others are passed on; without a language, Deepgram assumes English.
 * https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded
 */
function request(hub: Json, { model }: Context): ProviderRequest {
  refuseImpossible(hub, IMPOSSIBLE);
  const query = { model, language: textOrNull(hub.language), smart_format: true, ...others(hub, READ) };
  return { path: withQuery('/listen', query), body: fileIn(hub, 'file') };
}

/** Channels are listed one after the other. Never throws. https://developers.deepgram.com/docs/pre-recorded-audio */
export function transcript({ metadata, results }: Json): Json {
  const channels = list(objectOf(results).channels).filter(isObject);
  const transcripts = channels.map(({ alternatives }) => objectOf(list(alternatives)[0]));
  const { duration } = objectOf(metadata);
  return withoutNulls({
    text: transcripts.map(({ transcript: text }) => textOrNull(text) ?? '').join('\n'),
    language: textOrNull(channels[0]?.detected_language),
    duration,
    words: transcripts.flatMap(({ words }) => list(words).filter(isObject).map(wordOf)),
    usage: typeof duration === 'number' ? { type: 'duration', seconds: duration } : null,
  });
}

const wordOf = ({ punctuated_word: written, word, start, end }: Json): Json => ({
  word: written ?? word,
  start,
  end,
});

export const deepgramTranscriptions: Translator = { request, answer: transcript, error: deepgramError };
