import type { Usage } from '../../common/contracts/usage.js';
import type { Json, UsageReader } from '../endpoint.js';
import { objectOf, textOrNull } from './reading.js';
import { tokenUsageOf } from './openai-usage.js';

const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed';

/**
 * Reads the events of a realtime server. Each `response.done` reports the usage of that response, OpenAI's inside the response and xAI's
 * beside it; a transcription of the input is charged separately, at the price of its own model.
 * https://github.com/openai/openai-node/blob/master/src/resources/realtime/realtime.ts (ResponseDoneEvent,
 * ConversationItemInputAudioTranscriptionCompletedEvent)
 */
export const realtimeUsage: UsageReader = {
  fromAnswer: (event) => tokenUsageOf(objectOf(event.response).usage) ?? usageBeside(event),
  // A session of responses has no settings: each response names its model.
  modelOf: ({ session, response }) =>
    textOrNull(objectOf(session).model) ?? textOrNull(objectOf(response).model),
  outputText: () => '',
  inputText: () => '',
};

const usageBeside = ({ type, usage }: Json): Usage | null =>
  type === TRANSCRIBED || type === 'response.done' ? tokenUsageOf(usage) : null;

/** Whether an event reports a transcription of the input. */
export const isTranscription = (event: Json): boolean => event.type === TRANSCRIBED;

/** The model that transcribes the input, from an event with the session's settings; null when there is none. */
export function transcriptionModelOf(event: Json): string | null {
  const session = objectOf(event.session);
  const { transcription } = objectOf(objectOf(session.audio).input);
  // The second is the field of the API's beta version.
  return textOrNull(objectOf(transcription ?? session.input_audio_transcription).model);
}

/** What an event says about responses: one began, ended, failed without being billed, or a request for one was refused. */
export type ResponseEvent = 'began' | 'ended' | 'failed' | 'refused';

/** Events of realtime sessions, and of responses over a WebSocket. https://developers.openai.com/api/reference/resources/responses/websocket-events */
const RESPONSE_EVENTS: ReadonlyMap<unknown, ResponseEvent> = new Map<unknown, ResponseEvent>([
  ['response.created', 'began'],
  ['response.done', 'ended'],
  ['response.completed', 'ended'],
  ['response.incomplete', 'ended'],
  ['response.failed', 'failed'],
  ['error', 'refused'],
]);

export function responseEventOf({ type, response }: Json): ResponseEvent | null {
  const event = RESPONSE_EVENTS.get(type) ?? null;
  return event === 'ended' && objectOf(response).status === 'failed' ? 'failed' : event;
}

/** Whether the end of a response lists output. */
export function hasItems({ response }: Json): boolean {
  const { output } = objectOf(response);
  return Array.isArray(output) && output.length > 0;
}

/** Events after which earlier audio is no longer part of the input: silence before speech, or a cleared buffer. */
const DROPS_AUDIO: ReadonlySet<unknown> = new Set([
  'input_audio_buffer.speech_started',
  'input_audio_buffer.cleared',
]);

export const dropsAudio = ({ type }: Json): boolean => DROPS_AUDIO.has(type);
