import type { Json } from '../../endpoint.js';
import type { Context, ProviderRequest } from '../../translation.js';
import { cohereMessages } from './messages.js';
import { formatParameters, plainParameters, stopParameters, thinkingParameters } from './parameters.js';
import { toolParameters } from './tools.js';

/** A chat request in Cohere's format. Throws `parameter_unsupported`. https://docs.cohere.com/reference/chat */
export function chatRequest(hub: Json, { model, isStreamed }: Context): ProviderRequest {
  const body = {
    ...plainParameters(hub),
    model,
    messages: cohereMessages(hub.messages),
    ...stopParameters(hub),
    ...formatParameters(hub),
    ...thinkingParameters(hub, model),
    ...toolParameters(hub),
    stream: isStreamed,
  };
  return { path: '/v2/chat', body };
}
