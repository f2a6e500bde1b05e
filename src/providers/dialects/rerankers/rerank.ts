import type { Json } from '../../endpoint.js';
import { count, isObject, list, stringify } from '../../endpoints/reading.js';
import type { Context, Translator } from '../../translation.js';
import { ownFormat } from '../own-format.js';
import { inputTokens } from './embeddings.js';
import { detailError } from './errors.js';

/** Accepts only texts, and refuses unknown parameters, including `top_n`. https://docs.voyageai.com/reference/reranker-api */
export const voyageRerank: Translator = {
  isOwnFormat: ownFormat({
    own: ['top_k', 'truncation'],
    hub: ['top_n', 'rank_fields', 'max_tokens_per_doc'],
  }),
  request(hub, { model }) {
    const { top_n, documents, ...others } = hub;
    const body = {
      ...others,
      model,
      documents: list(documents).map(textOfDocument),
      ...(top_n !== undefined && top_n !== null && { top_k: top_n }),
    };
    return { path: '/rerank', body };
  },
  answer: (answer, context) => rerankAnswer(answer, answer.data, context),
  error: detailError,
};

function textOfDocument(document: unknown): unknown {
  if (!isObject(document)) return document;
  const isTextOnly = typeof document.text === 'string' && Object.keys(document).length === 1;
  return isTextOnly ? document.text : stringify(document);
}

function rerankAnswer({ id, model, usage }: Json, results: unknown, context: Context): Json {
  const reported = inputTokens(usage);
  return {
    id: typeof id === 'string' ? id : context.id,
    model: typeof model === 'string' ? model : context.model,
    results: list(results).flatMap(resultOf),
    ...(reported !== null && { usage: { prompt_tokens: reported, total_tokens: reported } }),
  };
}

/** In the hub, a document is an object with its text. */
function resultOf(result: unknown): readonly Json[] {
  if (!isObject(result) || typeof result.relevance_score !== 'number') return [];
  const { relevance_score, document } = result;
  const index = count(result.index);
  if (index === null) return [];
  if (typeof document === 'string') return [{ index, relevance_score, document: { text: document } }];
  return [{ index, relevance_score, ...(isObject(document) && { document }) }];
}
