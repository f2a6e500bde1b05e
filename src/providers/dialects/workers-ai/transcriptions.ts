import type { Json } from '../../endpoint.js';
import { isObject, list, objectOf, textOrNull } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { fileIn, NO_STREAMS, others, withoutNulls } from '../asked-media.js';
import { transcript } from '../deepgram/transcriptions.js';
import { because, type Impossible, refuseImpossible, unsupportedParameter } from '../refusing.js';
import { workersError } from './errors.js';
import { resultOf, runPath } from './run.js';

const COMMON: readonly (readonly [string, Impossible])[] = [
  ...NO_STREAMS,
  ['temperature', because('Workers AI has no such parameter', '0', '"0"')],
];

/** Models that accept only the bare audio have no further parameters. */
const BARE = new Map([
  ...COMMON,
  ['prompt', because('this model takes none', '""')] as const,
  ['language', because('this model takes none', '""')] as const,
]);

const READ: ReadonlySet<string> = new Set([
  ...BARE.keys(),
  'model',
  'file',
  'response_format',
  'timestamp_granularities',
]);

/** The model with further parameters: https://developers.cloudflare.com/workers-ai/models/whisper-large-v3-turbo/ */
const TURBO = /whisper-large-v3-turbo$/;

/** https://developers.cloudflare.com/workers-ai/models/whisper/, https://developers.cloudflare.com/workers-ai/models/nova-3/ */
function request(hub: Json, context: Context): ProviderRequest {
  const path = runPath(context);
  const file = fileIn(hub, 'file');
  if (!TURBO.test(context.model)) {
    refuseImpossible(hub, BARE);
    return { path, body: file };
  }
  refuseImpossible(hub, new Map(COMMON));
  const audio = Buffer.from(file.bytes).toString('base64');
  const options = { language: textOrNull(hub.language), initial_prompt: textOrNull(hub.prompt) };
  return { path, body: { ...withoutNulls(options), ...others(hub, READ), audio } };
}

const WORDS: ReadonlySet<string> = new Set(['words']);

/** Whisper's format, or that of Deepgram's models. */
function answer(answer: Json): Json {
  const result = resultOf(answer);
  if (isObject(result.results)) return transcript(result);
  const { language, duration } = objectOf(result.transcription_info);
  const segments = list(result.segments).filter(isObject);
  const words = [...list(result.words), ...segments.flatMap((segment) => list(segment.words))].filter(
    isObject,
  );
  return withoutNulls({
    text: textOrNull(result.text) ?? '',
    language: textOrNull(language),
    duration,
    words: words.map(({ word, start, end }) => ({ word, start, end })),
    segments:
      segments.length === 0 ? null : segments.map((segment, id) => ({ id, ...others(segment, WORDS) })),
    usage: typeof duration === 'number' ? { type: 'duration', seconds: duration } : null,
  });
}

export const workersTranscriptions: Translator = { isBesideBase: true, request, answer, error: workersError };

/** Only Whisper translates, into English. */
export const translations: Translator = {
  ...workersTranscriptions,
  request(hub, context) {
    if (!TURBO.test(context.model))
      throw unsupportedParameter('model', 'only whisper-large-v3-turbo translates');
    return request({ ...hub, task: 'translate' }, context);
  },
};
