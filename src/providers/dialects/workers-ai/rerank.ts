import type { Json } from '../../endpoint.js';
import { count, isObject, list, textOf } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { others, withoutNulls } from '../asked-media.js';
import { ownFormat } from '../own-format.js';
import { workersError } from './errors.js';
import { resultOf, runPath } from './run.js';

const READ: ReadonlySet<string> = new Set(['model', 'documents', 'top_n', 'return_documents']);

/** The path names the model. */
const MODEL: ReadonlySet<string> = new Set(['model']);

const textOfDocument = (document: unknown): string =>
  isObject(document) ? textOf(document.text) : textOf(document);

/** Such a request needs only the path of the run, and its response passes as it is. */
const isOwnFormat = ownFormat({ own: ['contexts'], hub: ['documents'] });

/** https://developers.cloudflare.com/workers-ai/models/bge-reranker-base/ */
function request(hub: Json, context: Context): ProviderRequest {
  if (isOwnFormat(hub)) return { path: runPath(context), body: others(hub, MODEL) };
  const contexts = list(hub.documents).map((document) => ({ text: textOfDocument(document) }));
  return {
    path: runPath(context),
    body: { ...others(hub, READ), ...withoutNulls({ top_k: hub.top_n }), contexts },
  };
}

/** A score refers to the index of its document. */
function answer(answer: Json, { model }: Context, hub: Json = {}): Json {
  if (isOwnFormat(hub)) return answer;
  const documents = list(hub.documents);
  const results = list(resultOf(answer).response)
    .filter(isObject)
    .flatMap(({ id, score }) => {
      const index = count(id);
      if (index === null || typeof score !== 'number') return [];
      const shown =
        hub.return_documents === true ? { document: { text: textOfDocument(documents[index]) } } : {};
      return [{ index, relevance_score: score, ...shown }];
    });
  return { model, results };
}

export const rerank: Translator = { isBesideBase: true, request, answer, error: workersError };
