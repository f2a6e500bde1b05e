import { isEverything, modelList, modelNamed, modelQuery } from '../../providers/models/model-list.js';
import type { ModelCatalog } from './models-port.js';

/** An answer that the gateway gives itself: JSON. */
export interface ModelsAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * Answers `GET /v1/models` (`id` null) and `GET /v1/models/{id}` where no provider is chosen. `id` is decoded, and may
 * contain slashes. Throws AppError: `not_found`, `provider_unknown`, `invalid_request`.
 */
export function answerModels(query: URLSearchParams, id: string | null, catalog: ModelCatalog): ModelsAnswer {
  const asked = modelQuery(query);
  if (id !== null) return json(modelNamed(catalog.all(), id, asked));
  if (isEverything(asked)) return { status: 200, body: catalog.listed() };
  return json(modelList(catalog.all(), asked));
}

const json = (value: unknown): ModelsAnswer => ({ status: 200, body: Buffer.from(JSON.stringify(value)) });

const LIST = '/models';

/**
 * What a GET of a path below `/v1` asks of the models: the list (`id` null), one of them, or, when null, something else.
 * Names of models have slashes, which clients send as they are or encoded.
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
