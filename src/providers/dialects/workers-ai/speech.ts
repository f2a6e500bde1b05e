import type { Json } from '../../endpoint.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { NO_EVENTS, others, textIn } from '../asked-media.js';
import { formatOf } from '../deepgram/speech.js';
import { because, refuseImpossible, unsupportedParameter } from '../refusing.js';
import { workersError } from './errors.js';
import { resultOf, runPath } from './run.js';

const IMPOSSIBLE = new Map([
  ...NO_EVENTS,
  ['speed', because('Workers AI has no such control of speech', '1')] as const,
]);

const READ: ReadonlySet<string> = new Set([
  ...IMPOSSIBLE.keys(),
  'model',
  'input',
  'voice',
  'response_format',
]);

/**
 * Deepgram's voices accept a speaker and a format and send audio; MeloTTS accepts a language and sends MP3 in JSON.
 * https://developers.cloudflare.com/workers-ai/models/aura-1/, https://developers.cloudflare.com/workers-ai/models/melotts/
 */
function request(hub: Json, context: Context): ProviderRequest {
  refuseImpossible(hub, IMPOSSIBLE);
  const { model } = context;
  const text = textIn(hub, 'input');
  const words = model.includes('/deepgram/')
    ? { text, speaker: hub.voice, ...formatOf(hub) }
    : { prompt: text, lang: hub.voice, ...mp3Only(hub) };
  return { path: runPath(context), body: { ...words, ...others(hub, READ) } };
}

function mp3Only({ response_format: format }: Json): Json {
  if ((format ?? 'mp3') !== 'mp3') throw unsupportedParameter('response_format', 'this model sends mp3');
  return {};
}

export const workersSpeech: Translator = {
  isBesideBase: true,
  request,
  answer: (answer) => ({ audio: resultOf(answer).audio, content_type: 'audio/mpeg' }),
  error: workersError,
  media: 'passes',
};
