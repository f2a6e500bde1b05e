import type { Json } from '../../endpoint.js';
import { count, list } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { others } from '../asked-media.js';
import { unsupportedParameter } from '../refusing.js';
import { embeddingsOf } from '../vectors.js';
import { ollamaError } from './errors.js';

const READ: ReadonlySet<string> = new Set(['encoding_format', 'user']);

/** `dimensions`, `truncate`, `options` and `keep_alive` are passed on. https://docs.ollama.com/api/embed */
function request(hub: Json, { model }: Context): ProviderRequest {
  if (list(hub.input).some((item) => typeof item !== 'string'))
    throw unsupportedParameter('input', 'Ollama embeds text, not tokens');
  return { path: '/api/embed', body: { ...others(hub, READ), model } };
}

function answer(
  { embeddings: ollamaEmbeddings, prompt_eval_count: read }: Json,
  { model }: Context,
  hub: Json = {},
): Json {
  const tokens = count(read);
  return {
    object: 'list',
    data: embeddingsOf(list(ollamaEmbeddings), hub),
    model,
    ...(tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}

export const ollamaEmbeddings: Translator = { request, answer, error: ollamaError };
