import type { Dialect } from '../../dialect.js';
import { chat } from './chat.js';
import { embeddings } from './embeddings.js';

export { ollama } from './compatible.js';

/** Ollama's own API, with parameters that its OpenAI format lacks: `options`, `keep_alive`, `think`. https://docs.ollama.com/api */
export const ollamaNative: Dialect = {
  id: 'ollama-native',
  translators: { 'chat-completions': chat, embeddings },
};
