import type { Json } from '../../endpoint.js';
import { count, isObject, list, stringify } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { cohereError } from './errors.js';
import { unsupported } from '../refusing.js';

/** https://docs.cohere.com/reference/rerank */
export const cohereRerank: Translator = {
  request: rerankRequest,
  answer: rerankAnswer,
  error: cohereError,
};

const READ: ReadonlySet<string> = new Set(['documents', 'return_documents', 'rank_fields']);

/** The second version takes texts only, and gives none back: `rerankAnswer` does. */
function rerankRequest(hub: Json, { model }: Context): ProviderRequest {
  const { documents, rank_fields } = hub;
  if (rank_fields !== undefined && rank_fields !== null)
    throw unsupported('rank_fields', 'Cohere ranks by whole documents');
  const others = Object.fromEntries(Object.entries(hub).filter(([name]) => !READ.has(name)));
  return { path: '/v2/rerank', body: { ...others, model, documents: list(documents).map(textOfDocument) } };
}

/** Cohere recommends YAML for structured documents; JSON is YAML. */
function textOfDocument(document: unknown): unknown {
  if (!isObject(document)) return document;
  const isTextOnly = typeof document.text === 'string' && Object.keys(document).length === 1;
  return isTextOnly ? document.text : stringify(document);
}

function rerankAnswer({ id, results, meta }: Json, context: Context, hub: Json): Json {
  const documents = hub.return_documents === true ? list(hub.documents) : [];
  return {
    id: typeof id === 'string' ? id : context.id,
    model: context.model,
    results: list(results).flatMap((result) => resultOf(result, documents)),
    ...(isObject(meta) && stringify(meta) !== '' && { meta }),
  };
}

function resultOf(result: unknown, documents: readonly unknown[]): readonly Json[] {
  if (!isObject(result) || typeof result.relevance_score !== 'number') return [];
  const index = count(result.index);
  if (index === null) return [];
  const given = documents[index];
  const document = typeof given === 'string' ? { text: given } : given;
  return [{ index, relevance_score: result.relevance_score, ...(isObject(document) && { document }) }];
}
