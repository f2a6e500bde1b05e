import type { Dialect } from '../../dialect.js';
import { ollamaChat } from './chat.js';
import { ollamaEmbeddings } from './embeddings.js';

/**
 * OpenAI's format below `/v1` of a server whose own API begins at its root: the custom host is that root, `http://10.0.0.5:11434`, so that
 * `/api/tags` and the like are reachable as well. https://docs.ollama.com/api/openai-compatibility
 */
export const ollama: Dialect = { id: 'ollama', pathOf: ({ path }) => `/v1${path}` };

/** Ollama's own API, with parameters that its OpenAI format lacks: `options`, `keep_alive`, `think`. https://docs.ollama.com/api */
export const ollamaNative: Dialect = {
  id: 'ollama-native',
  translators: { 'chat-completions': ollamaChat, embeddings: ollamaEmbeddings },
};
