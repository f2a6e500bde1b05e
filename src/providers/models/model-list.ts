import { AppError } from '../../common/errors/app-error.js';
import { ENDPOINT_IDS, type EndpointId } from '../endpoint.js';
import { findProvider } from '../catalog/registry.js';
import type { ModelEntry } from './model-entry.js';
import { parameterError } from '../../common/errors/field-errors.js';

/** OpenAI's list of models. https://platform.openai.com/docs/api-reference/models/list */
export interface ModelList {
  readonly object: 'list';
  readonly data: readonly ModelEntry[];
  /** The number of all matches; `data` may be a part of them. */
  readonly total: number;
}

/** The models that a client requests. */
export interface ModelQuery {
  readonly provider: string | null;
  /** Part of the name, lower case. */
  readonly search: string | null;
  readonly endpoint: EndpointId | null;
  /** The whole catalogue, not only the caller's models. */
  readonly isOfAll: boolean;
  readonly offset: number;
  /** Null for all. */
  readonly limit: number | null;
}

/**
 * Reads a query. Parameters other than `provider`, `search`, `endpoint`, `scope`, `limit` and `offset` belong to other services and are
 * ignored. Throws `provider_unknown` or `invalid_request`.
 */
export function modelListQuery(query: URLSearchParams): ModelQuery {
  const provider = parameter(query, 'provider');
  if (provider !== null) findProvider(provider);
  return {
    provider,
    search: parameter(query, 'search')?.toLowerCase() ?? null,
    endpoint: endpointIn(query),
    isOfAll: scopeIn(query) === 'all',
    offset: numberIn(query, 'offset') ?? 0,
    limit: numberIn(query, 'limit'),
  };
}

/** The query for all models. */
export const ALL_MODELS: ModelQuery = {
  provider: null,
  search: null,
  endpoint: null,
  isOfAll: true,
  offset: 0,
  limit: null,
};

/** Whether a query requests everything that may be listed. */
export const isEverything = ({ provider, search, endpoint, offset, limit }: ModelQuery): boolean =>
  provider === null && search === null && endpoint === null && offset === 0 && limit === null;

/** The models that match a query, in their order. */
export function modelList(models: readonly ModelEntry[], query: ModelQuery): ModelList {
  const { provider, search, endpoint, offset, limit } = query;
  const found = models.filter(
    (model) =>
      (provider === null || model.provider === provider) &&
      (search === null || model.id.toLowerCase().includes(search)) &&
      (endpoint === null || model.endpoints.includes(endpoint)),
  );
  const end = limit === null ? undefined : offset + limit;
  return { object: 'list', data: found.slice(offset, end), total: found.length };
}

/** One model by its name: of the query's provider, or of the first that has it. Throws `not_found`. */
export function modelNamed(models: readonly ModelEntry[], id: string, { provider }: ModelQuery): ModelEntry {
  const named = (name: string, { id: known }: ModelEntry): boolean =>
    known === name || bareName(known) === name;
  const found = models.find(
    (model) => named(id, model) && (provider === null || model.provider === provider),
  );
  if (!found) throw new AppError('not_found', { resource: 'model' });
  return found;
}

/** The name without the credential in it: `@slug/model`. */
const bareName = (id: string): string => (/^@(?!cf\/|hf\/)/.test(id) ? id.slice(id.indexOf('/') + 1) : id);

function parameter(query: URLSearchParams, name: string): string | null {
  return query.get(name) || null;
}

function endpointIn(query: URLSearchParams): EndpointId | null {
  const value = parameter(query, 'endpoint');
  if (value === null) return null;
  const known = ENDPOINT_IDS.find((id) => id === value);
  if (!known) throw parameterError('endpoint', `must be one of: ${ENDPOINT_IDS.join(', ')}`);
  return known;
}

function scopeIn(query: URLSearchParams): 'usable' | 'all' {
  const value = parameter(query, 'scope') ?? 'usable';
  if (value === 'usable' || value === 'all') return value;
  throw parameterError('scope', 'must be "usable" or "all"');
}

function numberIn(query: URLSearchParams, name: string): number | null {
  const value = parameter(query, name);
  if (value === null) return null;
  if (!/^\d{1,9}$/.test(value)) throw parameterError(name, 'must be a whole number of zero or more');
  return Number(value);
}
