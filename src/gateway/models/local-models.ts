import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { modelQuery } from '../../providers/models/model-list.js';
import { addAnswerHeaders } from '../delivery/answer-headers.js';
import { NO_ANSWER } from '../recording/records.js';
import type { RequestPath } from '../types/request-path.js';
import type { Exchange } from '../recording/exchange.js';
import { answerModels, askedModels, type ModelsAnswer } from './answer-models.js';
import { UsableModelsFinder } from './usable-models.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Whether a request is for the gateway's own model list: `GET /v1/models` and `GET /v1/models/{id}` without a provider. With a provider,
 * they are forwarded to it.
 */
export function asksForModels({ request, entry }: Exchange, { path }: RequestPath): boolean {
  const { provider, virtualKey } = entry.asked;
  return request.method === 'GET' && provider === null && virtualKey === null && askedModels(path) !== null;
}

/** Responds to requests for models. */
@Injectable()
export class LocalModels {
  constructor(private readonly usable: UsableModelsFinder) {}

  /** Rejects with `not_found`, `provider_unknown`, `invalid_request`, `auth_unavailable`. */
  async answer(exchange: Exchange, caller: Principal, { path, query }: RequestPath): Promise<void> {
    const asked = modelQuery(new URLSearchParams(query));
    const found = this.usable.find(caller, asked.isOfAll);
    const usable = found instanceof Promise ? await found : found;
    send(exchange, answerModels(asked, askedModels(path)?.id ?? null, usable));
  }
}

function send({ response, entry }: Exchange, { status, body }: ModelsAnswer): void {
  entry.responseBody.add(body);
  entry.worked(performance.now() - entry.arrivedAt);
  entry.close(
    { ...NO_ANSWER, ending: 'completed', status, errorCode: null, errorSource: null, contentType: JSON_TYPE },
    () => {
      const headers = ['content-type', JSON_TYPE, 'content-length', String(body.length)];
      addAnswerHeaders(headers, entry, null);
      response.writeHead(status, headers);
      response.end(body);
    },
  );
}
