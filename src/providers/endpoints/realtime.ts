import type { Usage } from '../../common/contracts/usage.js';
import type { Json, UsageReader } from '../endpoint.js';
import { objectOf, textOrNull } from './reading.js';
import { tokenUsageOf } from './openai-usage.js';

const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed';

/**
 * Reads the events that a realtime server sends. Each `response.done` tells the usage of that response, OpenAI's within the
 * response and xAI's beside it; a transcription of the input is charged beside it, at the price of a model of its own.
 * https://github.com/openai/openai-node/blob/master/src/resources/realtime/realtime.ts (ResponseDoneEvent,
 * ConversationItemInputAudioTranscriptionCompletedEvent)
 */
export const realtimeUsage: UsageReader = {
  fromAnswer: (event) => tokenUsageOf(objectOf(event.response).usage) ?? usageBeside(event),
  modelOf: ({ session }) => textOrNull(objectOf(session).model),
  outputText: () => '',
  inputText: () => '',
};

const usageBeside = ({ type, usage }: Json): Usage | null =>
  type === TRANSCRIBED || type === 'response.done' ? tokenUsageOf(usage) : null;

/** Whether an event tells of a transcription of the input. */
export const isTranscription = (event: Json): boolean => event.type === TRANSCRIBED;

/** The model that transcribes the input, as an event with the session's settings names it; null when it names none. */
export function transcriptionModelOf(event: Json): string | null {
  const session = objectOf(event.session);
  const { transcription } = objectOf(objectOf(session.audio).input);
  // The second is how the beta of the interface said it.
  return textOrNull(objectOf(transcription ?? session.input_audio_transcription).model);
}
