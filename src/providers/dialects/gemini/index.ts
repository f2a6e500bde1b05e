import type { Dialect } from '../../dialect.js';
import type { Translator } from '../../translation.js';
import { fromGeminiChat } from './answer.js';
import { aiStudioCount, vertexCount } from './count-tokens.js';
import { aiStudioEmbeddings, vertexEmbeddings } from './embeddings.js';
import { googleError } from './errors.js';
import { aiStudio, type Host, vertexAi } from './host.js';
import { chatRequest } from './request.js';
import { ChatStream } from './stream.js';

const chat = (host: Host): Translator => ({
  request: (hub, context) => chatRequest(hub, context, host),
  answer: fromGeminiChat,
  error: googleError,
  stream: { framing: 'sse', open: (context) => new ChatStream(context) },
});

/** Google AI Studio. https://ai.google.dev/api */
export const gemini: Dialect = {
  id: 'gemini',
  translators: {
    'chat-completions': chat(aiStudio),
    embeddings: aiStudioEmbeddings,
    'count-tokens': aiStudioCount,
  },
};

/**
 * Vertex AI, for Google's own models. A native request may omit the publisher, as on AI Studio: `/models/gemini-2.5-flash:generateContent`.
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
 */
export const vertex: Dialect = {
  id: 'vertex',
  translators: {
    'chat-completions': chat(vertexAi),
    embeddings: vertexEmbeddings,
    'count-tokens': vertexCount,
  },
  pathOf: ({ path }) => (path.startsWith('/models/') ? `/publishers/google${path}` : path),
};
