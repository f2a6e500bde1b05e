import type { Dialect } from '../../dialect.js';
import { fromCohereChat } from './answer.js';
import { cohereEmbeddings } from './embeddings.js';
import { cohereError } from './errors.js';
import { CohereStream } from './stream.js';
import type { Json } from '../../endpoint.js';
import type { Context, ProviderRequest } from '../../translation.js';
import { cohereMessages } from './messages.js';
import { formatParameters, plainParameters, stopParameters, thinkingParameters } from './parameters.js';
import { toolParameters } from './tools.js';

/**
 * Version 2 of Cohere's API. Its paths contain the version, `/v2/chat`, so the base URL is `https://api.cohere.com`.
 * https://docs.cohere.com/reference/chat
 */
export const cohere: Dialect = {
  id: 'cohere',
  translators: {
    'chat-completions': {
      request: chatRequest,
      answer: fromCohereChat,
      error: cohereError,
      stream: { framing: 'sse', open: (context) => new CohereStream(context) },
    },
    embeddings: cohereEmbeddings,
  },
  // The client's own path and format, with `return_documents`: https://docs.cohere.com/v1/reference/rerank
  pathOf: ({ endpoint, path }) => (endpoint === 'rerank' ? '/v1/rerank' : path),
};

/** A chat request in Cohere's format. Throws `parameter_unsupported`. https://docs.cohere.com/reference/chat */
function chatRequest(hub: Json, { model, isStreamed }: Context): ProviderRequest {
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
