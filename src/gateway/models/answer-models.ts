import { isEverything, modelList, modelNamed, type ModelQuery } from '../../providers/models/model-list.js';
import type { UsableModels } from './usable-models.js';

/** A response that the gateway generates itself: JSON. */
export interface ModelsAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * The response to `GET /v1/models` (`id` null) and `GET /v1/models/{id}` without a provider. `id` is decoded, and may contain slashes.
 * Throws AppError: `not_found`.
 */
export function answerModels(asked: ModelQuery, id: string | null, usable: UsableModels): ModelsAnswer {
  if (id !== null) return json(modelNamed(usable.models, id, asked));
  return isEverything(asked) ? { status: 200, body: usable.listed() } : json(modelList(usable.models, asked));
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
