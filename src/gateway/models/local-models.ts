import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import {
  isEverything,
  modelList,
  modelNamed,
  modelListQuery,
  type ModelQuery,
} from '../../providers/models/model-list.js';
import { addAnswerHeaders } from '../delivery/answer-headers.js';
import { NO_ANSWER } from '../recording/record-of.js';
import type { RequestPath } from '../types/request-path.js';
import type { Exchange } from '../recording/exchange.js';
import { type UsableModels, UsableModelsFinder } from './usable-models.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Responds to requests for models. */
@Injectable()
export class LocalModels {
  constructor(private readonly usable: UsableModelsFinder) {}

  /** Rejects with `not_found`, `provider_unknown`, `invalid_request`, `auth_unavailable`. */
  async answer(exchange: Exchange, caller: Principal, { path, query }: RequestPath): Promise<void> {
    const asked = modelListQuery(new URLSearchParams(query));
    const usable = await this.usable.find(caller, asked.isOfAll);
    send(exchange, answerModels(asked, askedModels(path)?.id ?? null, usable));
  }
}

function send(exchange: Exchange, { status, body }: ModelsAnswer): void {
  const { response, facts, bodies, recorder } = exchange;
  bodies.response.add(body);
  recorder.close(
    exchange,
    {
      ...NO_ANSWER,
      ...{ ending: 'completed', status, errorCode: null, errorSource: null, contentType: JSON_TYPE },
      answeredAt: facts.arrivedAt,
    },
    () => {
      const headers = ['content-type', JSON_TYPE, 'content-length', String(body.length)];
      addAnswerHeaders(headers, exchange, null);
      response.writeHead(status, headers);
      response.end(body);
    },
  );
}

/** A response that the gateway generates itself: JSON. */
interface ModelsAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * The response to `GET /v1/models` (`id` null) and `GET /v1/models/{id}` without a provider. `id` is decoded, and may contain slashes.
 * Throws AppError: `not_found`.
 */
export function answerModels(query: ModelQuery, id: string | null, usable: UsableModels): ModelsAnswer {
  if (id !== null) return json(modelNamed(usable.models, id, query));
  return isEverything(query) ? { status: 200, body: usable.listed() } : json(modelList(usable.models, query));
}

const json = (value: unknown): ModelsAnswer => ({ status: 200, body: Buffer.from(JSON.stringify(value)) });

const LIST = '/models';

/**
 * The models that a GET of a path below `/v1` requests: the list (`id` null) or one model; null for another path. Model names have slashes,
 * which clients send plain or encoded.
 */
export function askedModels(path: string): { readonly id: string | null } | null {
  if (path === LIST) return { id: null };
  if (!path.startsWith(`${LIST}/`)) return null;
  try {
    const id = decodeURIComponent(path.slice(LIST.length + 1));
    return id === '' ? null : { id };
  } catch {
    return null;
  }
}
