import type { Json } from '../../endpoint.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { hubAnswer } from './answer.js';
import { hubError } from './errors.js';
import { familyOf, modelPath } from './models.js';
import { conversationOf } from './request/messages.js';
import { parametersOf } from './request/parameters.js';
import { withoutRefusedThinking } from './request/refused-thinking.js';
import { toolsOf } from './request/tools.js';
import { ConverseStream } from './stream.js';

/**
 * Has Claude say which stop sequence it found: Converse itself does not.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html (additionalModelResponseFieldPaths)
 */
function stopSequenceAsked({ stop }: Json, model: string): Json {
  if ((stop ?? null) === null || familyOf(model) !== 'anthropic') return {};
  return { additionalModelResponseFieldPaths: ['/stop_sequence'] };
}

/** A chat of the hub as a request to Converse or ConverseStream. */
function request(hub: Json, { model, isStreamed, isStrict }: Context): ProviderRequest {
  const { system, messages } = conversationOf(hub.messages);
  const body = {
    ...(isStrict ? {} : stopSequenceAsked(hub, model)),
    ...parametersOf(hub, model),
    ...(system.length > 0 ? { system } : {}),
    messages,
    ...toolsOf(hub, messages),
  };
  return {
    path: modelPath(model, isStreamed ? 'converse-stream' : 'converse'),
    body: withoutRefusedThinking(body, hub),
  };
}

/** The hub's chat completions in Bedrock's Converse API. */
export const chatCompletions: Translator = {
  request,
  answer: hubAnswer,
  error: hubError,
  stream: { framing: 'aws-event-stream', open: (context) => new ConverseStream(context) },
};
