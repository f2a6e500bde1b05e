import type { Dialect } from '../../dialect.js';
import { chatAnswer } from './answer.js';
import { cohereEmbeddings } from './embeddings.js';
import { cohereError } from './errors.js';
import { chatRequest } from './request.js';
import { CohereStream } from './stream.js';

/**
 * Version 2 of Cohere's API. Its paths contain the version, `/v2/chat`, so the base URL is `https://api.cohere.com`.
 * https://docs.cohere.com/reference/chat
 */
export const cohere: Dialect = {
  id: 'cohere',
  translators: {
    'chat-completions': {
      request: chatRequest,
      answer: chatAnswer,
      error: cohereError,
      stream: { framing: 'sse', open: (context) => new CohereStream(context) },
    },
    embeddings: cohereEmbeddings,
  },
  // The client's own path and format, with `return_documents`: https://docs.cohere.com/v1/reference/rerank
  pathOf: ({ endpoint, path }) => (endpoint === 'rerank' ? '/v1/rerank' : path),
};
