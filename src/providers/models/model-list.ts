import { AppError } from '../../common/errors/app-error.js';
import { ENDPOINT_IDS, type EndpointId } from '../endpoint.js';
import { findProvider } from '../registry.js';
import type { ModelEntry } from './model-entry.js';

/** OpenAI's list of models. https://platform.openai.com/docs/api-reference/models/list */
export interface ModelList {
  readonly object: 'list';
  readonly data: readonly ModelEntry[];
  /** How many there are, of which `data` may be a part. */
  readonly total: number;
}

/** Which models a client wants to see. */
export interface ModelQuery {
  readonly provider: string | null;
  /** Part of the name, lower case. */
  readonly search: string | null;
  readonly endpoint: EndpointId | null;
  readonly offset: number;
  /** Null for all. */
  readonly limit: number | null;
}

/**
 * What a query asks for; parameters that are not among `provider`, `search`, `endpoint`, `limit` and `offset` are
 * those of other services and mean nothing here. Refuses with `provider_unknown` or `invalid_request`.
 */
export function modelQuery(query: URLSearchParams): ModelQuery {
  const provider = said(query, 'provider');
  if (provider !== null) findProvider(provider);
  return {
    provider,
    search: said(query, 'search')?.toLowerCase() ?? null,
    endpoint: endpointIn(query),
    offset: numberIn(query, 'offset') ?? 0,
    limit: numberIn(query, 'limit'),
  };
}

/** The query of a client that wants to see all. */
export const EVERYTHING: ModelQuery = {
  provider: null,
  search: null,
  endpoint: null,
  offset: 0,
  limit: null,
};

export const isEverything = ({ provider, search, endpoint, offset, limit }: ModelQuery): boolean =>
  provider === null && search === null && endpoint === null && offset === 0 && limit === null;

/** The models that a query asks for, in their order. */
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

/** One model by its name: of the provider that the query names, or of the first that has it. Refuses with `not_found`. */
export function modelNamed(models: readonly ModelEntry[], id: string, { provider }: ModelQuery): ModelEntry {
  const found = models.find((model) => model.id === id && (provider === null || model.provider === provider));
  if (!found) throw new AppError('not_found', { resource: 'model' });
  return found;
}

function said(query: URLSearchParams, name: string): string | null {
  return query.get(name) || null;
}

function endpointIn(query: URLSearchParams): EndpointId | null {
  const asked = said(query, 'endpoint');
  if (asked === null) return null;
  const known = ENDPOINT_IDS.find((id) => id === asked);
  if (!known) refuse(`The query parameter "endpoint" must be one of: ${ENDPOINT_IDS.join(', ')}.`);
  return known;
}

function numberIn(query: URLSearchParams, name: string): number | null {
  const asked = said(query, name);
  if (asked === null) return null;
  if (!/^\d{1,9}$/.test(asked))
    refuse(`The query parameter "${name}" must be a whole number of zero or more.`);
  return Number(asked);
}

function refuse(detail: string): never {
  throw new AppError('invalid_request', { detail });
}
