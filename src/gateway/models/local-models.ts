import { NO_ANSWER } from '../journal/records.js';
import type { RequestPath } from '../planning/request-path.js';
import type { Exchange } from '../types/exchange.js';
import { addAnswerHeaders } from '../delivery/answer-headers.js';
import { answerModels, askedModels } from './answer-models.js';
import type { ModelCatalog } from './models-port.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Answers `GET /v1/models` and `GET /v1/models/{id}` where no provider is chosen, and says whether it did. With a provider
 * chosen they are the provider's to answer. Throws what `answerModels` throws.
 */
export function answersModels(
  exchange: Exchange,
  { path, query }: RequestPath,
  catalog: ModelCatalog,
): boolean {
  const { request, response, entry } = exchange;
  const { provider, virtualKey } = entry.asked;
  const asked =
    request.method === 'GET' && provider === null && virtualKey === null ? askedModels(path) : null;
  if (!asked) return false;
  const { status, body } = answerModels(new URLSearchParams(query), asked.id, catalog);
  entry.responseBody.add(body);
  entry.overheadMs = performance.now() - entry.arrivedAt;
  entry.close(
    { ...NO_ANSWER, ending: 'completed', status, errorCode: null, errorSource: null, contentType: JSON_TYPE },
    () => {
      const headers = ['content-type', JSON_TYPE, 'content-length', String(body.length)];
      addAnswerHeaders(headers, entry, null);
      response.writeHead(status, headers);
      response.end(body);
    },
  );
  return true;
}
