import type { Usage } from '../../common/contracts/usage.js';
import type { Json } from '../endpoint.js';
import { objectOf, textOrNull } from '../endpoints/reading.js';
import { boundOf } from './numbers.js';

/** One row of the charging table for WebSockets: a path whose sessions the gateway can measure. */
export interface SessionRow {
  readonly path: string;
  /** Providers whose sessions report the usage of every response; at others, a session is unmeasured. */
  readonly reportedBy: ReadonlySet<string>;
  readonly charged: string;
  readonly knownFrom: string;
  readonly reserved: string;
}

/** The most output tokens of a response. https://platform.openai.com/docs/models/gpt-realtime */
const OUTPUT_TOKENS_MAX = 4_096;
/** No realtime model reads more: what exceeds its context is left out. */
const INPUT_TOKENS_MAX = 128_000;

/** WebSockets whose use is known. Every other one is unmeasured. */
export const sessionRows: readonly SessionRow[] = [
  {
    path: '/realtime',
    reportedBy: new Set(['openai', 'azure-openai', 'azure-openai-entra', 'x-ai', 'localai']),
    charged: 'tokens of each response; transcriptions of the input',
    knownFrom: 'the events of the session; for a response that reports none or does not end, its reservation',
    reserved:
      'for each response: the context so far and the input since, plus `max_output_tokens` or the output ceiling, ' +
      `at most ${OUTPUT_TOKENS_MAX.toLocaleString('en')}`,
  },
];

/** Whether a WebSocket at this path reports what it uses. */
export const isMeasuredSession = (path: string, providerId: string): boolean =>
  sessionRows.some((row) => row.path === path && row.reportedBy.has(providerId));

/** The least use of an open session, which can produce nothing before its client sends something. */
export const OPENING_USAGES: readonly Usage[] = [
  { input_tokens: 1, output_tokens: 1 },
  { input_tokens: 1, output_tokens: 1, audio_input_tokens: 1, audio_output_tokens: 1 },
];

/** The maximum usage of a response with this input, as text or as audio: the model's price decides which costs more. */
export function responseUsages(inputTokens: number, outputTokens: number): readonly Usage[] {
  const text = { input_tokens: inputTokens, output_tokens: outputTokens };
  return [text, { ...text, audio_input_tokens: inputTokens, audio_output_tokens: outputTokens }];
}

const TOKEN_MS = 100;

/** Audio that was reported by its duration, in tokens. https://developers.openai.com/api/docs/guides/realtime-costs */
export function heardTokens({ audio_input_ms = 0, input_tokens, output_tokens }: Usage): Usage {
  const audioTokens = Math.ceil(audio_input_ms / TOKEN_MS);
  return { input_tokens: input_tokens + audioTokens, output_tokens, audio_input_tokens: audioTokens };
}

/** The maximum output of a response. `stated`: the session's own maximum; null for none. */
export const responseOutput = (stated: number | null, ceiling: number): number =>
  Math.min(stated ?? ceiling, OUTPUT_TOKENS_MAX);

export const responseInput = (tokens: number): number => Math.min(Math.ceil(tokens), INPUT_TOKENS_MAX);

/**
 * Characters of base64 per token of input audio. A token is 100 ms of audio, which are 6,400 characters of PCM at 24 kHz and 1,067 of G.711.
 * Half of that is assumed. https://developers.openai.com/api/docs/guides/realtime-costs
 */
const PCM_CHARACTERS = 3_200;
const OTHER_CHARACTERS = 533;

/** Characters of base64 per token of the input, from an event with the session's settings; null if it does not name a format. */
export function audioCharactersOf(event: Json): number | null {
  const session = objectOf(event.session);
  const { format } = objectOf(objectOf(session.audio).input);
  // The second is the field of the API's beta version.
  const name = textOrNull(objectOf(format).type) ?? textOrNull(session.input_audio_format);
  if (name === null) return null;
  return name === 'audio/pcm' || name === 'pcm16' ? PCM_CHARACTERS : OTHER_CHARACTERS;
}

/** What a message of the client means for the use of its session. */
export interface SessionMessage {
  /** It changes settings only, so that no response can follow from it. */
  readonly isSettings: boolean;
  /** It requests a response of its own. */
  readonly isRequest: boolean;
  /** It is a piece of audio. */
  readonly isAudio: boolean;
  /** Input tokens that it adds at most. */
  readonly tokens: number;
  /** The maximum of output tokens that it states: null for the model's own, undefined for none. */
  readonly outputTokens: number | null | undefined;
}

/** Reads a client's event. Text has at most one token per byte. `event` is null if it could not be read. */
export function sessionMessageOf(event: Json | null, bytes: number, audioCharacters: number): SessionMessage {
  const type = event?.type;
  if (event && type === 'input_audio_buffer.append' && typeof event.audio === 'string')
    return { ...AUDIO, tokens: inputOfAppend(event.audio.length, bytes, audioCharacters) };
  const isSettings = type === 'session.update';
  const isRequest = type === 'response.create';
  const settings = objectOf(isRequest ? event?.response : event?.session);
  return {
    isSettings,
    isRequest,
    isAudio: false,
    tokens: bytes,
    outputTokens: isSettings || isRequest ? statedOutput(settings) : undefined,
  };
}

const AUDIO = { isSettings: false, isRequest: false, isAudio: true, outputTokens: undefined } as const;

/** The audio, and whatever else stands beside it. */
const inputOfAppend = (characters: number, bytes: number, audioCharacters: number): number =>
  characters / audioCharacters + Math.max(0, bytes - characters - ENVELOPE_BYTES);

/** Names, id and punctuation of an event with audio. */
const ENVELOPE_BYTES = 256;

/** The maximum output of a session by its provider's settings; undefined for an event without them. */
export const confirmedOutput = ({ type, session }: Json): number | null | undefined =>
  type === 'session.updated' || type === 'session.created' ? statedOutput(objectOf(session)) : undefined;

/** The field of the API, and that of its beta version. */
function statedOutput(settings: Json): number | null | undefined {
  const stated = settings.max_output_tokens ?? settings.max_response_output_tokens;
  return stated === undefined ? undefined : boundOf(stated);
}
