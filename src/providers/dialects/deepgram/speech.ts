import type { Json } from '../../endpoint.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { NO_EVENTS, numberIn, others, textIn, withQuery } from '../asked-media.js';
import { refuseImpossible, unsupportedParameter } from '../refusing.js';
import { deepgramError } from './errors.js';

const LINEAR = { encoding: 'linear16', sample_rate: 24_000 };

/**
 * The hub's formats. OpenAI's `pcm` is 24 kHz, 16 bits, without a header. https://developers.deepgram.com/docs/tts-media-output-settings
 */
export const FORMATS: ReadonlyMap<unknown, Json> = new Map<unknown, Json>([
  ['mp3', { encoding: 'mp3' }],
  ['opus', { encoding: 'opus', container: 'ogg' }],
  ['aac', { encoding: 'aac' }],
  ['flac', { encoding: 'flac' }],
  ['wav', { ...LINEAR, container: 'wav' }],
  ['pcm', { ...LINEAR, container: 'none' }],
]);

/** The requested audio format. Throws `parameter_unsupported`. */
export function formatOf({ response_format: format }: Json): Json {
  const known = FORMATS.get(format ?? 'mp3');
  if (!known) throw unsupportedParameter('response_format', `known are ${[...FORMATS.keys()].join(', ')}`);
  return known;
}

const READ: ReadonlySet<string> = new Set([
  'model',
  'input',
  'voice',
  'response_format',
  'speed',
  'stream_format',
  'instructions',
]);

/** A model with voice and language, `aura-2-thalia-en`, and a family without, `aura-2`. https://developers.deepgram.com/docs/tts-models */
const WHOLE = /^aura(?:-\d)?-([a-z]+)-[a-z]{2}$/;
const FAMILY = /^aura(?:-\d)?$/;

/**
 * Deepgram's model names contain the voice. A family, `aura-2`, is combined with the requested voice, in English; a full name is used as it
 * is. Fields that the hub lacks are passed on. https://developers.deepgram.com/reference/text-to-speech/speak-request
 */
function request(hub: Json, { model }: Context): ProviderRequest {
  refuseImpossible(hub, new Map(NO_EVENTS));
  const query = { model: voicedModel(model, hub.voice), ...formatOf(hub), speed: numberIn(hub, 'speed') };
  return {
    path: withQuery('/speak', { ...query, ...others(hub, READ) }),
    body: { text: textIn(hub, 'input') },
  };
}

function voicedModel(model: string, voice: unknown): string {
  const name = typeof voice === 'string' ? voice : '';
  if (FAMILY.test(model)) return WHOLE.test(name) ? name : `${model}-${name}-en`;
  const [, own] = WHOLE.exec(model) ?? [];
  if (own === undefined || ['', own, model].includes(name)) return model;
  throw unsupportedParameter(
    'voice',
    `the model is a voice itself: send "${own}", or a model without one, such as aura-2`,
  );
}

export const deepgramSpeech: Translator = {
  request,
  answer: (answer) => answer,
  error: deepgramError,
  media: 'passes',
};
