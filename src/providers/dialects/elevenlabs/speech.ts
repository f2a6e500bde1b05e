import { fieldError } from '../../../common/errors/field-errors.js';
import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { NO_EVENTS, numberIn, others, textIn, withQuery } from '../asked-media.js';
import { refuseImpossible, unsupportedParameter } from '../refusing.js';
import { elevenLabsError } from './errors.js';

/** The hub's formats as codec, sample rate and bit rate. OpenAI's `pcm` is 24 kHz, 16 bits. */
const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ['mp3', 'mp3_44100_128'],
  ['opus', 'opus_48000_128'],
  ['pcm', 'pcm_24000'],
]);
const DEFAULT_FORMAT = 'mp3';

/** ElevenLabs' own name of a format, `mp3_22050_32`. */
const OWN_FORMAT = /^[a-z]{3,6}_\d{4,6}(?:_\d{2,3})?$/;

const READ: ReadonlySet<string> = new Set([
  'model',
  'input',
  'voice',
  'response_format',
  'speed',
  'voice_settings',
  'stream_format',
  'instructions',
]);

/**
 * The voice is the id of an ElevenLabs voice. `seed`, `language_code`, `previous_text` and its other parameters are passed on.
 * https://elevenlabs.io/docs/api-reference/text-to-speech/convert
 */
function request(hub: Json, { model }: Context): ProviderRequest {
  refuseImpossible(hub, new Map(NO_EVENTS));
  const settings = settingsOf(hub);
  return {
    path: withQuery(`/text-to-speech/${encodeURIComponent(voiceOf(hub))}`, {
      output_format: formatOf(hub.response_format ?? DEFAULT_FORMAT),
    }),
    body: {
      ...others(hub, READ),
      text: textIn(hub, 'input'),
      model_id: model,
      ...(settings ? { voice_settings: settings } : {}),
    },
  };
}

function voiceOf({ voice }: Json): string {
  const id = isObject(voice) ? voice.id : voice;
  if (typeof id === 'string' && /[A-Za-z0-9]/.test(id)) return id;
  throw fieldError('voice', 'must be the id of a voice');
}

function formatOf(format: unknown): string {
  const known = FORMATS.get(format);
  if (known) return known;
  if (typeof format === 'string' && OWN_FORMAT.test(format)) return format;
  throw unsupportedParameter(
    'response_format',
    `ElevenLabs supports ${[...FORMATS.keys()].join(', ')} and its own formats`,
  );
}

function settingsOf(hub: Json): Json | null {
  const given = isObject(hub.voice_settings) ? hub.voice_settings : {};
  const speed = numberIn(hub, 'speed');
  const settings = { ...(speed === undefined ? {} : { speed }), ...given };
  return Object.keys(settings).length > 0 ? settings : null;
}

export const elevenLabsSpeech: Translator = {
  request,
  answer: (answer) => answer,
  error: elevenLabsError,
  media: 'passes',
};
